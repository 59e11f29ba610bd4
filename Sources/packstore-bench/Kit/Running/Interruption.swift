import Foundation
import Synchronization

/// Interruption of the benchmark by a signal. One thread then removes temporary data and ends the process. The other threads must
/// stop: they would write to, or mount, folders that are being removed.
enum Interruption {
  private static let isUnderWay = Atomic(false)

  /// The signals of the keyboard, of `kill`, of a closed terminal and of a closed pipe.
  static let signals = [SIGINT, SIGTERM, SIGHUP, SIGPIPE]

  /// Runs `cleanUp` and ends the process after a signal.
  ///
  /// - Returns: the handlers, which work while they are retained.
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

  /// Registers `body` to run first after an interruption, for example to end a child process.
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

/// A value for another thread, which is safe because the process ends on that thread.
private struct Unchecked<Value>: @unchecked Sendable {
  let value: Value

  init(_ value: Value) { self.value = value }
}
