import Synchronization

/// Tells all who listen what happens to downloads, each in the order in which it happened.
final class StatusHub: Sendable {
  typealias Update = AssetPackManager.DownloadStatusUpdate

  private struct State {
    var nextNumber = 0
    var queues: [Int: WeakQueue] = [:]
    /// What those who come later must know of downloads that have not ended.
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

  /// Listens from now on; of downloads that have not ended, also to how far they are.
  ///
  /// - Parameter pack: nil: to all.
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

/// What one listener has not yet taken. Progress that was not taken before more of it comes is one update, so a slow listener
/// costs no memory.
final class StatusQueue: Sendable {
  typealias Update = AssetPackManager.DownloadStatusUpdate

  private struct State {
    var updates: [Update] = []
    var waiter: CheckedContinuation<Update?, Never>?
    /// The last update of the one pack was taken.
    var isOver = false
    /// Nothing comes any more.
    var isFinished = false
  }

  /// Nil: all packs.
  let pack: String?
  private let state = Mutex(State())

  init(pack: String?) { self.pack = pack }

  /// Lets the listener end when it has taken what there is.
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

  /// The next update; nil when the download of the one pack has ended, or the task was cancelled.
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
  /// What happens to downloads, as an asynchronous sequence: see ``DownloadStatusUpdate``.
  public struct DownloadStatusUpdates: AsyncSequence, Sendable {
    public typealias Element = DownloadStatusUpdate
    public typealias Failure = Never

    private let hub: StatusHub
    private let pack: String?
    /// Listens since the sequence was made, so that nothing is lost before it is iterated.
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
