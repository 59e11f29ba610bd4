/// Ctrl-C: the first one asks, the second one kills.

import Dispatch
import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Cancels a task at the first SIGINT or SIGTERM: long operations stop at a clean point, and so does a write that waits
/// for its reader. A second one ends the process at once.
struct SignalWatch {
  private let sources: [any DispatchSourceSignal]

  init(cancelling task: Task<Void, any Error>) {
    PendingWrites.shared.prepare()
    sources = [SIGINT, SIGTERM].map { number in
      signal(number, SIG_IGN)  // the source sees it all the same
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler {
        task.cancel()
        PendingWrites.shared.interrupt()
        source.cancel()
        signal(number, SIG_DFL)
      }
      source.activate()
      return source
    }
  }
}

/// The threads that write to standard output or standard error. A reader that does not read holds such a write for as
/// long as it likes; a cancelled command gives it up.
///
/// A system call that waits ends early only by a signal to its thread, which may come just before the call does. So the
/// signal is sent again and again, for as long as a thread is registered here.
final class PendingWrites: Sendable {
  static let shared = PendingWrites()

  private struct State {
    var threads: [pthread_t] = []
    /// Runs once the command is cancelled.
    var timer: (any DispatchSourceTimer)?
  }

  private let state = Mutex(State())

  /// Whether the command was cancelled: waiting operations then stop.
  private let isInterrupted = Atomic(false)

  /// Ignored by default, and of no use to this program otherwise.
  private static let signalNumber = SIGURG

  /// Lets the signal end a system call, and do nothing else.
  func prepare() {
    var action = sigaction()
    #if canImport(Darwin)
      action.__sigaction_u.__sa_handler = { _ in }
    #elseif canImport(Musl)
      action.__sa_handler.sa_handler = { _ in }
    #else
      action.__sigaction_handler.sa_handler = { _ in }
    #endif
    // No SA_RESTART: the call is to end.
    sigaction(Self.signalNumber, &action, nil)
  }

  /// Ends the writes that wait, now and later.
  func interrupt() {
    isInterrupted.store(true, ordering: .sequentiallyConsistent)
    state.withLock { state in
      guard state.timer == nil else { return }
      let timer = DispatchSource.makeTimerSource(queue: .global())
      timer.schedule(deadline: .now(), repeating: .milliseconds(20))
      timer.setEventHandler { self.signalThreads() }
      timer.activate()
      state.timer = timer
    }
  }

  private func signalThreads() {
    state.withLock { state in
      // Each is in `withRegistration`, and so alive.
      for thread in state.threads { pthread_kill(thread, Self.signalNumber) }
    }
  }

  /// Writes all of `bytes`.
  ///
  /// - Returns: 0, or an error number: `ECANCELED` when the command was cancelled while the write waited.
  func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32 {
    withRegistration {
      var rest = bytes[...]
      while !rest.isEmpty {
        let written = write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
        if written >= 0 {
          rest = rest.dropFirst(written)
        } else if errno != EINTR {
          return errno
        }
        if !rest.isEmpty, isInterrupted.load(ordering: .sequentiallyConsistent) { return ECANCELED }
      }
      return 0
    }
  }

  private func withRegistration<Result>(_ body: () -> Result) -> Result {
    // Threads of Dispatch block all signals.
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, Self.signalNumber)
    var before = sigset_t()
    pthread_sigmask(SIG_UNBLOCK, &signals, &before)
    state.withLock { $0.threads.append(pthread_self()) }
    defer {
      state.withLock { state in
        state.threads.removeAll { pthread_equal($0, pthread_self()) != 0 }
      }
      pthread_sigmask(SIG_SETMASK, &before, nil)
    }
    return body()
  }
}
