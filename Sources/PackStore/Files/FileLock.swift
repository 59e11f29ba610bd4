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
  ///   - reason: what to say then.
  /// - Throws: `busy`; `CancellationError` when the surrounding task is while this waits; `wrongKind` for what is no
  ///   file; `ioError`.
  package init(_ place: FilePlace, waits: Bool, reason: String) throws {
    number = try openLockFile(place)
    var sleep = Self.shortestSleep
    // The system can tell when a lock is free, but not that the task was cancelled meanwhile.
    while try !Self.take(number, place) {
      guard waits else { throw PackStoreError(.busy, reason) }
      guard LockWait.goesOn() else { throw CancellationError() }
      usleep(sleep)
      sleep = min(sleep * 2, Self.longestSleep)
    }
  }

  deinit { close(number) }

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
