/// The functions of libsqlite3 that are called here, as `sqlite3.h` declares them.
struct SQLiteLibrary: Sendable {
  /// Loaded once; or why it cannot be.
  static let shared = Result { try SQLiteLibrary() }

  /// `SQLITE_*`: flags and results.
  enum Constant {
    static let readOnly: CInt = 0x1
    static let readWrite: CInt = 0x2
    static let create: CInt = 0x4
    static let noMutex: CInt = 0x8000
    static let row: CInt = 100
    static let done: CInt = 101
  }

  typealias Handle = OpaquePointer?
  typealias NewHandle = UnsafeMutablePointer<OpaquePointer?>
  typealias Text = UnsafePointer<CChar>
  typealias Bytes = UnsafeRawPointer
  /// Frees bound bytes. `nil`: the bytes remain valid until the statement has run.
  typealias Destructor = @convention(c) (UnsafeMutableRawPointer?) -> Void
  typealias Callback =
    @convention(c) (UnsafeMutableRawPointer?, CInt, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> CInt

  let version: @convention(c) () -> Text
  let errorText: @convention(c) (Handle) -> Text
  let open: @convention(c) (Text, NewHandle, CInt, Text?) -> CInt
  let close: @convention(c) (Handle) -> CInt
  let execute: @convention(c) (Handle, Text, Callback?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> CInt
  let prepare: @convention(c) (Handle, Text, CInt, NewHandle, UnsafeMutableRawPointer?) -> CInt
  let finalize: @convention(c) (Handle) -> CInt
  let step: @convention(c) (Handle) -> CInt
  let reset: @convention(c) (Handle) -> CInt
  let bindText: @convention(c) (Handle, CInt, Text, CInt, Destructor?) -> CInt
  let bindBytes: @convention(c) (Handle, CInt, Bytes?, UInt64, Destructor?) -> CInt
  let columnInteger: @convention(c) (Handle, CInt) -> Int64
  let columnBytes: @convention(c) (Handle, CInt) -> Bytes?
  let columnByteCount: @convention(c) (Handle, CInt) -> CInt
  let openBlob: @convention(c) (Handle, Text, Text, Text, Int64, CInt, NewHandle) -> CInt
  let reopenBlob: @convention(c) (Handle, Int64) -> CInt
  let blobByteCount: @convention(c) (Handle) -> CInt
  let readBlob: @convention(c) (Handle, UnsafeMutableRawPointer?, CInt, CInt) -> CInt
  let closeBlob: @convention(c) (Handle) -> CInt

  private init() throws {
    let library = try DynamicLibrary("libsqlite3", files: ["libsqlite3.so.0", "libsqlite3.so", "libsqlite3.dylib"])
    version = try library.function("sqlite3_libversion")
    errorText = try library.function("sqlite3_errmsg")
    open = try library.function("sqlite3_open_v2")
    close = try library.function("sqlite3_close_v2")
    execute = try library.function("sqlite3_exec")
    prepare = try library.function("sqlite3_prepare_v2")
    finalize = try library.function("sqlite3_finalize")
    step = try library.function("sqlite3_step")
    reset = try library.function("sqlite3_reset")
    bindText = try library.function("sqlite3_bind_text")
    bindBytes = try library.function("sqlite3_bind_blob64")
    columnInteger = try library.function("sqlite3_column_int64")
    columnBytes = try library.function("sqlite3_column_blob")
    columnByteCount = try library.function("sqlite3_column_bytes")
    openBlob = try library.function("sqlite3_blob_open")
    reopenBlob = try library.function("sqlite3_blob_reopen")
    blobByteCount = try library.function("sqlite3_blob_bytes")
    readBlob = try library.function("sqlite3_blob_read")
    closeBlob = try library.function("sqlite3_blob_close")
  }
}
