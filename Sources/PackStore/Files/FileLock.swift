#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A lock on a file of its own, which only users with write access to the file's folder can take. Released with its owner, or when
/// the process ends.
package final class FileLock: Sendable {
  private let number: CInt

  /// The first sleep between two attempts, in microseconds; each further sleep is twice as long.
  private static let shortestSleep: UInt32 = 500
  private static let longestSleep: UInt32 = 50_000

  /// Takes the lock, and waits while another process, or another task of this one, holds it.
  ///
  /// - Parameters:
  ///   - waits: whether to wait, rather than fail with `busy`.
  ///   - reason: the fault then.
  ///   - subject: the object that the lock protects; `nil` if `reason` names it.
  /// - Throws: `busy`; `CancellationError` if the surrounding task is cancelled while waiting; `wrongKind` if it is not a file;
  ///   `ioError`.
  package init(_ place: FilePlace, waits: Bool, reason: String, about subject: PackStoreError.Subject? = nil) throws {
    number = try openLockFile(place)
    var sleep = Self.shortestSleep
    // The system can signal that a lock is free, but not that the task was cancelled.
    while try !Self.take(number, place) {
      guard waits else { throw PackStoreError(.busy, reason, about: subject, detail: .otherWriter) }
      guard LockWait.goesOn() else { throw CancellationError() }
      usleep(sleep)
      sleep = min(sleep * 2, Self.longestSleep)
    }
  }

  deinit { close(number) }

  /// Lets other processes find this process by ``holder(of:)``.
  ///
  /// The record ends when the lock is released, or when this process closes any other descriptor of the file. It is a record lock of
  /// the first byte; `flock` alone decides which process has the lock. On macOS a record lock would exclude `flock`, so this does
  /// nothing and ``holder(of:)`` returns `nil`.
  package func identifyHolder() {
    #if !canImport(Darwin)
      var range = Self.firstByte(F_WRLCK)
      _ = fcntl(number, F_SETLK, &range)
    #endif
  }

  /// The process that has the lock at this moment according to the system; `nil` if the system does not report one.
  ///
  /// A process cannot make another process the holder, so the result is safe to send a signal to.
  package static func holder(of place: FilePlace) -> Int32? {
    #if canImport(Darwin)
      return nil
    #else
      guard let number = try? openLockFile(place) else { return nil }
      defer { close(number) }
      var range = firstByte(F_WRLCK)
      guard fcntl(number, F_GETLK, &range) == 0, range.l_type != Int16(F_UNLCK), range.l_pid > 1 else { return nil }
      return range.l_pid
    #endif
  }

  private static func firstByte(_ type: CInt) -> flock {
    var range = flock()
    range.l_type = Int16(truncatingIfNeeded: type)
    range.l_whence = Int16(SEEK_SET)
    range.l_len = 1
    return range
  }

  /// The maximum length of a text in the file, in bytes.
  package static let textByteCountLimit = 64

  /// Writes a text into the file that identifies the holder, valid while the lock is held.
  package func write(_ text: String) throws {
    var bytes = Array(text.utf8.prefix(Self.textByteCountLimit))
    // Overwrites an earlier, longer text.
    bytes += Array(repeating: UInt8(ascii: " "), count: Self.textByteCountLimit - bytes.count)
    _ = try systemCall("cannot write to the file of a lock", "") { pwrite(number, bytes, bytes.count, 0) }
  }

  private static func take(_ descriptor: CInt, _ place: FilePlace) throws -> Bool {
    do {
      try systemCall("cannot lock", place.text) { flock(descriptor, LOCK_EX | LOCK_NB) }
      return true
    } catch let error as PackStoreError
      where error.systemError == .wouldBlock || error.systemError == .resourceTemporarilyUnavailable
    {
      return false
    }
  }
}
