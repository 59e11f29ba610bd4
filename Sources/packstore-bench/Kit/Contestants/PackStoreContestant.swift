import CPackStore
import Foundation
import PackStore

/// PackStore as a contestant.
struct PackStoreContestant: Contestant {
  /// The interface used for reading.
  enum Interface: Sendable { case swift, c }

  /// The API for Swift programs.
  static let swift = Self(name: "PackStore", interface: .swift, layout: .random)
  /// Only the C core.
  static let c = Self(name: "PackStore, C", interface: .c, layout: .random)
  /// A compression level below 0: larger, but faster to read.
  static let fast = Self(name: "PackStore, level -1", interface: .swift, layout: .random, level: -1)
  /// Small assets share frames. By default, each has its own frame, with or without a dictionary.
  static let shared = Self(
    name: "PackStore, shared frames", interface: .swift, layout: .random, sharedFrameByteCount: 32 * 1024)
  /// Larger frames, for assets that are read sequentially.
  static let sequential = Self(name: "PackStore, sequential", interface: .swift, layout: .sequential)

  let name: String
  let interface: Interface
  let layout: Store.InstallOptions.Layout
  /// `nil` for the layout's default.
  var level: Int32?
  /// `nil` for the layout's default.
  var sharedFrameByteCount: Int?

  private var levelInUse: Int32 { level ?? (layout == .random ? 3 : 4) }

  private var frames: String { sharedFrameByteCount.map { ", small assets share frames of \($0 / 1024) KiB" } ?? "" }

  var form: String? { "PackStore, \(layout) layout, level \(levelInUse)\(frames)" }

  var note: String {
    let access = interface == .swift ? "Swift" : "C"
    return
      "\(layout) layout, zstd level \(levelInUse)\(frames), checksums verified when reading, chunks named by SHA-256, "
      + "durable commit; through \(access)"
  }

  var abilities: Abilities {
    if layout == .sequential { return [.ingest, .scan, .extract] }
    if level != nil { return .read }
    if sharedFrameByteCount != nil { return .readSmall }
    return interface == .swift ? .all : [.read, .readRange, .borrow, .lookUp, .list, .scan, .open]
  }

  func prepare(_ dataSet: DataSet, in workspace: String, threadCount: Int) throws {
    var storeOptions = Store.Options.createIfMissing
    storeOptions.threadCount = threadCount
    let options = Store.InstallOptions(level: level, layout: layout, sharedFrameByteCount: sharedFrameByteCount)
    let store = try Store(at: FilePath(Self.store(in: workspace)), options: storeOptions)
    try store.write { [options] in
      _ = try $0.install(folder: FilePath(dataSet.folder), as: "Benchmark", options: options)
    }
  }

  func open(_ dataSet: DataSet, in workspace: String, threadCount: Int) throws -> any AssetReader {
    switch interface {
    case .swift: try PackStoreReader(Self.store(in: workspace), threadCount: threadCount)
    case .c: try CoreReader(Self.store(in: workspace), threadCount: threadCount)
    }
  }

  /// The store's directory.
  static func store(in workspace: String) -> String { workspace + "/store" }
}

/// Options for opening a store to read, with cache space for all its assets.
extension Store.Options {
  fileprivate static func forReading(_ store: String, threadCount: Int) -> Self {
    var options = Self.readOnly
    options.threadCount = threadCount
    options.cache = .init(folder: FilePath(store + ".cache"), byteBudget: 1 << 40)
    return options
  }
}

/// PackStore through Swift.
private final class PackStoreReader: AssetReader {
  private let snapshot: Snapshot

  init(_ path: String, threadCount: Int) throws {
    snapshot = try Store(at: FilePath(path), options: .forReading(path, threadCount: threadCount)).makeSnapshot()
  }

  /// Passes the snapshot as a parameter, because assets cannot be borrowed from an object's stored property.
  @inline(__always)
  private func reading<Result>(_ body: (Snapshot) throws -> Result) rethrows -> Result { try body(snapshot) }

  func read(_ path: AssetPath, into memory: UnsafeMutableRawBufferPointer) throws -> Int {
    try reading { try $0.asset(path.string).read(into: memory) }
  }

  func read(_ path: AssetPath, at offset: Int, into memory: UnsafeMutableRawBufferPointer) throws {
    _ = try reading { try $0.asset(path.string).read(into: memory, range: offset..<(offset + memory.count)) }
  }

  func borrow(_ path: AssetPath, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    try reading { try $0.asset(path.string).bytes().withUnsafeBytes(body) }
  }

  func withContents(_ path: AssetPath, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    try reading { try $0.asset(path.string).contents().withUnsafeBytes(body) }
  }

