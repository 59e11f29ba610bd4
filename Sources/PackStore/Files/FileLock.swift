#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A lock on a file of its own, which only those can take that may write to the file's folder. Released with its owner,
/// or with the process.
package final class FileLock: Sendable {
  private let number: CInt

  /// How long one that waits sleeps between two tries, in microseconds: twice as long each time.
  private static let shortestSleep: UInt32 = 500
  private static let longestSleep: UInt32 = 50_000

  /// Takes the lock, and waits while another process, or another task of this one, has it.
  ///
  /// - Parameters:
  ///   - waits: whether to wait, or to fail with `busy`.
  ///   - reason: the fault then.
  ///   - subject: the object that the lock protects; `nil` if `reason` names it.
  /// - Throws: `busy`; `CancellationError` when the surrounding task is while this waits; `wrongKind` for what is no
  ///   file; `ioError`.
  package init(_ place: FilePlace, waits: Bool, reason: String, about subject: PackStoreError.Subject? = nil) throws {
    number = try openLockFile(place)
    var sleep = Self.shortestSleep
    // The system can tell when a lock is free, but not that the task was cancelled meanwhile.
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

  /// The most bytes of a text in the file.
  package static let textByteCountLimit = 64

  /// Writes a text into the file, for people and programs that want to know who has the lock: true as long as it is held.
  package func write(_ text: String) throws {
    var bytes = Array(text.utf8.prefix(Self.textByteCountLimit))
    // One that was longer leaves nothing behind.
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
