/// Ctrl-C: the first one asks, the second one kills.

import Dispatch

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Cancels a task at the first SIGINT or SIGTERM: long operations stop at a clean point. A second one ends the process
/// at once.
struct SignalWatch {
  private let sources: [any DispatchSourceSignal]

  init(cancelling task: Task<Void, any Error>) {
    sources = [SIGINT, SIGTERM].map { number in
      signal(number, SIG_IGN)  // the source sees it all the same
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler {
        task.cancel()
        source.cancel()
        signal(number, SIG_DFL)
      }
      source.activate()
      return source
    }
  }
}
