import Foundation

extension Timing {
  /// Runs `body`, which works on this thread alone, and counts its processor time.
  static func ofThread<Result>(_ body: () throws -> Result) rethrows -> (result: Result, timing: Timing) {
    try measure(CLOCK_THREAD_CPUTIME_ID, body)
  }

  /// Each figure's best: disturbances only ever make it worse.
  mutating func keepBest(of other: Timing) {
    wall = min(wall, other.wall)
    cpu = min(cpu, other.cpu)
  }
}
