import Synchronization

/// Wakes tasks that wait for a newer generation when this process commits, or closes a store.
///
/// All stores of the process share one, because a commit through one store is also visible to other stores of the same directory.
/// Tasks of unaffected stores check once and sleep again.
final class GenerationNotifier: Sendable {
  static let shared = GenerationNotifier()

  private struct State {
    var rings: UInt64 = 0
    var nextSleeper: UInt64 = 0
    var sleepers: [UInt64: CheckedContinuation<Void, Never>] = [:]
  }

  private let state = Mutex(State())

  /// The number of signals so far.
  var rings: UInt64 { state.withLock { $0.rings } }

  func ring() {
    let woken = state.withLock { state in
      state.rings += 1
      defer { state.sleepers = [:] }
      return state.sleepers
    }
    for sleeper in woken.values { sleeper.resume() }
  }

  /// Returns after more than `rings` signals, when `interval` is over, or when the task is cancelled.
  func wait(after rings: UInt64, atMost interval: Duration) async {
    await withTaskGroup { group in
      group.addTask { try? await Task.sleep(for: interval) }
      group.addTask { await self.wait(after: rings) }
      await group.next()
      group.cancelAll()
    }
  }

  /// Returns after more than `rings` signals, or when the task is cancelled.
  private func wait(after rings: UInt64) async {
    let number = state.withLock { state in
      state.nextSleeper += 1
      return state.nextSleeper
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          // A task that was cancelled before this point would never be woken.
          if state.rings > rings || Task.isCancelled { return true }
          state.sleepers[number] = continuation
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.sleepers.removeValue(forKey: number) }?.resume()
    }
  }
}
