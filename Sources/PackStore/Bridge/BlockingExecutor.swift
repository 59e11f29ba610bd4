import Dispatch

/// Runs calls that may block for long on its own threads, so that no thread of Swift's concurrency pool waits for a disk.
///
/// The caller's task moves there and back, so `Task.isCancelled` and task-local values are the same inside and outside.
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

  /// Runs `body` on threads that may block, including every function it calls, except where it suspends.
  package static func runAsync<Result: Sendable>(
    _ body: @Sendable () async throws -> Result
  ) async throws -> Result {
    try await withTaskExecutorPreference(shared) { try await body() }
  }
}
