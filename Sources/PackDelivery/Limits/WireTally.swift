import Synchronization

/// What small files cost on the wire: every request that was made for them, also those that failed or were repeated, and the
/// bytes of their answers. Any thread may count.
package final class WireTally: Sendable {
  private let counts = Mutex<(requests: Int, bytes: Int)>((0, 0))

  package init() {}

  package var requestCount: Int { counts.withLock { $0.requests } }
  package var byteCount: Int { counts.withLock { $0.bytes } }

  /// A request is about to be made.
  package func beginRequest() { counts.withLock { $0.requests += 1 } }

  /// Bytes of an answer came.
  package func receive(_ byteCount: Int) { counts.withLock { $0.bytes += byteCount } }

  /// Takes over what was counted for a buffer.
  func take(_ buffer: TransferBuffer) {
    counts.withLock {
      $0.requests += buffer.requestCount
      $0.bytes += buffer.wireByteCount
    }
    buffer.requestCount = 0
    buffer.wireByteCount = 0
  }
}
