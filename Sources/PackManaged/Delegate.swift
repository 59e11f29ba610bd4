import Synchronization

/// Calls a delegate's callbacks in C, one at a time.
final class Listener: Sendable {
  private nonisolated(unsafe) let delegate: pkm_delegate
  /// Held by the thread that runs a callback; recursive, because a callback may set another delegate. `isOver` is written under it.
  private let turn = NSRecursiveLock()
  private nonisolated(unsafe) var isOver = false
  private let task = Mutex<Task<Void, Never>?>(nil)

  init(_ delegate: pkm_delegate, _ updates: AssetPackManager.DownloadStatusUpdates) {
    self.delegate = delegate
    // Subscribes now, not when the task first runs.
    let iterator = updates.makeAsyncIterator()
    let task = Task { [weak self] in
      var iterator = iterator
      while let update = await iterator.next() {
        guard self?.take(update) == true else { return }
      }
    }
    self.task.withLock { $0 = task }
  }

  /// Returns when no callback is running, and none will run.
  func end() {
    turn.withLock { isOver = true }
    // Releases the updates that were not delivered.
    task.withLock { $0 }?.cancel()
  }

  /// Returns false if the listener has ended.
  private func take(_ update: AssetPackManager.DownloadStatusUpdate) -> Bool {
    guard var pack = pkm_pack(update.assetPack) else { return true }
    defer { pack.freeTexts() }
    return turn.withLock {
      guard !isOver else { return false }
      call(update, &pack)
      return true
    }
  }

  private func call(_ update: AssetPackManager.DownloadStatusUpdate, _ pack: inout pkm_pack) {
    switch update {
    case .began: delegate.began?(delegate.context, &pack)
    case .paused: delegate.paused?(delegate.context, &pack)
    case .downloading(_, let progress):
      delegate.has_progress?(
        delegate.context, &pack, UInt64(clamping: progress.completedUnitCount),
        UInt64(clamping: progress.totalUnitCount))
    case .finished: delegate.finished?(delegate.context, &pack)
    case .failed(_, let error):
      var value = pkm_error(error)
      delegate.failed?(delegate.context, &pack, &value)
    }
  }
}

@c(pkm_manager_set_delegate)
public func setDelegate(_ manager: OpaquePointer, _ delegate: UnsafePointer<pkm_delegate>?) {
  let box = ManagerBox.of(manager)
  let new = delegate.map { Listener($0.pointee, box.manager.statusUpdates) }
  let old = box.listener.withLock { listener in
    defer { listener = new }
    return listener
  }
  old?.end()
}
