import Foundation

/// The time of one piece of work.
struct Timing: Codable {
  /// The elapsed time, in seconds.
  var wall: Double
  /// The processor time, user and system, in seconds. Far less noisy than `wall` if other processes are busy.
  var cpu: Double

  /// Times one run of `body`. Includes the processor time of all threads of this process.
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

/// Returns the time of the monotonic clock, in nanoseconds.
func monotonicNanoseconds() -> UInt64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
}

/// Measures the time since its creation.
struct Stopwatch {
  private let begin = monotonicNanoseconds()

  var seconds: Double { Double(monotonicNanoseconds() - begin) / 1e9 }
}
