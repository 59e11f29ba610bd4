import Foundation

/// The functions of liblmdb that are called here, as `lmdb.h` declares them.
struct LMDBLibrary: Sendable {
  /// Loaded once; or why it cannot be.
  static let shared = Result { try LMDBLibrary() }

  /// `MDB_val`.
  struct Value {
    var count = 0
    var bytes: UnsafeMutableRawPointer?
  }

  /// `MDB_*`: flags, operations and results.
  enum Constant {
    static let noSubfolder: UInt32 = 0x4000
    static let noSync: UInt32 = 0x1_0000
    static let readOnly: UInt32 = 0x2_0000
    static let noThreadLocalStorage: UInt32 = 0x20_0000
    static let noLock: UInt32 = 0x40_0000
    static let append: UInt32 = 0x2_0000
    static let next: CInt = 8
    static let notFound: CInt = -30798
  }

  typealias Handle = OpaquePointer?
  /// The result of a function that creates a handle.
  typealias NewHandle = UnsafeMutablePointer<OpaquePointer?>
  /// A pointer to a ``Value``: the type of a C function cannot name a Swift struct.
  typealias ValuePointer = UnsafeMutableRawPointer

  let version:
    @convention(c) (UnsafeMutablePointer<CInt>?, UnsafeMutablePointer<CInt>?, UnsafeMutablePointer<CInt>?)
      -> UnsafePointer<CChar>
  let errorText: @convention(c) (CInt) -> UnsafePointer<CChar>
  let createEnvironment: @convention(c) (NewHandle) -> CInt
  let setMapSize: @convention(c) (Handle, Int) -> CInt
  let openEnvironment: @convention(c) (Handle, UnsafePointer<CChar>, UInt32, mode_t) -> CInt
  let sync: @convention(c) (Handle, CInt) -> CInt
  let closeEnvironment: @convention(c) (Handle) -> Void
  let begin: @convention(c) (Handle, Handle, UInt32, NewHandle) -> CInt
  let commit: @convention(c) (Handle) -> CInt
  let abort: @convention(c) (Handle) -> Void
  let openDatabase: @convention(c) (Handle, UnsafePointer<CChar>?, UInt32, UnsafeMutablePointer<UInt32>) -> CInt
  let get: @convention(c) (Handle, UInt32, ValuePointer, ValuePointer) -> CInt
  let put: @convention(c) (Handle, UInt32, ValuePointer, ValuePointer, UInt32) -> CInt
  let openCursor: @convention(c) (Handle, UInt32, NewHandle) -> CInt
  let closeCursor: @convention(c) (Handle) -> Void
  let moveCursor: @convention(c) (Handle, ValuePointer, ValuePointer, CInt) -> CInt

  private init() throws {
    let library = try DynamicLibrary("liblmdb", files: ["liblmdb.so.0", "liblmdb.so", "liblmdb.dylib"])
    version = try library.function("mdb_version")
    errorText = try library.function("mdb_strerror")
    createEnvironment = try library.function("mdb_env_create")
    setMapSize = try library.function("mdb_env_set_mapsize")
    openEnvironment = try library.function("mdb_env_open")
    sync = try library.function("mdb_env_sync")
    closeEnvironment = try library.function("mdb_env_close")
    begin = try library.function("mdb_txn_begin")
    commit = try library.function("mdb_txn_commit")
    abort = try library.function("mdb_txn_abort")
    openDatabase = try library.function("mdb_dbi_open")
    get = try library.function("mdb_get")
    put = try library.function("mdb_put")
    openCursor = try library.function("mdb_cursor_open")
    closeCursor = try library.function("mdb_cursor_close")
    moveCursor = try library.function("mdb_cursor_get")
  }

  /// Throws the library's error.
  @inline(__always)
  func check(_ status: CInt) throws {
    guard status == 0 else { throw Unavailable("liblmdb: \(String(cString: errorText(status)))") }
  }
}
