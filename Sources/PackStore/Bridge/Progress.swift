extension Store {
  /// The progress of a call; the common part of all progress reports.
  public protocol Progress: Sendable {
    /// From 0 to 1; 0 until the total is known.
    var fraction: Double { get }
  }
}

/// The completed fraction of a total that may be unknown or too small.
package func fraction(_ done: Int, of total: Int) -> Double {
  total > 0 ? min(max(Double(done) / Double(total), 0), 1) : 0
}

/// A running call, and its progress as an asynchronous sequence.
///
///     let pull = ProgressTask { report in try await store.pull(from: site, progress: report) }
///     for await progress in pull { bar.fraction = progress.fraction }
///     let result = try await pull.value
///
/// The call begins at once. Each request to the sequence returns the newest report: a slow consumer misses reports, but does not
/// delay the call. The sequence ends with the call. Only one task may iterate over it.
///
/// The call is cancelled by ``cancel()``, by cancelling a task that awaits ``value`` or iterates over the sequence, and when the
/// last reference to this object is released, including iterators.
public final class ProgressTask<Report: Store.Progress, Success: Sendable>: AsyncSequence, Sendable {
  private let task: Task<Success, any Error>
  private let reports: AsyncStream<Report>

  /// Begins a call.
  ///
  /// - Parameter call: the call; passes its argument as `progress:`.
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

  /// The result of the call, or its error, once it has ended.
  public var value: Success {
    get async throws {
      try await withTaskCancellationHandler {
        try await task.value
      } onCancel: {
        task.cancel()
      }
    }
  }

  /// Returns the newest reports. The call continues while an iterator exists.
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
