import Foundation
import Synchronization

/// Whether the benchmark was interrupted. Then one thread removes temporary data and ends the process. The others must
/// stop: they would write to, or mount, folders that are being removed.
enum Interruption {
  private static let isUnderWay = Atomic(false)

  /// Sent by the keyboard, a closed terminal, or a closed pipe.
  static let signals = [SIGINT, SIGTERM, SIGHUP, SIGPIPE]

  /// Runs `cleanUp` and ends the process after a signal.
  ///
  /// - Returns: the handler, which works as long as it is retained.
  static func handle(_ cleanUp: @escaping () -> Void) -> [any DispatchSourceSignal] {
    let cleanUp = Unchecked(cleanUp)
    return signals.map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler {
        begin()
        cleanUp.value()
        exit(128 + number)
      }
      source.resume()
      return source
    }
  }

  /// Runs `body` first after an interruption: it ends child processes.
  static func whenItBegins(_ body: @escaping @Sendable () -> Void) { firstSteps.withLock { $0.append(body) } }

  private static let firstSteps = Mutex<[@Sendable () -> Void]>([])

  private static func begin() {
    isUnderWay.store(true, ordering: .sequentiallyConsistent)
    for step in firstSteps.withLock({ $0 }) { step() }
  }

  /// Called before any new work. Does not return after an interruption.
  static func waitForTheEnd() {
    while isUnderWay.load(ordering: .sequentiallyConsistent) { sleep(1) }
  }
}

/// Passed to another thread, which is safe because the process ends there.
private struct Unchecked<Value>: @unchecked Sendable {
  let value: Value

  init(_ value: Value) { self.value = value }
}
