import CPackHash
import CPackStore
import CPackStoreTesting
import Foundation
import Testing

/// SHA-256 in the form that the core expects.
let sha256: @convention(c) (UnsafeRawPointer, Int, UnsafeMutablePointer<UInt8>) -> Void = { bytes, count, digest in
  pkh_sha256(bytes, count, digest)
}

/// SHA-256 of many messages in the form that the core expects.
let sha256Many: @convention(c) (UnsafePointer<pks_message>, Int) -> Void = { messages, count in
  messages.withMemoryRebound(to: pkh_message.self, capacity: count) { pkh_sha256_many($0, count) }
}

/// The functions for SHA-256 that a store receives.
struct Hashing: Sendable, CustomTestStringConvertible {
  typealias One = @convention(c) (UnsafeRawPointer, Int, UnsafeMutablePointer<UInt8>) -> Void
  typealias Many = @convention(c) (UnsafePointer<pks_message>, Int) -> Void

  var testDescription: String
  var one: One?
  var many: Many?

  /// As `PackStore` opens stores.
  static let batches = Hashing(testDescription: "pkh_sha256_many", one: sha256, many: sha256Many)
  /// Without a batch function.
  static let single = Hashing(testDescription: "no batch function", one: sha256, many: nil)
  /// With a batch function that hashes one message after another.
  static let loop = Hashing(testDescription: "loop over sha256", one: sha256) { messages, count in
    for message in UnsafeBufferPointer(start: messages, count: count) {
      pkh_sha256(message.bytes, message.byte_count, message.digest)
    }
  }
}

/// An open store, closed with the last reference; what is taken from it holds it. Used by any number of threads, as the core
/// promises.
final class Store: @unchecked Sendable {
  let raw: OpaquePointer
  private let home: AnyObject?  // the disk or seam below, which outlives the store
  private let owner: RoomOwner?

  init(
    _ path: String, vfs: UnsafePointer<pks_vfs>? = nil, create: Bool = false, average: UInt32 = 1024,
    threads: UInt32 = 1,
    readOnly: Bool = false, cache: CacheOption? = nil, base: String? = nil, home: AnyObject? = nil,
    waiting: (context: UnsafeMutableRawPointer, goesOn: @convention(c) (UnsafeMutableRawPointer?) -> Bool)? = nil,
    owner: RoomOwner? = nil, mappedMode: Bool = false, hashing: Hashing = .batches
  ) throws {
    self.owner = owner
    precondition(threads == 1 || !(home is Disk), "a simulated disk belongs to one thread at a time")
    self.home = home
    var options = pks_options()
    options.sha256 = readOnly ? nil : hashing.one
    options.sha256_many = readOnly ? nil : hashing.many
    options.create = create
    options.chunk_average = create ? average : 0
    options.thread_count = threads
    options.vfs = vfs
    options.cache_bytes = cache?.budget ?? 0
    options.mapped_mode = mappedMode
    options.wait_context = waiting?.context
    options.keep_waiting = waiting?.goesOn
    if let owner {
      options.low_space_context = Unmanaged.passUnretained(owner).toOpaque()
      options.low_space = { Unmanaged<RoomOwner>.fromOpaque($0!).takeUnretainedValue().ask(Int($1)) }
    }
    raw = try (cache?.folder ?? "").withCString { folder in
      try (base ?? "").withCString { beneath in
        options.cache = cache == nil ? nil : folder
        options.base = base == nil ? nil : beneath
        return try opened { pks_store_open($0, path, &options, $1) }
      }
    }
  }

  /// Who is asked when the disk is full.
  final class RoomOwner {
    let agrees: Bool
    private(set) var asked: [Int] = []

    init(agrees: Bool) { self.agrees = agrees }

    fileprivate func ask(_ byteCount: Int) -> Bool {
      asked.append(byteCount)
      return agrees
    }
  }

  /// Where a store keeps its cache, and how much of it.
  struct CacheOption: Sendable {
    var folder: String
    var budget: UInt64
  }

  convenience init(
    _ disk: Disk, process: UnsafePointer<pks_vfs>? = nil, create: Bool = false, cache: CacheOption? = nil,
    base: String? = nil, owner: RoomOwner? = nil, hashing: Hashing = .batches
  ) throws {
    try self.init(
      "/store", vfs: process ?? disk.vfs, create: create, cache: cache, base: base ?? disk.base, home: disk,
      owner: owner, hashing: hashing)
  }

  /// A store behind a seam.
  convenience init(_ path: String, seam: Seam, threads: UInt32 = 1, cache: CacheOption? = nil) throws {
    try self.init(path, vfs: seam.vfs, threads: threads, cache: cache, home: seam)
  }

  deinit { pks_store_close(raw) }

  func snapshot() throws -> Snapshot { try Snapshot(self) }

