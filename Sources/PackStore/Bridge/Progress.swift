extension Store {
  /// How far a call has come: what every progress report says, whatever else it says.
  public protocol Progress: Sendable {
    /// From 0 to 1; 0 as long as the total is not known.
    var fraction: Double { get }
  }
}

/// The part that is done, of a total that may be unknown or too small.
package func fraction(_ done: Int, of total: Int) -> Double {
  total > 0 ? min(max(Double(done) / Double(total), 0), 1) : 0
}

/// A call that is under way, and its progress as an asynchronous sequence.
///
///     let pull = ProgressTask { report in try await store.pull(from: site, progress: report) }
///     for await progress in pull { bar.fraction = progress.fraction }
///     let result = try await pull.value
///
/// The call begins at once. The sequence has the newest report whenever the next one is asked for: a slow consumer
/// misses reports and delays nothing. It ends with the call. One task goes through it.
///
/// The call is cancelled by ``cancel()``, with a task that waits for ``value``, with a task that goes through the
/// sequence, and when the last reference to this is gone, iterators included.
public final class ProgressTask<Report: Store.Progress, Success: Sendable>: AsyncSequence, Sendable {
  private let task: Task<Success, any Error>
  private let reports: AsyncStream<Report>

  /// Begins a call.
  ///
  /// - Parameter call: hands its argument on as `progress:`.
  public init(_ call: @escaping @Sendable (_ report: @escaping @Sendable (Report) -> Void) async throws -> Success) {
    let (reports, continuation) = AsyncStream.makeStream(of: Report.self, bufferingPolicy: .bufferingNewest(1))
    let task = Task {
      defer { continuation.finish() }
      return try await call { continuation.yield($0) }
    }
    continuation.onTermination = { if case .cancelled = $0 { task.cancel() } }
    self.task = task
    self.reports = reports
  }

  deinit { task.cancel() }

  public func cancel() { task.cancel() }

  /// What the call returns or throws, once it has ended.
  public var value: Success {
    get async throws {
      try await withTaskCancellationHandler {
        try await task.value
      } onCancel: {
        task.cancel()
      }
    }
  }

  /// The newest report, again and again. The call goes on as long as it is asked.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate var reports: AsyncStream<Report>.AsyncIterator
    fileprivate let owner: ProgressTask

    public mutating func next() async -> Report? { await reports.next() }

    public mutating func next(isolation actor: isolated (any Actor)?) async -> Report? {
      await reports.next(isolation: actor)
    }
  }

  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(reports: reports.makeAsyncIterator(), owner: self)
  }
}
