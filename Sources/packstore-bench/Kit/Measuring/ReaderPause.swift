import Foundation
import PackStore
import Synchronization

/// The action that a thread repeats while each round is timed.
enum ReaderWork {
  /// Opens the newest snapshot and reads an asset.
  case store
  /// Copies bytes for about the same time, without a store.
  case nothing

  var title: String { self == .store ? "reader" : "thread without a store" }
}

/// Times each round of a reader, with or without concurrent swaps by another thread.
struct ReaderPause {
  private let swapper: PackStoreSwapper
  private let source: SwapSource
  private let work: ReaderWork
  private let swaps: Bool

  init(_ swapper: PackStoreSwapper, _ source: SwapSource, _ work: ReaderWork, swaps: Bool) {
    self.swapper = swapper
    self.source = source
    self.work = work
    self.swaps = swaps
  }

  /// Returns the durations of all rounds, in seconds.
  func rounds(seconds: Double) throws -> Statistics {
    let failure = Failure()
    let isOver = Atomic(false)
    let done = DispatchSemaphore(value: 0)
    var nanoseconds: [UInt32] = []
    let writer = Carried(value: (swapper, source, swaps))
    Thread.detachNewThread {
      let (swapper, source, swaps) = writer.value
      failure.catching {
        while swaps, !isOver.load(ordering: .relaxed) {
          let path = try source.change()
          try swapper.swap(path, source.bytes) {}
        }
      }
      done.signal()
    }
    failure.catching { nanoseconds = try read(seconds) }
    isOver.store(true, ordering: .relaxed)
    done.wait()
    try failure.throwIfAny()
    return Statistics(nanoseconds.map { Double($0) / 1e9 })
  }

  private func read(_ seconds: Double) throws -> [UInt32] {
    let paths = source.dataSet.paths
    let memory = Buffer(byteCount: source.dataSet.longest)
    let other = Buffer(byteCount: source.dataSet.longest)
    // Reserves memory for all durations, because growing the array would be a pause.
    var nanoseconds: [UInt32] = []
    nanoseconds.reserveCapacity(4 << 20)
    let end = monotonicNanoseconds() + UInt64(seconds * 1e9)
    var before = monotonicNanoseconds()
    while before < end, nanoseconds.count < 4 << 20 {
      let path = paths[nanoseconds.count % paths.count]
      switch work {
      case .store: Sink.shared.take(try swapper.store.read { try $0.asset(path.string).read(into: memory.bytes) })
      case .nothing: for _ in 0..<64 { memory.bytes.copyMemory(from: UnsafeRawBufferPointer(other.bytes)) }
      }
      let now = monotonicNanoseconds()
      nanoseconds.append(UInt32(clamping: now - before))
      before = now
    }
    return nanoseconds
  }
}

/// A value for another thread. The caller ensures that only one thread uses it at a time.
private struct Carried<Value>: @unchecked Sendable {
  let value: Value
}