  /// Whether damage of the control file may hide a commit.
  var mayHideCommit: Bool {
    get throws { try status { try attempt { pks_store_check_control(raw, $0) } } == PKS_CORRUPT }
  }

  func begin(
    _ durability: pks_durability = PKS_DURABLE, noWait: Bool = false, keep: UInt32 = 0, publication: Bool = false,
    keepGeneration: Bool = false, gcPercent: UInt32? = nil, date: Int64? = nil
  ) throws -> Transaction {
    var options = pks_txn_options()
    options.durability = durability
    options.no_wait = noWait
    options.keep_versions = keep
    options.publication = publication
    options.keep_generation = keepGeneration
    options.gc_percent = gcPercent ?? 0
    options.no_gc = gcPercent == 0
    options.set_date = date != nil
    options.date_ns = date ?? 0
    return try Transaction(self, options)
  }

  /// Frees what no version needs.
  @discardableResult
  func collect(copying limit: UInt64 = 0, dryRun: Bool = false) throws -> pks_collect_totals {
    var request = pks_collect_request(), totals = pks_collect_totals()
    request.copy_bytes = limit
    request.dry_run = dryRun
    try attempt { pks_store_collect(raw, &request, &totals, $0) }
    return totals
  }

  /// One transaction: begin, stage, commit.
  @discardableResult
  func commit(
    _ durability: pks_durability = PKS_DURABLE, keep: UInt32 = 0, publication: Bool = false,
    keepGeneration: Bool = false, gcPercent: UInt32? = nil, _ stage: (Transaction) throws -> Void
  ) throws -> UInt64 {
    let transaction = try begin(
      durability, keep: keep, publication: publication, keepGeneration: keepGeneration, gcPercent: gcPercent)
    try stage(transaction)
    return try transaction.commit()
  }
}

final class Transaction {
  let store: Store
  let raw: OpaquePointer
  /// Committed or aborted: `raw` is gone.
  private var isEnded = false

  fileprivate init(_ store: Store, _ options: pks_txn_options) throws {
    self.store = store
    var options = options
    raw = try opened { pks_txn_begin($0, store.raw, &options, $1) }
  }

  deinit { abort() }

  /// Adds what is selected of a folder.
  @discardableResult
  func select(
    _ pack: String, _ folder: String, _ entries: [(path: String, source: String)], map: [String] = [],
    adjust: (inout pks_add_request) -> Void = { _ in }
  ) throws -> pks_add_result {
    let texts = entries.flatMap { [strdup($0.path), strdup($0.source)] }
    defer { for text in texts { free(text) } }
    let core = entries.indices.map { pks_add_entry(path: texts[2 * $0]!, source: texts[2 * $0 + 1]!) }
    return try core.withUnsafeBufferPointer { core in
      try add(pack, folder, map: map) { request in
        request.entries = core.baseAddress
        request.entry_count = UInt32(core.count)
        adjust(&request)
      }
    }
  }

  @discardableResult
  func add(
    _ pack: String, _ folder: String, version: UInt64 = 0, priority: Int32? = nil, map: [String] = [],
    attributes: [UInt8]? = nil, dictionary: SampleDictionary? = nil, adjust: (inout pks_add_request) -> Void = { _ in }
  ) throws -> pks_add_result {
    var request = pks_add_request(), result = pks_add_result()
    if let dictionary {
      request.dictionary = dictionary.bytes.baseAddress
      request.dictionary_byte_count = dictionary.bytes.count
    }
    let globs = map.compactMap { UnsafePointer(strdup($0)) }
    defer { for glob in globs { free(UnsafeMutablePointer(mutating: glob)) } }
    try pack.withCString { pack in
      try folder.withCString { folder in
        request.pack = pack
        request.folder = folder
        request.version = version
        request.set_priority = priority != nil
        request.priority = priority ?? 0
        adjust(&request)
        try globs.withUnsafeBufferPointer { globs in
          request.map_globs = globs.baseAddress
          request.map_glob_count = UInt32(globs.count)
          try (attributes ?? []).withUnsafeBytes { bytes in
            request.set_attributes = attributes != nil
            request.attributes = bytes.baseAddress
            request.attribute_byte_count = bytes.count
            try attempt { pks_txn_add_folder(&result, raw, &request, $0) }
          }
        }
      }
    }
    return result
  }

