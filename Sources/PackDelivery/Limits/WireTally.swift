import Synchronization

/// The network cost of small files: all requests for them, including failed and repeated ones, and the bytes of the answers.
/// Thread-safe.
package final class WireTally: Sendable {
  private let counts = Mutex<(requests: Int, bytes: Int)>((0, 0))

  package init() {}

  package var requestCount: Int { counts.withLock { $0.requests } }
  package var byteCount: Int { counts.withLock { $0.bytes } }

  /// Counts a request about to be sent.
  package func beginRequest() { counts.withLock { $0.requests += 1 } }

  /// Counts received bytes.
  package func receive(_ byteCount: Int) { counts.withLock { $0.bytes += byteCount } }

  /// Adds the counts of a buffer.
  func take(_ buffer: TransferBuffer) {
    counts.withLock {
      $0.requests += buffer.requestCount
      $0.bytes += buffer.wireByteCount
    }
    buffer.requestCount = 0
    buffer.wireByteCount = 0
  }
}
