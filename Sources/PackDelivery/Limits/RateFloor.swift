import Synchronization

/// Measures whether bytes arrive at a minimum rate, over all transfers of a source together.
///
/// Time counts while at least one transfer waits for the network. Each transfer reports its waiting time and is credited its share,
/// so that six transfers that wait for a second together count as one second. Bytes are counted for each twelfth of the window; the
/// last twelve make a window.
package final class RateFloor: Sendable {
  private static let sliceCount = 12

  private struct State {
    var waitingCount = 0
    /// Bytes of the current slice.
    var byteCount = 0
    var seconds = 0.0
    /// Bytes of the previous slices, oldest first; at most `sliceCount`.
    var slices: [Int] = []
    /// The number of consecutive slow windows.
    var slowCount = 0
    /// The total number of slow windows.
    var epoch = 0
  }
  private let state = Mutex(State())
  private let requiredByteCount: Double
  private let sliceSeconds: Double

  /// - Parameter bytesPerSecond: the minimum rate; 0: none.
  package init(bytesPerSecond: Int, window: Duration) {
    let windowSeconds = min(max(window / .seconds(1), 0.001), 1e9)
    requiredByteCount = Double(bytesPerSecond) * windowSeconds
    sliceSeconds = windowSeconds / Double(Self.sliceCount)
  }

  package enum Verdict: Hashable, Sendable {
    case fine
    /// A window that included the transfer was too slow.
    case slow
    /// The second slow window in a row.
    case slowAgain
  }

  /// Changes with each slow window.
  package var epoch: Int { state.withLock { $0.epoch } }

  /// Call when a transfer begins to wait for the network.
  package func begin() { state.withLock { $0.waitingCount += 1 } }

  /// Call when it stops waiting.
  package func end() { state.withLock { $0.waitingCount -= 1 } }

  package func record(_ byteCount: Int) { state.withLock { $0.byteCount += byteCount } }

  /// Counts the waiting time of a transfer, and returns a verdict.
  ///
  /// - Parameter epoch: the epoch when the transfer began.
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
