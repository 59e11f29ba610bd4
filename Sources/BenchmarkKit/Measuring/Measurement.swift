import Foundation

/// What one piece of work took.
struct Timing: Codable {
  /// Seconds on the clock.
  var wall: Double
  /// Seconds of processor time, user and system. Far less noisy than `wall` where others use the machine too.
  var cpu: Double

  /// Runs `body` and counts the processor time of all this process's threads.
  static func ofProcess<Result>(_ body: () throws -> Result) rethrows -> (result: Result, timing: Timing) {
    try measure(CLOCK_PROCESS_CPUTIME_ID, body)
  }

  /// Runs `body`, which works on this thread alone, and counts its processor time.
  static func ofThread<Result>(_ body: () throws -> Result) rethrows -> (result: Result, timing: Timing) {
    try measure(CLOCK_THREAD_CPUTIME_ID, body)
  }

  private static func measure<Result>(
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

  /// Each figure's best: disturbances only ever make it worse.
  mutating func keepBest(of other: Timing) {
    wall = min(wall, other.wall)
    cpu = min(cpu, other.cpu)
  }
}

/// Watches this process's private memory while something runs.
///
/// Sampled every few milliseconds: a peak that lasts less is missed.
final class MemoryWatch: @unchecked Sendable {
  private let lock = NSLock()
  private let before: Int
  private var peak: Int
  private var isStopped = false

  /// nil where the system does not tell.
  init?() {
    // What earlier work freed and glibc kept would hide what this one takes.
    _ = DynamicSymbol.function("malloc_trim", as: (@convention(c) (Int) -> CInt).self)?(0)
    guard let now = Self.anonymousByteCount() else { return nil }
    before = now
    peak = now
    Thread.detachNewThread { [self] in
      while sample() { usleep(4_000) }
    }
  }

  /// Bytes by which private memory was above what it was at the start, at its peak.
  func stop() -> Int {
    _ = sample()
    return lock.withLock {
      isStopped = true
      return peak - before
    }
  }

  private func sample() -> Bool {
    let now = Self.anonymousByteCount() ?? 0
    return lock.withLock {
      peak = isStopped ? peak : max(peak, now)
      return !isStopped
    }
  }

  private static func anonymousByteCount() -> Int? {
    guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
      let line = status.split(separator: "\n").first(where: { $0.hasPrefix("RssAnon:") }),
      let kilobytes = line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap({ Int($0) })
    else { return nil }
    return kilobytes * 1024
  }
}

/// SplitMix64: small, good enough, and the same on every machine.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

/// Memory of a fixed length whose pages are there before anything is measured.
final class Buffer {
  let bytes: UnsafeMutableRawBufferPointer

  init(byteCount: Int) {
    bytes = .allocate(byteCount: max(byteCount, 1), alignment: 4096)
    bytes.initializeMemory(as: UInt8.self, repeating: 1)
  }

  deinit { bytes.deallocate() }
}
