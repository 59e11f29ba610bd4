import PackStore
import SystemPackage

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

// The only system calls of this module: files that are made under another name, synced, and renamed into place.

/// A file that is being written, closed with its owner.
final class NewFile {
  private let descriptor: CInt
  private let path: FilePath

  /// Makes the file, or empties the one that is there. For its owner alone if `isSecret`.
  init(_ path: FilePath, isSecret: Bool = false) throws(PackStoreError) {
    let mode: mode_t = isSecret ? 0o600 : 0o644
    let flags = O_WRONLY | O_CREAT | O_CLOEXEC | (isSecret ? O_EXCL : O_TRUNC)
    descriptor = try systemCall("cannot create", path.string) { path.withPlatformString { open($0, flags, mode) } }
    self.path = path
  }

  deinit { close(descriptor) }

  func write(_ bytes: UnsafeRawBufferPointer) throws(PackStoreError) {
    var rest = bytes
    while !rest.isEmpty {
      let count = try systemCall("cannot write", path.string) {
        #if canImport(Glibc)
          Glibc.write(descriptor, rest.baseAddress!, rest.count)
        #elseif canImport(Musl)
          Musl.write(descriptor, rest.baseAddress!, rest.count)
        #else
          Darwin.write(descriptor, rest.baseAddress!, rest.count)
        #endif
      }
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
    }
  }

  func write(_ bytes: [UInt8]) throws(PackStoreError) {
    try bytes.span.bytes.withUnsafeBytes { bytes throws(PackStoreError) in try write(bytes) }
  }

  /// Writes all of `bytes` at `offset`, whatever was written before.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(PackStoreError) {
    var done = 0
    while done < bytes.count {
      done += try systemCall("cannot write", path.string) {
        pwrite(descriptor, bytes.baseAddress! + done, bytes.count - done, off_t(offset) + off_t(done))
      }
    }
  }

  func sync() throws(PackStoreError) { _ = try systemCall("cannot sync", path.string) { fsync(descriptor) } }
}

/// A file that is read.
final class OldFile {
  private let descriptor: CInt
  private let path: FilePath

  /// - Throws: `notFound` when there is no such file; `wrongKind` for anything that is no file.
  init(_ path: FilePath) throws(PackStoreError) {
    self.path = path
    do {
      descriptor = try systemCall("cannot open", path.string) {
        path.withPlatformString { open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
      }
    } catch {
      throw error.systemError == .noSuchFileOrDirectory
        ? PackStoreError(.notFound, "there is no file", file: path.string) : error
    }
    guard try status().st_mode & S_IFMT == S_IFREG else {
      throw PackStoreError(.wrongKind, "this is no file", file: path.string)
    }
  }

  deinit { close(descriptor) }

  var byteCount: UInt64 { get throws(PackStoreError) { UInt64(try status().st_size) } }

  /// Whether anybody but its owner may do anything with it.
  var isOpenToOthers: Bool { get throws(PackStoreError) { try status().st_mode & 0o077 != 0 } }

  private func status() throws(PackStoreError) -> stat {
    var status = stat()
    _ = try systemCall("cannot examine", path.string) { fstat(descriptor, &status) }
    return status
  }

  /// Reads from where the last read ended. Empty at the end of the file.
  func read(upTo count: Int) throws(PackStoreError) -> [UInt8] {
    var failure: PackStoreError?
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
      do throws(PackStoreError) {
        while done < count {
          let more = try systemCall("cannot read", path.string) {
            #if canImport(Glibc)
              Glibc.read(descriptor, buffer.baseAddress! + done, count - done)
            #elseif canImport(Musl)
              Musl.read(descriptor, buffer.baseAddress! + done, count - done)
            #else
              Darwin.read(descriptor, buffer.baseAddress! + done, count - done)
            #endif
          }
          if more == 0 { return }
          done += more
        }
      } catch { failure = error }
    }
    if let failure { throw failure }
    return bytes
  }
}

/// The whole of a file.
///
/// - Throws: `corrupt` when it has more than `limit` bytes; `notFound`, `ioError`.
func readFile(_ path: FilePath, limit: Int) throws(PackStoreError) -> [UInt8] {
  let bytes = try OldFile(path).read(upTo: limit + 1)
  guard bytes.count <= limit else { throw PackStoreError(.corrupt, "the file is too long", file: path.string) }
  return bytes
}

/// The length of a file, or nil when there is none.
func fileByteCount(_ path: FilePath) throws(PackStoreError) -> UInt64? {
  do { return try OldFile(path).byteCount } catch  where error.code == .notFound { return nil }
}

