import Dispatch

/// Runs `body` and blocks the calling thread until it returns. For callers in C and benchmarks; never call it on a thread of Swift
/// concurrency.
package func waiting<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) throws -> Result {
  let done = DispatchSemaphore(value: 0)
  // Written before the signal, read after it.
  nonisolated(unsafe) var outcome: Swift.Result<Result, any Error>?
  Task.detached {
    do {
      outcome = .success(try await body())
    } catch {
      outcome = .failure(error)
    }
    done.signal()
  }
  done.wait()
  guard let outcome else { throw CancellationError() }
  return try outcome.get()
}
