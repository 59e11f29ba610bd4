/// SQLite: a table of paths and blobs.
struct SQLite: Contestant {
  let name = "SQLite blobs"
  let abilities: Abilities = [.read, .readRange, .lookUp, .scan, .ingest, .open]

  var unavailability: String? { unavailableReason { _ = try SQLiteLibrary.shared.get() } }

  var note: String {
    let version = (try? SQLiteLibrary.shared.get()).map { String(cString: $0.version()) } ?? ""
    return
      "SQLite \(version); neither compressed nor checksummed; pages of 4 KiB, one index of paths, one transaction, synced; "
      + "mapped, one read transaction kept open; a prepared statement finds the row, sqlite3_blob_reopen and sqlite3_blob_read "
      + "read it"
  }

  func prepare(_ dataSet: DataSet, in workspace: String, threadCount: Int) throws {
    let flags = SQLiteLibrary.Constant.readWrite | SQLiteLibrary.Constant.create
    let connection = try SQLiteConnection(Self.file(in: workspace), flags: flags)
    try connection.execute(
      """
      PRAGMA page_size = 4096;
      PRAGMA synchronous = FULL;
      CREATE TABLE asset (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, content BLOB NOT NULL);
      BEGIN
      """)
    let insert = try SQLiteStatement(connection, "INSERT INTO asset (path, content) VALUES (?1, ?2)")
    try dataSet.forEachAsset { path, bytes in
      try insert.bind(1, path)
      try insert.bind(2, bytes)
      _ = try insert.step()
      insert.reset()
    }
    try connection.execute("COMMIT")
  }

  func open(_ dataSet: DataSet, in workspace: String, threadCount: Int) throws -> any AssetReader {
    try SQLiteReader(Self.file(in: workspace))
  }

  private static func file(in workspace: String) -> String { workspace + "/data.sqlite" }
}

/// One read transaction, and a blob handle that moves from row to row.
private final class SQLiteReader: AssetReader {
  private let library: SQLiteLibrary
  private let connection: SQLiteConnection
  private let findRow: SQLiteStatement
  private let findLength: SQLiteStatement
  private var blob: OpaquePointer?

  init(_ file: String) throws {
    connection = try SQLiteConnection(file, flags: SQLiteLibrary.Constant.readOnly)
    library = connection.library
    // As much as SQLite ever maps: 2 GiB by default.
    try connection.execute("PRAGMA mmap_size = 2147418112; BEGIN")
    findRow = try SQLiteStatement(connection, "SELECT id FROM asset WHERE path = ?1")
    findLength = try SQLiteStatement(connection, "SELECT length(content) FROM asset WHERE path = ?1")
  }

  @inline(__always)
  private func find(_ path: AssetPath, _ statement: SQLiteStatement) throws -> Int64 {
    defer { statement.reset() }
    try statement.bind(1, path)
    guard try statement.step() else { throw Unavailable("'\(path.string)' is not in the table") }
    return statement.integer(0)
  }

  /// Moves the blob handle to the asset's row.
  @inline(__always)
  private func openBlob(_ path: AssetPath) throws {
    let row = try find(path, findRow)
    guard blob == nil else { return try connection.check(library.reopenBlob(blob, row)) }
    try connection.check(library.openBlob(connection.handle, "main", "asset", "content", row, 0, &blob))
  }

  func read(_ path: AssetPath, into memory: UnsafeMutableRawBufferPointer) throws -> Int {
    try openBlob(path)
    let length = library.blobByteCount(blob)
    guard length <= memory.count else { throw Unavailable("'\(path.string)' is longer than it was") }
    try connection.check(library.readBlob(blob, memory.baseAddress, length, 0))
    return Int(length)
  }

  func read(_ path: AssetPath, at offset: Int, into memory: UnsafeMutableRawBufferPointer) throws {
    try openBlob(path)
    try connection.check(library.readBlob(blob, memory.baseAddress, CInt(memory.count), CInt(offset)))
  }

  func lookUp(_ paths: AssetPaths) throws -> Int {
    var sum = 0
    for path in paths { sum += Int(try find(path, findLength)) }
    return sum
  }

  func scan(into memory: UnsafeMutableRawBufferPointer) throws -> Int {
    let all = try SQLiteStatement(connection, "SELECT content FROM asset ORDER BY id")
    var sum = 0
    while try all.step() {
      let bytes = all.bytes(0)
      memory.copyMemory(from: bytes)
      sum += bytes.count
    }
    return sum
  }

  func close() {
    _ = library.closeBlob(blob)
    blob = nil
  }
}
