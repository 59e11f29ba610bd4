import CPackStore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Runs one call of the core and throws its error; `CancellationError` if a cancelled task ended the call.
@inline(__always)
func check(_ call: (UnsafeMutablePointer<pks_error>) -> pks_status) throws {
  // Not initialised: the core fills it when it fails, and clearing a kilobyte would be a tenth of a look-up.
  let failure = withUnsafeTemporaryAllocation(of: pks_error.self, capacity: 1) { memory -> (any Error)? in
    let error = memory.baseAddress!
    let status = call(error)
    if status == PKS_OK { return nil }
    return status == PKS_CANCELLED ? CancellationError() : PackStoreError(error)
  }
  if let failure { throw failure }
}

/// Runs one call of the core that opens an object, and returns the object.
@inline(__always)
func opened(
  _ call: (UnsafeMutablePointer<OpaquePointer?>, UnsafeMutablePointer<pks_error>) -> pks_status
) throws -> OpaquePointer {
  var pointer: OpaquePointer?
  try check { call(&pointer, $0) }
  guard let pointer else { preconditionFailure("a call of the core opened nothing and reported no failure") }
  return pointer
}

/// Adds the store's path to `busy` and `noSpace` errors in which the core names a file of the store.
func naming<Result>(_ store: FilePath, _ body: () throws -> Result) throws -> Result {
  do { return try body() } catch let error as PackStoreError { throw error.naming(store) }
}

extension PackStoreError {
  /// Adds the path of a store to an error about it, and for a full disk the folder on it: the store, or the cache folder that the
  /// core names, which may be on another disk.
  func naming(_ store: FilePath) -> PackStoreError {
    var error = self
    if subject == .store(nil) { error.subject = .store(store.string) }
    switch code {
    case .busy: error.subject = .store(store.string)
    case .noSpace:
      var full = store
      if case .cacheFolder(let folder) = subject {
        full = FilePath(folder)
      } else {
        error.subject = .store(store.string)
      }
      error.reason = "no room on its disk"
      let room = neededByteCount.map { " for \(formatBytes(Int(clamping: $0)))" } ?? ""
      error.specificRemedy = "make room\(room) there"
      if let free = freeByteCountWithoutFiles(full) {
        error.reason = "the disk can hold no more files (df -i), though \(formatBytes(free)) are free"
        error.systemError = nil
        error.specificRemedy = "remove files there"
      }
    default: break
    }
    return error
  }
}

/// The free bytes of the disk of a folder that has no room for another file; `nil` if it has, or has no such limit.
private func freeByteCountWithoutFiles(_ folder: FilePath) -> Int? {
  var info = statvfs()
  guard folder.withPlatformString({ statvfs($0, &info) }) == 0, info.f_files > 0, info.f_favail == 0 else { return nil }
  let (count, overflows) = UInt64(info.f_bavail).multipliedReportingOverflow(by: UInt64(info.f_frsize))
  return overflows ? .max : Int(clamping: count)
}

/// Passes `value` to a C callback as its `context`, for the duration of `body`.
func withContext<Value, Result>(_ value: inout Value, _ body: (UnsafeMutableRawPointer) -> Result) -> Result {
  withUnsafeMutablePointer(to: &value) { body(UnsafeMutableRawPointer($0)) }
}

/// Converts a size for the core, which uses 0 for its default. Zero and sizes that do not fit become a value that the core refuses.
func coreSize(_ byteCount: Int) -> UInt32 { byteCount == 0 ? .max : UInt32(exactly: byteCount) ?? .max }

/// Converts a limit of rows for the core, which uses 0 for its default.
func coreRowLimit(_ rows: Int?) -> UInt64 { rows.map { UInt64(max($0, 1)) } ?? 0 }

extension String {
  /// Calls `body` with the UTF-8 bytes of a path, not NUL-terminated.
  @inline(__always)
  func withPath<Result>(_ body: (UnsafePointer<CChar>, Int) -> Result) -> Result {
    // Strings are stored as UTF-8, except strings that another library created.
    let lent = utf8.withContiguousStorageIfAvailable { utf8 in
      utf8.withMemoryRebound(to: CChar.self) { characters in characters.baseAddress.map { body($0, utf8.count) } }
    }
    if let result = lent ?? nil { return result }
    // `withUTF8` may change how a string is stored, but not its contents; even the empty string has an address.
    var copy = self
    return copy.withUTF8 { utf8 in
      utf8.withMemoryRebound(to: CChar.self) { body($0.baseAddress!, $0.count) }
    }
  }

  /// Copies `count` bytes of UTF-8 borrowed from the core; invalid UTF-8 is replaced by U+FFFD.
  init(copying bytes: UnsafePointer<CChar>?, count: Int) {
    let utf8 = UnsafeRawBufferPointer(start: bytes, count: count)
    self.init(decoding: utf8, as: UTF8.self)
  }

  init(copying loan: pks_bytes) {
    self.init(decoding: UnsafeRawBufferPointer(start: loan.bytes, count: loan.count), as: UTF8.self)
  }
}
