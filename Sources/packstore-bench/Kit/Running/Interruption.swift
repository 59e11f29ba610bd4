import Foundation
import Synchronization

/// Whether the benchmark was told to end. Then one thread removes what is temporary and ends the process, and the others
/// must not go on: they would fill, or mount, what is being removed.
enum Interruption {
  private static let isUnderWay = Atomic(false)

  /// From the keyboard, from a terminal that went away, from a reader of the output that stopped.
  static let signals = [SIGINT, SIGTERM, SIGHUP, SIGPIPE]

  /// Lets `cleanUp` run and the process end on a signal.
  ///
  /// - Returns: what does it, as long as it is kept.
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

  /// Lets `body` run first when the benchmark is told to end: it ends programs that were started.
  static func whenItBegins(_ body: @escaping @Sendable () -> Void) { firstSteps.withLock { $0.append(body) } }

  private static let firstSteps = Mutex<[@Sendable () -> Void]>([])

  private static func begin() {
    isUnderWay.store(true, ordering: .sequentiallyConsistent)
    for step in firstSteps.withLock({ $0 }) { step() }
  }

  /// Called before anything new is begun. Does not return when the benchmark was told to end.
  static func waitForTheEnd() {
    while isUnderWay.load(ordering: .sequentiallyConsistent) { sleep(1) }
  }
}

/// Carried to another thread by code that knows that this does no harm: the process ends there.
private struct Unchecked<Value>: @unchecked Sendable {
  let value: Value

  init(_ value: Value) { self.value = value }
}