  @discardableResult
  func setAttributes(
    _ attributes: [UInt8], of pack: String, version: UInt64 = 0, map: [String] = []
  ) throws -> pks_add_result {
    var request = pks_attributes_request(), result = pks_add_result()
    let globs = map.compactMap { UnsafePointer(strdup($0)) }
    defer { for glob in globs { free(UnsafeMutablePointer(mutating: glob)) } }
    request.version = version
    request.attribute_byte_count = attributes.count
    request.map_glob_count = UInt32(globs.count)
    try pack.withCString { pack in
      request.pack = pack
      try attributes.withUnsafeBytes { bytes in
        request.attributes = bytes.baseAddress
        try globs.withUnsafeBufferPointer { globs in
          request.map_globs = globs.baseAddress
          try attempt { pks_txn_set_attributes(&result, raw, &request, $0) }
        }
      }
    }
    return result
  }

  func remove(_ pack: String, keepHistory: Bool = false) throws {
    try attempt { pks_txn_remove(raw, pack, keepHistory, $0) }
  }
  @discardableResult
  func rollBack(_ pack: String, to version: UInt64 = 0, mayLack: Bool = false) throws -> pks_pack_version {
    var now = pks_pack_version()
    try attempt { pks_txn_rollback(raw, pack, version, mayLack, &now, $0) }
    return now
  }
  @discardableResult
  func copy(
    _ pack: String, from source: Snapshot, version: UInt64 = 0, adjust: (inout pks_copy_request) -> Void = { _ in }
  ) throws -> pks_add_result {
    var request = pks_copy_request(), result = pks_add_result()
    try pack.withCString { pack in
      request.source = source.raw
      request.pack = pack
      request.version = version
      adjust(&request)
      try attempt { pks_txn_copy_version(&result, raw, &request, $0) }
    }
    return result
  }
  func trim(_ pack: String, _ count: UInt32) throws { try attempt { pks_txn_trim(raw, pack, count, $0) } }
  func pin(_ pack: String, _ version: UInt64) throws { try attempt { pks_txn_pin(raw, pack, version, $0) } }
  func unpin(_ pack: String) throws { try attempt { pks_txn_unpin(raw, pack, $0) } }
  func prioritise(_ pack: String, _ priority: Int32) throws {
    try attempt { pks_txn_set_priority(raw, pack, priority, $0) }
  }

  /// Keeps a segment, named as its file is.
  func keep(_ segment: String) throws {
    let digits = Array(segment.utf8)
    let id = stride(from: 0, to: digits.count, by: 2).map {
      UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16)!
    }
    try attempt { pks_txn_keep_segment(raw, id, $0) }
  }
  func collect() { pks_txn_collect(raw) }

  var packs: [String: Int32] {
    let packs = (0..<pks_txn_pack_count(raw)).map { pks_txn_pack(raw, $0) }
    return Dictionary(uniqueKeysWithValues: packs.map { (String(cString: $0.name), $0.priority) })
  }

  /// What a pack says as it will be after the commit.
  func attributes(of pack: String) throws -> [UInt8] {
    let index = (0..<pks_txn_pack_count(raw)).first { String(cString: pks_txn_pack(raw, $0).name) == pack }
    guard let index else { return [] }
    var bytes = [UInt8](repeating: 0, count: Int(PKS_ATTRIBUTES_MAX)), length = 0
    try attempt { pks_txn_attributes(&bytes, bytes.count, &length, raw, index, 0, $0) }
    return Array(bytes.prefix(length))
  }

  func commit() throws -> UInt64 {
    var generation: UInt64 = 0
    isEnded = true
    try attempt { pks_txn_commit(raw, &generation, $0) }
    return generation
  }

  func abort() {
    if !isEnded { pks_txn_abort(raw) }
    isEnded = true
  }
}

final class Snapshot: @unchecked Sendable {
  let store: Store
  let raw: OpaquePointer

  fileprivate init(_ store: Store) throws {
    self.store = store
    raw = try opened { pks_snapshot_open($0, store.raw, $1) }
  }

  deinit { pks_snapshot_close(raw) }

  var generation: UInt64 { pks_snapshot_generation(raw) }
  var isSite: Bool { pks_snapshot_is_site(raw) }
  var packs: [pks_pack] { (0..<pks_snapshot_pack_count(raw)).map { pks_snapshot_pack(raw, $0) } }
  var packNames: [String] { packs.map { String(cString: $0.name) } }
  var removedPacks: [pks_pack] {
    let first = pks_snapshot_pack_count(raw)
    return (first..<first + pks_snapshot_removed_count(raw)).map { pks_snapshot_pack(raw, $0) }
  }
  /// Numbers of the kept versions of a pack, removed ones included; the current one first.
  func versions(of pack: String) -> [UInt64] {
    let index = (packs + removedPacks).firstIndex { String(cString: $0.name) == pack }
    guard let index else { return [] }
    let count = pks_snapshot_pack(raw, UInt32(index)).version_count
    return (0..<count).map { pks_snapshot_version(raw, UInt32(index), $0).number }
  }

