/// A connection to a database of SQLite's, closed when it goes.
final class SQLiteConnection {
  let library: SQLiteLibrary
  let handle: OpaquePointer?

  init(_ file: String, flags: CInt) throws {
    library = try SQLiteLibrary.shared.get()
    var handle: OpaquePointer?
    let status = library.open(file, &handle, flags | SQLiteLibrary.Constant.noMutex, nil)
    self.handle = handle
    try check(status)
  }

  deinit { _ = library.close(handle) }

  func execute(_ statement: String) throws { try check(library.execute(handle, statement, nil, nil, nil)) }

  @inline(__always)
  func check(_ status: CInt) throws {
    guard status == 0 else { throw failure() }
  }

  func failure() -> Unavailable { Unavailable("SQLite: \(String(cString: library.errorText(handle)))") }
}

/// A prepared statement, finalized when it goes.
final class SQLiteStatement {
  private let connection: SQLiteConnection
  private let library: SQLiteLibrary
  private var handle: OpaquePointer?

  init(_ connection: SQLiteConnection, _ text: String) throws {
    self.connection = connection
    library = connection.library
    try connection.check(library.prepare(connection.handle, text, -1, &handle, nil))
  }

  deinit { _ = library.finalize(handle) }

  /// The path and the bytes stay where they are until the statement is reset.
  @inline(__always)
  func bind(_ parameter: CInt, _ path: AssetPath) throws {
    try connection.check(library.bindText(handle, parameter, path.utf8, CInt(path.utf8Count), nil))
  }

  func bind(_ parameter: CInt, _ bytes: UnsafeRawBufferPointer) throws {
    try connection.check(library.bindBytes(handle, parameter, bytes.baseAddress, UInt64(bytes.count), nil))
  }

  /// - Returns: whether there is a row.
  @inline(__always)
  func step() throws -> Bool {
    switch library.step(handle) {
    case SQLiteLibrary.Constant.row: return true
    case SQLiteLibrary.Constant.done: return false
    default: throw connection.failure()
    }
  }

  @inline(__always)
  func reset() { _ = library.reset(handle) }

  @inline(__always)
  func integer(_ column: CInt) -> Int64 { library.columnInteger(handle, column) }

  /// Until the next step.
  func bytes(_ column: CInt) -> UnsafeRawBufferPointer {
    let bytes = library.columnBytes(handle, column)
    return UnsafeRawBufferPointer(start: bytes, count: Int(library.columnByteCount(handle, column)))
  }
}
