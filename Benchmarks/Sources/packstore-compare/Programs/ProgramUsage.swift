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
  /// The largest resident set. It includes the benchmark's own memory at the start of the program: an upper bound.
  var residentByteCount: Int
  /// Bytes written to the disk, in whole pages. If the system reports it, without files that were removed before their
  /// pages were written.
  var writtenByteCount: Int
}

extension ProgramUsage {
  /// - Parameter watched: the memory samples taken while it ran.
  init(seconds: Double, _ resources: rusage, _ watched: Watched) {
    func total(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
    self.init(
      seconds: seconds, cpuSeconds: total(resources.ru_utime) + total(resources.ru_stime),
      privateByteCount: watched.privatePeak, residentByteCount: resources.ru_maxrss * 1024,
      writtenByteCount: resources.ru_oublock * 512 - watched.cancelledByteCount)
  }

  /// What only the system's files on a process tell.
  struct Watched {
    var privatePeak: Int?
    /// Bytes that were to be written when their file was removed.
    var cancelledByteCount = 0
  }

  /// The cancelled writes of a process that has ended but was not waited for; 0 if the system does not report them.
  static func cancelledByteCount(of process: pid_t) -> Int {
    let lines = (try? String(contentsOfFile: "/proc/\(process)/io", encoding: .utf8))?.split(separator: "\n") ?? []
    let line = lines.first { $0.hasPrefix("cancelled_write_bytes: ") }
    return line?.split(separator: " ").last.flatMap { Int($0) } ?? 0
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
