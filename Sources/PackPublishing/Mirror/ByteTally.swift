import Synchronization

/// Counts bytes of several parallel transfers.
final class ByteTally: Sendable {
  private let count = Mutex<UInt64>(0)

  var byteCount: UInt64 { count.withLock { $0 } }

  func add(_ more: Int) { count.withLock { $0 &+= UInt64(max(more, 0)) } }
}
