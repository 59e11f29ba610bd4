import Synchronization

/// Counts bytes for several transfers at a time.
final class ByteTally: Sendable {
  private let count = Mutex<UInt64>(0)

  var byteCount: UInt64 { count.withLock { $0 } }

  func add(_ more: Int) { count.withLock { $0 &+= UInt64(max(more, 0)) } }
}
