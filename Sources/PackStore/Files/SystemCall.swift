#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Runs a system call again while signals interrupt it, and throws its errno as an error about `path`.
@discardableResult
func systemCall<Result: SignedInteger>(
  _ reason: String, _ path: @autoclosure () -> String, needed: Int? = nil, _ body: () -> Result
) throws -> Result {
  while true {
    let result = body()
    if result >= 0 { return result }
    let error = Errno(rawValue: errno)
    if error != .interrupted { throw PackStoreError(reason, path(), error, needed: needed) }
  }
}

extension PackStoreError {
  init(_ reason: String, _ path: String, _ error: Errno, needed: Int? = nil) {
    let code: Code =
      switch error {
      case .fileExists: .exists
      case .notDirectory, .tooManySymbolicLinkLevels, .isDirectory: .wrongKind
      case .noSpace, .diskQuotaExceeded: .noSpace
      case .noMemory: .outOfMemory
      default: .ioError
      }
    self.init(code, reason, file: path, systemError: error)
    neededByteCount = code == .noSpace ? needed.map { UInt64(clamping: $0) } : nil
  }
}

/// Converts an error to a system error number, which a callback returns to the core.
func systemError(of error: any Error) -> CInt { ((error as? PackStoreError)?.systemError ?? .ioError).rawValue }

// MARK: - What Swift's own names hide

func systemWrite(_ descriptor: CInt, _ bytes: UnsafeRawBufferPointer) -> Int {
  write(descriptor, bytes.baseAddress, bytes.count)
}

func systemRename(_ from: UnsafePointer<CChar>, _ fromFolder: CInt, _ to: UnsafePointer<CChar>, _ folder: CInt) -> CInt
{
  renameat(fromFolder, from, folder, to)
}
