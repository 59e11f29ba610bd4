import Dispatch

/// Where calls that block for long run: threads of their own, so that no thread of Swift's concurrency pool waits for a
/// disk.
///
/// The caller's task moves here and back, so `Task.isCancelled` and task-local values hold inside as they do outside.
package final class BlockingExecutor: TaskExecutor {
  private static let shared = BlockingExecutor()
  private let queue = DispatchQueue(label: "PackStore.blocking", attributes: .concurrent)

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }

  /// Runs `body` on a thread that may block.
  package static func run<Result: Sendable>(_ body: @Sendable () throws -> Result) async throws -> Result {
    try await withTaskExecutorPreference(shared) { try body() }
  }

  /// Runs `body`, and what it calls, on threads that may block wherever it does not suspend itself.
  package static func runAsync<Result: Sendable>(
    _ body: @Sendable () async throws -> Result
  ) async throws -> Result {
    try await withTaskExecutorPreference(shared) { try await body() }
  }
}
