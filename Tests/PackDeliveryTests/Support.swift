import Foundation
import PackDelivery
import Synchronization

#if canImport(Glibc)
  import Glibc
#endif

/// Time that passes only where a task waits: a delay is over at once and is written down. A watch sees the world's time
/// instead, which goes by where a server lets it: see ``FaultServer``.
final class TestTime: Sendable {
  struct State {
    var now: Duration = .zero
    var delays: [Duration] = []
    var world: Duration = .zero
    var watches: [Int: (end: Duration, continuation: CheckedContinuation<Void, any Error>)] = [:]
    var nextWatch = 0
  }
  let state = Mutex(State())

  var delays: [Duration] { state.withLock { $0.delays } }
  var now: Duration { state.withLock { $0.now } }

  /// Whether anything waits for the world's time.
  var isWatched: Bool { state.withLock { !$0.watches.isEmpty } }

  /// Lets the world's time go by.
  func pass(_ duration: Duration) {
    let over = state.withLock { state in
      state.world += duration
      let over = state.watches.filter { $0.value.end <= state.world }
      for key in over.keys { state.watches[key] = nil }
      return over.values.map(\.continuation)
    }
    for continuation in over { continuation.resume() }
  }

  private func watch(_ duration: Duration) async throws {
    let id = state.withLock { state in
      state.nextWatch += 1
      return state.nextWatch
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isCancelled = state.withLock { state in
          guard !Task.isCancelled else { return true }
          state.watches[id] = (state.world + duration, continuation)
          return false
        }
        if isCancelled { continuation.resume(throwing: CancellationError()) }
      }
    } onCancel: {
      state.withLock { $0.watches.removeValue(forKey: id) }?.continuation.resume(throwing: CancellationError())
    }
  }

  /// - Parameter random: what chance is always.
  func clock(random: Double = 0) -> TransferClock {
    TransferClock(
      now: { self.now },
      sleep: { duration in
        try Task.checkCancellation()
        self.state.withLock { state in
          state.now += duration
          state.delays.append(duration)
        }
        await Task.yield()
      },
      watch: { try await self.watch($0) },
      random: { random })
  }
}

/// Reproducible numbers.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {  // SplitMix64
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}

/// Bytes that do not compress.
func noise(_ count: Int, seed: UInt64) -> [UInt8] {
  var generator = SeededGenerator(seed: seed)
  var bytes: [UInt8] = []
  bytes.reserveCapacity(count + 7)
  while bytes.count < count { withUnsafeBytes(of: generator.next()) { bytes += $0 } }
  return Array(bytes.prefix(count))
}

/// A buffer with memory of its own.
final class TestBuffer: Sendable {
  let buffer: TransferBuffer

  init(_ count: Int) { buffer = TransferBuffer(.allocate(byteCount: count, alignment: 16)) }

  deinit { buffer.bytes.deallocate() }

  var bytes: [UInt8] { Array(buffer.bytes.prefix(buffer.filledCount)) }
}

/// A folder that is gone after the test.
final class TestFolder: Sendable {
  let path: String

  init() {
    var template = Array("\(NSTemporaryDirectory())/packstore-delivery.XXXXXX".utf8CString)
    path = String(cString: mkdtemp(&template)!)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func write(_ bytes: some Sequence<UInt8>, to file: String) throws {
    let url = URL(fileURLWithPath: "\(path)/\(file)")
    try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(bytes).write(to: url)
  }
}