  /// Attributes of the kept versions of a pack, removed ones included; the current one first.
  func attributes(of pack: String) throws -> [[UInt8]] {
    guard let index = (packs + removedPacks).firstIndex(where: { String(cString: $0.name) == pack }) else { return [] }
    let count = pks_snapshot_pack(raw, UInt32(index)).version_count
    return try (0..<count).map { version in
      var bytes = [UInt8](repeating: 0, count: Int(PKS_ATTRIBUTES_MAX)), length = 0
      try attempt { pks_snapshot_attributes(&bytes, bytes.count, &length, raw, UInt32(index), version, $0) }
      return Array(bytes.prefix(length))
    }
  }

  /// What is found at a path; a folder, implied or not, is `.folder`.
  func find(_ path: String, in pack: UInt32 = UInt32.max) throws -> Found {
    var path = path
    return try path.withUTF8 { text in
      try text.withMemoryRebound(to: CChar.self) { text in
        var asset = pks_asset()
        try attempt { pks_snapshot_find(&asset, raw, text.baseAddress, text.count, pack, $0) }
        return Found(pack: asset.pack, node: try read(&asset))
      }
    }
  }

  struct Found: Equatable {
    var pack: UInt32
    var node: Node
  }

  struct Entry: Equatable {
    var path: String
    var pack: UInt32
    var node: Node
    var mapped = false
  }

  struct Conflict: Equatable {
    var path: String
    var pack: UInt32
    var winner: UInt32
    var winnerPath: String
  }

  func read(_ asset: inout pks_asset) throws -> Node {
    switch asset.kind {
    case PKS_FILE:
      let size = Int(asset.size)
      let bytes = try [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
        try attempt { pks_asset_read(&asset, 0, buffer.baseAddress, size, $0) }
        count = size
      }
      return .file(bytes, executable: asset.executable)
    case PKS_LINK:
      var target = pks_bytes()
      try attempt { pks_asset_link_target(&target, &asset, $0) }
      return .link(String(decoding: UnsafeRawBufferPointer(start: target.bytes, count: target.count), as: UTF8.self))
    default: return .folder
    }
  }

  private func walk(_ folder: String, _ pack: UInt32, _ walk: pks_walk, _ visit: (inout pks_entry) throws -> Void)
    throws
  {
    let cursor = try opened { pks_cursor_open($0, raw, folder, folder.utf8.count, pack, walk, $1) }
    defer { pks_cursor_close(cursor) }
    var entry = pks_entry(), more = true
    while true {
      try attempt { pks_cursor_next(&entry, &more, cursor, $0) }
      guard more else { return }
      try visit(&entry)
    }
  }

  private func entries(_ folder: String, _ pack: UInt32, _ kind: pks_walk) throws -> [Entry] {
    var entries: [Entry] = []
    try walk(folder, pack, kind) { entry in
      let path = text(entry.asset.path, Int(entry.asset.path_length))
      let node = try read(&entry.asset)
      entries.append(Entry(path: path, pack: entry.asset.pack, node: node, mapped: entry.asset.mapped))
    }
    return entries
  }

  func descendants(_ folder: String = "", in pack: UInt32 = UInt32.max) throws -> [Entry] {
    try entries(folder, pack, PKS_DESCENDANTS)
  }

  func children(_ folder: String = "", in pack: UInt32 = UInt32.max) throws -> [Entry] {
    try entries(folder, pack, PKS_CHILDREN)
  }

  func conflicts(_ folder: String = "") throws -> [Conflict] {
    var conflicts: [Conflict] = []
    try walk(folder, UInt32.max, PKS_CONFLICTS) { entry in
      conflicts.append(
        Conflict(
          path: text(entry.asset.path, Int(entry.asset.path_length)), pack: entry.asset.pack, winner: entry.winner_pack,
          winnerPath: text(entry.winner_path, Int(entry.winner_path_length))))
    }
    return conflicts
  }

  private func text(_ bytes: UnsafePointer<CChar>?, _ count: Int) -> String {
    String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
  }
}

/// A pack as a store shows it, read through in full.
struct PackState: Equatable {
  var priority: Int32
  var version: UInt64
  var content: Folder
  /// Paths of map assets.
  var mapped: Set<String> = []
}

/// All packs, read through in full.
typealias StoreState = [String: PackState]

extension Snapshot {
  func state() throws -> StoreState {
    var state: StoreState = [:]
    for (index, pack) in packs.enumerated() {
      let entries = try descendants(in: UInt32(index))
      let content = Folder(uniqueKeysWithValues: entries.map { ($0.path, $0.node) })
      state[String(cString: pack.name)] = PackState(
        priority: pack.priority, version: pack.current.number, content: content,
        mapped: Set(entries.filter(\.mapped).map(\.path)))
    }
    return state
  }
}

extension Store {
  func state() throws -> StoreState { try snapshot().state() }
}
