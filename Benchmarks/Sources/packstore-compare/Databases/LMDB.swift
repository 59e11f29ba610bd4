import Foundation

/// LMDB: a B+ tree in one mapped file, path to bytes.
struct LMDB: Contestant {
  let name = "LMDB"
  let abilities: Abilities = [.read, .readRange, .borrow, .contents, .lookUp, .scan, .ingest, .open, .swap]

  var unavailability: String? { unavailableReason { _ = try LMDBLibrary.shared.get() } }

  var note: String {
    let version = (try? LMDBLibrary.shared.get()).map { String(cString: $0.version(nil, nil, nil)) } ?? ""
    return
      "\(version); neither compressed nor checksummed; stored in order of keys and synced once at the end; mapped, one "
      + "read transaction kept open, without its lock file; `read` is get and copy, look-up and borrowing are get"
  }

  func prepare(_ dataSet: DataSet, in workspace: String, threadCount: Int) throws {
    typealias Constant = LMDBLibrary.Constant
    let library = try LMDBLibrary.shared.get()
    let environment = try LMDBEnvironment(Self.file(in: workspace), flags: Constant.noSync, dataSet)
    var transaction: OpaquePointer?
    defer { if transaction != nil { library.abort(transaction) } }
    try library.check(library.begin(environment.handle, nil, 0, &transaction))
    var database: UInt32 = 0
    try library.check(library.openDatabase(transaction, nil, 0, &database))
    var pending = 0
    try dataSet.forEachAsset { path, bytes in
      var key = path.asKey
      var value = LMDBLibrary.Value(count: bytes.count, bytes: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
      // A data set is in the order of LMDB's keys.
      try library.check(library.put(transaction, database, &key, &value, Constant.append))
      pending += bytes.count + 4096
      guard pending > 64 << 20 else { return }
      // The memory of a transaction grows with the written data.
      pending = 0
      let ended = transaction
      transaction = nil
      try library.check(library.commit(ended))
      try library.check(library.begin(environment.handle, nil, 0, &transaction))
    }
    let ended = transaction
    transaction = nil
    try library.check(library.commit(ended))
    try library.check(library.sync(environment.handle, 1))
  }

  func open(_ dataSet: DataSet, in workspace: String, threadCount: Int) throws -> any AssetReader {
    try LMDBReader(Self.file(in: workspace), dataSet)
  }

  static func file(in workspace: String) -> String { workspace + "/data.mdb" }
}

/// An open file of LMDB's, closed when it goes.
final class LMDBEnvironment {
  let handle: OpaquePointer?
  private let library: LMDBLibrary

  init(_ file: String, flags: UInt32, _ dataSet: DataSet) throws {
    library = try LMDBLibrary.shared.get()
    var handle: OpaquePointer?
    try library.check(library.createEnvironment(&handle))
    self.handle = handle
    // Address space, not memory: pages of 4 KiB, half of them full at worst, and a gigabyte to spare.
    let mapSize = (1 << 30) + 2 * (dataSet.byteCount + dataSet.assets.count * 4096)
    try library.check(library.setMapSize(handle, mapSize))
    let flags = flags | LMDBLibrary.Constant.noSubfolder | LMDBLibrary.Constant.noLock
    try library.check(library.openEnvironment(handle, file, flags, 0o644))
  }

  deinit { library.closeEnvironment(handle) }
}

/// One read transaction.
private final class LMDBReader: AssetReader {
  private let library: LMDBLibrary
  private let environment: LMDBEnvironment
  private var transaction: OpaquePointer?
  private var database: UInt32 = 0

  init(_ file: String, _ dataSet: DataSet) throws {
    typealias Constant = LMDBLibrary.Constant
    library = try LMDBLibrary.shared.get()
    environment = try LMDBEnvironment(file, flags: Constant.readOnly | Constant.noThreadLocalStorage, dataSet)
    try library.check(library.begin(environment.handle, nil, Constant.readOnly, &transaction))
    try library.check(library.openDatabase(transaction, nil, 0, &database))
  }

  @inline(__always)
  private func find(_ path: AssetPath) throws -> UnsafeRawBufferPointer {
    var key = path.asKey
    var value = LMDBLibrary.Value()
    try library.check(library.get(transaction, database, &key, &value))
    return UnsafeRawBufferPointer(start: value.bytes, count: value.count)
  }

  func read(_ path: AssetPath, into memory: UnsafeMutableRawBufferPointer) throws -> Int {
    let bytes = try find(path)
    memory.copyMemory(from: bytes)
    return bytes.count
  }

  func read(_ path: AssetPath, at offset: Int, into memory: UnsafeMutableRawBufferPointer) throws {
    memory.copyMemory(from: UnsafeRawBufferPointer(rebasing: try find(path)[offset..<(offset + memory.count)]))
  }

  func borrow(_ path: AssetPath, _ body: (UnsafeRawBufferPointer) throws -> Void) throws { try body(find(path)) }

  func withContents(_ path: AssetPath, _ body: (UnsafeRawBufferPointer) throws -> Void) throws { try body(find(path)) }

  func lookUp(_ paths: AssetPaths) throws -> Int {
    var sum = 0
    for path in paths { sum += try find(path).count }
    return sum
  }

  func scan(into memory: UnsafeMutableRawBufferPointer) throws -> Int {
    var cursor: OpaquePointer?
    try library.check(library.openCursor(transaction, database, &cursor))
    defer { library.closeCursor(cursor) }
    var sum = 0
    while true {
      var key = LMDBLibrary.Value()
      var value = LMDBLibrary.Value()
      let status = library.moveCursor(cursor, &key, &value, LMDBLibrary.Constant.next)
      if status == LMDBLibrary.Constant.notFound { return sum }
      try library.check(status)
      memory.copyMemory(from: UnsafeRawBufferPointer(start: value.bytes, count: value.count))
      sum += value.count
    }
  }

  func close() {
    library.abort(transaction)
    transaction = nil
  }
}

extension AssetPath {
  var asKey: LMDBLibrary.Value {
    LMDBLibrary.Value(count: utf8Count, bytes: UnsafeMutableRawPointer(mutating: utf8))
  }
}
