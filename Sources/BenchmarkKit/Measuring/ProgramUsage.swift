import Foundation

/// What one run of a program took.
struct ProgramUsage: Codable, Equatable {
  /// On the clock.
  var seconds: Double
  /// Processor time, of the user and of the system.
  var cpuSeconds: Double
  /// The most private memory, sampled every few milliseconds: a peak that lasts less is missed. Nil where the system does
  /// not tell.
  var privateByteCount: Int?
  /// The largest resident set. What the benchmark itself held when it began the program counts as well: a bound, not a figure.
  var residentByteCount: Int
  /// Bytes that it gave to the disk, in whole pages, also those of files that it removed again.
  var writtenByteCount: Int
}

extension ProgramUsage {
  init(seconds: Double, _ resources: rusage, privatePeak: Int?) {
    func total(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
    self.init(
      seconds: seconds, cpuSeconds: total(resources.ru_utime) + total(resources.ru_stime),
      privateByteCount: privatePeak, residentByteCount: resources.ru_maxrss * 1024,
      writtenByteCount: resources.ru_oublock * 512)
  }

  /// What one run and then another took: times add up, the higher peak counts.
  static func + (first: Self, second: Self) -> Self {
    Self(
      seconds: first.seconds + second.seconds, cpuSeconds: first.cpuSeconds + second.cpuSeconds,
      privateByteCount: [first.privateByteCount, second.privateByteCount].compactMap { $0 }.max(),
      residentByteCount: max(first.residentByteCount, second.residentByteCount),
      writtenByteCount: first.writtenByteCount + second.writtenByteCount)
  }
}

/// Samples the private memory of a program that runs.
final class ProgramMemoryWatch: @unchecked Sendable {
  private let process: pid_t
  private let lock = NSLock()
  private var peak: Int?
  private var isStopped = false

  /// - Parameter process: not to be waited for before ``stop()``: its number may be another's then.
  init(_ process: pid_t) {
    self.process = process
    Thread.detachNewThread { [self] in
      while sample() { usleep(4_000) }
    }
  }

  /// The most that was seen; nil where the system does not tell, or the program was too short to be seen.
  func stop() -> Int? {
    lock.withLock {
      isStopped = true
      return peak
    }
  }

  private func sample() -> Bool {
    lock.withLock {
      guard !isStopped else { return false }
      if let now = MemoryWatch.anonymousByteCount(of: "\(process)") { peak = max(peak ?? 0, now) }
      return true
    }
  }
}
