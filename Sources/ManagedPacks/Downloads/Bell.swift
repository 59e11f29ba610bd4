/// Wakes the one who waits; what rings while it does not is heard once.
final class Bell: Sendable {
  private let stream: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation

  init() { (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1)) }

  func ring() { continuation.yield() }

  /// Returns at the next ring, or when the task is cancelled.
  func wait() async {
    for await _ in stream { return }
  }
}
