import Foundation

/// The time of one piece of work.
struct Timing: Codable {
  /// Seconds on the clock.
  var wall: Double
  /// Seconds of processor time, user and system. Far less noisy than `wall` if other processes are busy.
  var cpu: Double

  /// Runs `body` and counts the processor time of all this process's threads.
  static func ofProcess<Result>(_ body: () throws -> Result) rethrows -> (result: Result, timing: Timing) {
    try measure(CLOCK_PROCESS_CPUTIME_ID, body)
  }

  static func measure<Result>(
    _ processorClock: clockid_t, _ body: () throws -> Result
  ) rethrows -> (result: Result, timing: Timing) {
    let wall = seconds(of: CLOCK_MONOTONIC)
    let cpu = seconds(of: processorClock)
    let result = try body()
    return (result, Timing(wall: seconds(of: CLOCK_MONOTONIC) - wall, cpu: seconds(of: processorClock) - cpu))
  }

  private static func seconds(of clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}

/// The monotonic clock.
func monotonicNanoseconds() -> UInt64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
}

/// Seconds since its creation.
struct Stopwatch {
  private let begin = monotonicNanoseconds()

  var seconds: Double { Double(monotonicNanoseconds() - begin) / 1e9 }
}
