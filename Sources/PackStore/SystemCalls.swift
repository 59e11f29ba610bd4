import SystemPackage

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

// The only system calls of this module: extraction writes files relative to a folder's descriptor, and never through a
// link. Those of other modules go through `systemCall`, too.

/// The descriptor of a folder that is written to.
struct OutputFolder: ~Copyable, Sendable {
  let descriptor: CInt

  /// Opens the folder at `path`, which may lead through links: it is the caller's own. Makes it and its parents if need
  /// be.
  init(making path: FilePath) throws(PackStoreError) {
    try Self.make(path)
    descriptor = try call("cannot open", path.string) {
      path.withPlatformString { open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    }
  }

  deinit { close(descriptor) }

  private static func make(_ path: FilePath) throws(PackStoreError) {
    let parent = path.removingLastComponent()
    guard path.withPlatformString({ access($0, F_OK) }) != 0 else { return }
    if !parent.isEmpty, parent != path { try make(parent) }
    do {
      _ = try call("cannot create", path.string) { path.withPlatformString { mkdir($0, 0o777) } }
    } catch  where error.code == .exists {}  // another process was faster
  }
}

/// A file that is being written, perhaps by several threads.
final class OutputFile: Sendable {
  private let descriptor: CInt
  private let path: ExtractPath

  /// Makes the file `path`, whose name is relative to `folder`. What is in the way is replaced if that is wanted, never
  /// followed.
  init(_ path: ExtractPath, in folder: CInt, executable: Bool, replacing: Bool) throws(PackStoreError) {
    let mode: mode_t = executable ? 0o755 : 0o644
    descriptor = try create(path, in: folder, replacing: replacing) {
      openat(folder, $0, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
    }
    self.path = path
  }

  deinit { close(descriptor) }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(PackStoreError) {
    var done = 0
    while done < bytes.count {
      done += try call("cannot write", path.text, needed: bytes.count - done) {
        pwrite(descriptor, bytes.baseAddress! + done, bytes.count - done, off_t(offset) + off_t(done))
      }
    }
  }
}

/// Makes a symbolic link whose name is relative to `folder`. Its target is any bytes but zeros, as they were stored.
func makeLink(
  _ path: ExtractPath, to target: UnsafeRawBufferPointer, in folder: CInt, replacing: Bool
) throws(PackStoreError) {
  let text = target.map(CChar.init(bitPattern:)) + [0]
  _ = try create(path, in: folder, replacing: replacing) { name in
    text.withUnsafeBufferPointer { symlinkat($0.baseAddress!, folder, name) }
  }
}

/// Removes a file whose name is relative to `folder`, if it is there.
func removeFile(_ path: ExtractPath, in folder: CInt) { _ = path.withName { unlinkat(folder, $0, 0) } }

/// Makes a folder where there is none, and opens it; a link or file in its place is an error. Says whether it was made.
func enterFolder(
  _ name: UnsafePointer<CChar>, in folder: CInt, path: @autoclosure () -> String
) throws(PackStoreError) -> (descriptor: CInt, isNew: Bool) {
  let isNew = mkdirat(folder, name, 0o777) == 0
  guard isNew || errno == EEXIST else { throw PackStoreError("cannot create", path(), Errno(rawValue: errno)) }
  let descriptor = try call("cannot enter", path()) {
    openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
  }
  return (descriptor, isNew)
}

func processorCount() -> Int { max(sysconf(CInt(_SC_NPROCESSORS_ONLN)), 1) }

/// Creates something by `make`, which fails with EEXIST when something is in the way.
private func create(
  _ path: ExtractPath, in folder: CInt, replacing: Bool, _ make: (UnsafePointer<CChar>) -> CInt
) throws(PackStoreError) -> CInt {
  do {
    return try call("cannot create", path.text) { path.withName(make) }
  } catch  where error.code == .exists && replacing {
    _ = try call("cannot replace", path.text) { path.withName { unlinkat(folder, $0, 0) } }
    return try call("cannot create", path.text) { path.withName(make) }
  }
}

/// Runs a system call until no signal interrupts it, and throws its errno as an error about `path`.
package func systemCall<Result: SignedInteger>(
  _ reason: String, _ path: @autoclosure () -> String, _ body: () -> Result
) throws(PackStoreError) -> Result {
  try call(reason, path(), body)
}

private func call<Result: SignedInteger>(
  _ reason: String, _ path: @autoclosure () -> String, needed: Int? = nil, _ body: () -> Result
) throws(PackStoreError) -> Result {
  while true {
    let result = body()
    if result >= 0 { return result }
    let error = Errno(rawValue: errno)
    if error != .interrupted { throw PackStoreError(reason, path(), error, needed: needed) }
  }
}

extension PackStoreError {
  fileprivate init(_ reason: String, _ path: String, _ error: Errno, needed: Int? = nil) {
    let code: Code =
      switch error {
      case .fileExists: .exists
      case .notDirectory, .tooManySymbolicLinkLevels, .isDirectory: .wrongKind
      case .noSpace, .diskQuotaExceeded: .noSpace
      case .noMemory: .outOfMemory
      default: .ioError
      }
    self.init(code, reason, file: path, systemError: error)
    neededByteCount = code == .noSpace ? needed.map { UInt64($0) } : nil
  }
}
