/// Wakes one waiting task. Signals that arrive while no task waits are combined into one.
final class TaskNotifier: Sendable {
  private let stream: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation

  init() { (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1)) }

  func ring() { continuation.yield() }

  /// Returns at the next signal, or when the task is cancelled.
  func wait() async {
    for await _ in stream { return }
  }
}