  func lookUp(_ paths: AssetPaths) throws -> Int {
    try reading { snapshot in
      var sum = 0
      for path in paths { sum += try snapshot.asset(path.string).byteCount }
      return sum
    }
  }

  func list(_ folder: AssetPath) throws -> Int {
    try reading { snapshot in
      var cursor = try snapshot.cursor(in: folder.string)
      var count = 0
      while let _ = try cursor.next() { count += 1 }
      return count
    }
  }

  func scan(into memory: UnsafeMutableRawBufferPointer) throws -> Int {
    try reading { snapshot in
      var cursor = try snapshot.cursor(depth: .descendants)
      var sum = 0
      while let asset = try cursor.next() { if asset.kind == .file { sum += try asset.read(into: memory) } }
      return sum
    }
  }

  func extract(to target: String) throws { try snapshot.extract(to: FilePath(target)) }

  func close() {}
}

/// PackStore through C.
private final class CoreReader: AssetReader {
  private let store: OpaquePointer
  private let snapshot: OpaquePointer

  init(_ path: String, threadCount: Int) throws {
    var options = pks_options()
    options.thread_count = UInt32(threadCount)
    let store = try opened { pks_store_open($0, path, &options, nil) }
    self.store = store
    do {
      snapshot = try opened { pks_snapshot_open($0, store, nil) }
    } catch {
      pks_store_close(store)
      throw error
    }
  }

  func read(_ path: AssetPath, into memory: UnsafeMutableRawBufferPointer) throws -> Int {
    var asset = try find(path)
    guard Int(asset.size) <= memory.count else { throw Unavailable("'\(path.string)': longer than before") }
    try check { pks_asset_read(&asset, 0, memory.baseAddress, Int(asset.size), $0) }
    return Int(asset.size)
  }

  func read(_ path: AssetPath, at offset: Int, into memory: UnsafeMutableRawBufferPointer) throws {
    var asset = try find(path)
    try check { pks_asset_read(&asset, UInt64(offset), memory.baseAddress, memory.count, $0) }
  }

  func borrow(_ path: AssetPath, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    var asset = try find(path)
    var loan = pks_bytes()
    try check { pks_asset_borrow(&loan, &asset, $0) }
    try body(UnsafeRawBufferPointer(start: loan.bytes, count: loan.count))
  }

  func lookUp(_ paths: AssetPaths) throws -> Int {
    var sum = 0
    for path in paths { sum += Int(try find(path).size) }
    return sum
  }

  func list(_ folder: AssetPath) throws -> Int {
    var count = 0
    try walk(folder.utf8, folder.utf8Count, PKS_CHILDREN) { _ in count += 1 }
    return count
  }

  func scan(into memory: UnsafeMutableRawBufferPointer) throws -> Int {
    var sum = 0
    try walk("", 0, PKS_DESCENDANTS) { entry in
      guard entry.asset.kind == PKS_FILE else { return }
      try check { pks_asset_read(&entry.asset, 0, memory.baseAddress, Int(entry.asset.size), $0) }
      sum += Int(entry.asset.size)
    }
    return sum
  }

  func close() {
    pks_snapshot_close(snapshot)
    pks_store_close(store)
  }

  @inline(__always)
  private func find(_ path: AssetPath) throws -> pks_asset {
    var asset = pks_asset()
    try check { pks_snapshot_find(&asset, snapshot, path.utf8, path.utf8Count, .max, $0) }
    return asset
  }

  private func walk(
    _ folder: UnsafePointer<CChar>, _ length: Int, _ walk: pks_walk, _ body: (inout pks_entry) throws -> Void
  ) throws {
    let cursor = try opened { pks_cursor_open($0, snapshot, folder, length, .max, walk, nil) }
    defer { pks_cursor_close(cursor) }
    var entry = pks_entry()
    var more = false
    while true {
      try check { pks_cursor_next(&entry, &more, cursor, $0) }
      guard more else { return }
      try body(&entry)
    }
  }
}

/// Returns an object that `call` opens in the core.
@inline(__always)
private func opened(_ call: (UnsafeMutablePointer<OpaquePointer?>) -> pks_status) throws -> OpaquePointer {
  var pointer: OpaquePointer?
  try check { _ in call(&pointer) }
  guard let pointer else { throw Unavailable("the core returned no object") }
  return pointer
}

/// Throws an error with the name of the core's status. The call gets no `pks_error`: clearing its kilobyte would take time that a C
/// program need not spend either.
@inline(__always)
private func check(_ call: (UnsafeMutablePointer<pks_error>?) -> pks_status) throws {
  let status = call(nil)
  guard status == PKS_OK else { throw Unavailable("error in the core: \(String(cString: pks_status_name(status)))") }
}
