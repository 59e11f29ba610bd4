import Synchronization

/// Sends the events of downloads to all listeners, in the order in which they happened.
final class StatusHub: Sendable {
  typealias Update = AssetPackManager.DownloadStatusUpdate

  private struct State {
    var nextNumber = 0
    var queues: [Int: WeakQueue] = [:]
    /// By pack, the updates that new listeners receive about an open download.
    var open: [String: [Update]] = [:]
  }

  private struct WeakQueue { weak var queue: StatusQueue? }

  private let state = Mutex(State())

  /// Called by one thread at a time for each pack.
  func publish(_ update: Update) {
    state.withLock { state in
      let id = update.assetPack.id
      switch update {
      case .began:
        state.open[id] = [update] + (state.open[id] ?? []).filter { if case .downloading = $0 { true } else { false } }
      case .paused: state.open[id, default: []].append(update)
      case .downloading: state.open[id] = [.began(update.assetPack), update]
      case .finished, .failed: state.open[id] = nil
      }
      for (number, entry) in state.queues {
        guard let queue = entry.queue else {
          state.queues[number] = nil
          continue
        }
        if queue.pack == nil || queue.pack == id { queue.append(update) }
      }
    }
  }

  /// Subscribes to updates from now on. The first updates describe the state of the open downloads.
  ///
  /// - Parameter pack: `nil` for all packs.
  func subscribe(to pack: String?) -> StatusQueue {
    state.withLock { state in
      let number = state.nextNumber
      state.nextNumber += 1
      let queue = StatusQueue(pack: pack)
      for (id, updates) in state.open where pack == nil || pack == id {
        for update in updates { queue.append(update) }
      }
      state.queues[number] = WeakQueue(queue: queue)
      return queue
    }
  }
}

/// The updates that a listener has not yet received. Unreceived progress updates of a pack are combined into one, so a slow
/// listener uses no additional memory.
final class StatusQueue: Sendable {
  typealias Update = AssetPackManager.DownloadStatusUpdate

  private struct State {
    var updates: [Update] = []
    var waiter: CheckedContinuation<Update?, Never>?
    /// Whether the last update of the pack has been received.
    var isOver = false
    /// Whether no further updates are added.
    var isFinished = false
  }

  /// `nil` for all packs.
  let pack: String?
  private let state = Mutex(State())

  init(pack: String?) { self.pack = pack }

  /// Ends the sequence after the updates in the queue.
  func finish() {
    state.withLock { state in
      state.isFinished = true
      guard state.updates.isEmpty else { return }
      state.waiter?.resume(returning: nil)
      state.waiter = nil
    }
  }

  func append(_ update: Update) {
    state.withLock { state in
      guard !state.isFinished else { return }
      if let waiter = state.waiter {
        state.waiter = nil
        state.isOver = pack != nil && update.isLast
        waiter.resume(returning: update)
        return
      }
      if case .downloading(let pack, _) = update,
        case .downloading? = state.updates.last(where: { $0.assetPack.id == pack.id })
      {
        return
      }
      state.updates.append(update)
    }
  }

  /// Returns the next update; `nil` if the download of the pack has ended or the task was cancelled.
  func next() async -> Update? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        state.withLock { state in
          guard !state.isOver, !Task.isCancelled else { return continuation.resume(returning: nil) }
          guard state.updates.isEmpty else {
            let update = state.updates.removeFirst()
            state.isOver = pack != nil && update.isLast
            return continuation.resume(returning: update)
          }
          guard !state.isFinished else { return continuation.resume(returning: nil) }
          state.waiter?.resume(returning: nil)
          state.waiter = continuation
        }
      }
    } onCancel: {
      state.withLock { state in
        state.waiter?.resume(returning: nil)
        state.waiter = nil
      }
    }
  }
}

extension AssetPackManager {
  /// The events of downloads as an asynchronous sequence; see ``DownloadStatusUpdate``.
  public struct DownloadStatusUpdates: AsyncSequence, Sendable {
    public typealias Element = DownloadStatusUpdate
    public typealias Failure = Never

    private let hub: StatusHub
    private let pack: String?
    /// Subscribed when the sequence was created, so that no update is lost before iteration.
    private let first: StatusQueue?

    init(_ hub: StatusHub, pack: String?) {
      self.hub = hub
      self.pack = pack
      first = pack.map { hub.subscribe(to: $0) }
    }

    public func makeAsyncIterator() -> Iterator { Iterator(queue: first ?? hub.subscribe(to: pack)) }

    public struct Iterator: AsyncIteratorProtocol {
      fileprivate let queue: StatusQueue

      public mutating func next() async -> DownloadStatusUpdate? { await queue.next() }

      public mutating func next(isolation actor: isolated (any Actor)?) async -> DownloadStatusUpdate? {
        await queue.next()
      }
    }
  }
}
