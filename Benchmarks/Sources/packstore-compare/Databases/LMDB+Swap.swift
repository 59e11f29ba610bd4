import Foundation

extension LMDB: SwappingContestant {
  func openForSwaps(of pack: DataSet, in workspace: String, safety: SwapSafety) throws -> any AssetSwapper {
    try LMDBSwapper(Self.file(in: workspace), pack, safety)
  }
}

/// One value for another, in a write transaction of its own; LMDB's own syncs make it durable.
private final class LMDBSwapper: AssetSwapper {
  private let library: LMDBLibrary
  private let environment: LMDBEnvironment
  private var database: UInt32 = 0

  init(_ file: String, _ pack: DataSet, _ safety: SwapSafety) throws {
    library = try LMDBLibrary.shared.get()
    environment = try LMDBEnvironment(file, flags: safety == .durable ? 0 : LMDBLibrary.Constant.noSync, pack)
    try pack.forEachAsset { path, bytes in try swap(path, bytes) {} }
  }

  func swap(_ path: AssetPath, _ bytes: UnsafeRawBufferPointer, whenStaged: () -> Void) throws {
    var transaction: OpaquePointer?
    defer { if transaction != nil { library.abort(transaction) } }
    try library.check(library.begin(environment.handle, nil, 0, &transaction))
    try library.check(library.openDatabase(transaction, nil, 0, &database))
    var key = path.asKey
    var value = LMDBLibrary.Value(count: bytes.count, bytes: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
    try library.check(library.put(transaction, database, &key, &value, 0))
    whenStaged()
    let ended = transaction
    transaction = nil
    try library.check(library.commit(ended))
  }

  func close() {}
}
