import Synchronization

/// Runs asynchronous code on the calling thread only, for systems that refuse to create threads.
///
/// The code must not switch to another executor: Dispatch would wait for a thread forever.
final class SingleThread: TaskExecutor {
  private let jobs = Mutex<[UnownedJob]>([])

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
  }

  static func run(_ body: @escaping @Sendable () async throws -> Void) throws {
    let thread = SingleThread(), end = Mutex<Result<Void, any Error>?>(nil)
    Task(executorPreference: thread) {
      let result: Result<Void, any Error>
      do { result = .success(try await body()) } catch { result = .failure(error) }
      end.withLock { $0 = result }
    }
    while true {
      if let result = end.withLock({ $0 }) { return try result.get() }
      guard let job = thread.jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { throw CancellationError() }
      job.runSynchronously(on: thread.asUnownedTaskExecutor())
    }
  }
}
