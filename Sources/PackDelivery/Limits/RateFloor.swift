import Synchronization

/// Measures whether bytes come at a minimum rate, over all transfers of a source together.
///
/// Time counts where at least one transfer waits for the network. It comes from the transfers: each brings the time
/// that it waited, of which it is credited its share, so that six transfers that wait a second together make one
/// second. Bytes are kept for each twelfth of the window; the last twelve make a window.
package final class RateFloor: Sendable {
  private static let sliceCount = 12

  private struct State {
    var waitingCount = 0
    /// Of the slice that has begun.
    var byteCount = 0
    var seconds = 0.0
    /// Of the slices before it, oldest first; `sliceCount` at most.
    var slices: [Int] = []
    /// How many windows in a row were too slow.
    var slowCount = 0
    /// How many windows were too slow in all.
    var epoch = 0
  }
  private let state = Mutex(State())
  private let requiredByteCount: Double
  private let sliceSeconds: Double

  /// - Parameter bytesPerSecond: none if 0.
  package init(bytesPerSecond: Int, window: Duration) {
    let windowSeconds = min(max(window / .seconds(1), 0.001), 1e9)
    requiredByteCount = Double(bytesPerSecond) * windowSeconds
    sliceSeconds = windowSeconds / Double(Self.sliceCount)
  }

  package enum Verdict: Hashable, Sendable {
    case fine
    /// A window that the transfer was part of was too slow.
    case slow
    /// The second in a row.
    case slowAgain
  }

  /// Changes with each window that was too slow.
  package var epoch: Int { state.withLock { $0.epoch } }

  /// A transfer begins to wait for the network.
  package func begin() { state.withLock { $0.waitingCount += 1 } }

  /// It waits no longer.
  package func end() { state.withLock { $0.waitingCount -= 1 } }

  package func record(_ byteCount: Int) { state.withLock { $0.byteCount += byteCount } }

  /// Counts time that a transfer waited, and judges.
  ///
  /// - Parameter epoch: when the transfer began.
  package func pass(_ time: Duration, since epoch: Int) -> Verdict {
    guard requiredByteCount > 0 else { return .fine }
    return state.withLock { state in
      let seconds = min(max(time / .seconds(1), 0), sliceSeconds * Double(Self.sliceCount))
      state.seconds += seconds / Double(max(state.waitingCount, 1))
      while state.seconds >= sliceSeconds { closeSlice(&state) }
      guard state.epoch != epoch else { return .fine }
      return state.slowCount > 1 ? .slowAgain : .slow
    }
  }

  private func closeSlice(_ state: inout State) {
    state.seconds -= sliceSeconds
    state.slices.append(state.byteCount)
    state.byteCount = 0
    guard state.slices.count >= Self.sliceCount else { return }
    if Double(state.slices.reduce(0, +)) < requiredByteCount {
      state.slowCount += 1
      state.epoch += 1
      state.slices = []
    } else {
      state.slowCount = 0
      state.slices.removeFirst()
    }
  }
}
