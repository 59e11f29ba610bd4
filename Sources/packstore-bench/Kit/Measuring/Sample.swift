import Foundation
import Synchronization

/// The result of one run of one participant.
struct Sample: Codable {
  /// The elapsed time, in seconds.
  var seconds: Double
  /// The processor time of all threads of this process, in seconds.
  var cpuSeconds: Double
  var byteCount: Int
  var operationCount: Int
  /// The number of bytes in use, if memory or written files are measured.
  var heldByteCount: Int?
  /// The time of each operation, if operations were timed individually. The JSON report contains only their summary in ``Entry``.
  var nanoseconds: [UInt32] = []

  enum CodingKeys: CodingKey { case seconds, cpuSeconds, byteCount, operationCount, heldByteCount }

  init(_ timing: Timing, byteCount: Int = 0, operationCount: Int = 1, nanoseconds: [UInt32] = []) {
    seconds = timing.wall
    cpuSeconds = timing.cpu
    self.byteCount = byteCount
    self.operationCount = operationCount
    self.nanoseconds = nanoseconds
  }

  /// Times one run of `body`, which returns the number of processed bytes.
  static func of(operationCount: Int = 1, _ body: () throws -> Int) rethrows -> Sample {
    let (byteCount, timing) = try Timing.ofProcess(body)
    return Sample(timing, byteCount: byteCount, operationCount: operationCount)
  }

  /// Runs `body` for each operation, and times each call.
  static func each<Operation>(
    _ operations: [Operation], byteCount: Int = 0, body: (Operation) throws -> Void
  ) rethrows -> Sample {
    var nanoseconds = [UInt32](repeating: 0, count: operations.count)
    let timing = try Timing.ofProcess {
      var before = monotonicNanoseconds()
      for index in operations.indices {
        try body(operations[index])
        let now = monotonicNanoseconds()
        nanoseconds[index] = UInt32(clamping: now - before)
        before = now
      }
    }.timing
    return Sample(timing, byteCount: byteCount, operationCount: operations.count, nanoseconds: nanoseconds)
  }

  /// Runs `body` concurrently for all tasks, each on its own thread.
  ///
  /// - Returns: a sample with the operations of all tasks. Its time per operation is the time in one thread.
  static func sideBySide<Task: Sendable>(
    _ tasks: [Task], byteCount: Int, _ body: @Sendable (Task) throws -> Sample
  ) throws -> Sample {
    let samples = Mutex<[Sample]>([])
    let failure = Failure()
    let timing = Timing.ofProcess {
      DispatchQueue.concurrentPerform(iterations: tasks.count) { index in
        failure.catching {
          let sample = try body(tasks[index])
          samples.withLock { $0.append(sample) }
        }
      }
    }.timing
    try failure.throwIfAny()
    let all = samples.withLock { $0 }
    let perThread = Timing(wall: timing.wall * Double(tasks.count), cpu: timing.cpu)
    return Sample(
      perThread, byteCount: byteCount, operationCount: all.reduce(0) { $0 + $1.operationCount },
      nanoseconds: all.flatMap(\.nanoseconds))
  }
}