/// Moves a file to its final name, in place of what is there.
func rename(_ from: FilePath, to path: FilePath) throws(PackStoreError) {
  _ = try systemCall("cannot rename", path.string) {
    from.withPlatformString { from in
      path.withPlatformString { path in
        #if canImport(Glibc)
          Glibc.rename(from, path)
        #elseif canImport(Musl)
          Musl.rename(from, path)
        #else
          Darwin.rename(from, path)
        #endif
      }
    }
  }
}

/// Gives a file another name, which nothing may have.
///
/// - Throws: `exists`.
func linkFile(_ from: FilePath, to path: FilePath) throws(PackStoreError) {
  _ = try systemCall("cannot create", path.string) {
    from.withPlatformString { from in path.withPlatformString { link(from, $0) } }
  }
}

/// Removes a file. One that is not there is not missed.
func removeFile(_ path: FilePath) throws(PackStoreError) {
  do {
    _ = try systemCall("cannot remove", path.string) { path.withPlatformString { unlink($0) } }
  } catch  where error.systemError == .noSuchFileOrDirectory {}
}

/// Makes a folder where there is none, and its parents; says whether it was made.
@discardableResult
func makeFolder(_ path: FilePath, isSecret: Bool = false) throws(PackStoreError) -> Bool {
  let mode: mode_t = isSecret ? 0o700 : 0o777
  guard path.withPlatformString({ access($0, F_OK) }) != 0 else { return false }
  let parent = path.removingLastComponent()
  if !parent.isEmpty, parent != path { try makeFolder(parent, isSecret: isSecret) }
  do {
    _ = try systemCall("cannot create", path.string) { path.withPlatformString { mkdir($0, mode) } }
    return true
  } catch  where error.code == .exists { return false }  // another process was faster
}

/// Makes names in a folder durable.
func syncFolder(_ path: FilePath) throws(PackStoreError) {
  let path = path.isEmpty ? "." : path
  let descriptor = try systemCall("cannot open", path.string) {
    path.withPlatformString { open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
  }
  defer { close(descriptor) }
  _ = try systemCall("cannot sync", path.string) { fsync(descriptor) }
}

/// The names in a folder, in no particular order. None when it is not there.
func namesInFolder(_ path: FilePath) throws(PackStoreError) -> [String] {
  guard let folder = path.withPlatformString({ opendir($0) }) else {
    if errno == ENOENT { return [] }
    throw PackStoreError(.ioError, "cannot list", file: path.string, systemError: Errno(rawValue: errno))
  }
  defer { closedir(folder) }
  var names: [String] = []
  while true {
    errno = 0
    guard let entry = readdir(folder) else { break }
    let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    if name != ".", name != ".." { names.append(name) }
  }
  guard errno == 0 else {
    throw PackStoreError(.ioError, "cannot list", file: path.string, systemError: Errno(rawValue: errno))
  }
  return names
}

/// The lock that one publisher of a site holds at a time, on a file of its own; released with its owner, or with the
/// process.
final class PublisherLock {
  private let descriptor: CInt

  /// Waits while another process, or another task of this one, has the lock.
  ///
  /// - Throws: `busy` when it would have to wait and `waits` is false; `cancelled` when the surrounding task is.
  init(_ path: FilePath, waits: Bool) throws(PackStoreError) {
    descriptor = try systemCall("cannot create", path.string) {
      path.withPlatformString { open($0, O_RDWR | O_CREAT | O_CLOEXEC, 0o644 as mode_t) }
    }
    try Self.take(descriptor, path, waits: waits)
  }

  deinit { close(descriptor) }

  private static func take(_ descriptor: CInt, _ path: FilePath, waits: Bool) throws(PackStoreError) {
    while true {
      do throws(PackStoreError) {
        _ = try systemCall("cannot lock", path.string) { flock(descriptor, LOCK_EX | LOCK_NB) }
        return
      } catch  where error.systemError == .wouldBlock || error.systemError == .resourceTemporarilyUnavailable {
        guard waits else { throw PackStoreError(.busy, "somebody else is publishing to the site") }
        guard !Task.isCancelled else { throw PackStoreError(.cancelled, "the publication was cancelled") }
        usleep(lockInterval)  // the system can tell when a lock is free, but not that the task was cancelled meanwhile
      }
    }
  }

  /// How long a publisher that waits sleeps between two tries, in microseconds.
  private static let lockInterval: UInt32 = 50_000
}
