/// Handling of SIGINT, SIGTERM and SIGHUP: the first signal cancels the command, the second signal ends the process.

import Dispatch
import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Cancels a task at the first SIGINT, SIGTERM or SIGHUP: long operations and blocked writes stop cleanly, and temporary files are
/// removed. A second signal of the same kind ends the process immediately.
struct SignalWatch {
  private let sources: [any DispatchSourceSignal]

  init(cancelling task: Task<Void, any Error>) {
    PendingWrites.shared.prepare()
    sources = [SIGINT, SIGTERM, SIGHUP].compactMap { number in
      let earlier = signal(number, SIG_IGN)  // the dispatch source still receives the signal
      // `nohup` starts programs that ignore this signal, and they keep running.
      let isKept = number == SIGHUP && unsafeBitCast(earlier, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
      guard !isKept else { return nil }
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

/// Interrupts writes to standard output and standard error when the command is cancelled. A reader that does not read can block
/// such a write forever.
///
/// Only a signal to the thread interrupts a blocked system call, and the signal may arrive just before the call. So the signal is
/// repeated while the thread is registered.
final class PendingWrites: Sendable {
  static let shared = PendingWrites()

  private struct State {
    var threads: [pthread_t] = []
    /// Repeats the signal; `nil` until the command is cancelled.
    var timer: (any DispatchSourceTimer)?
  }

  private let state = Mutex(State())

  /// Whether the command was cancelled.
  private let isInterrupted = Atomic(false)

  /// The signal that interrupts writes. Its default action is to ignore it, and this program has no other use for it.
  private static let signalNumber = SIGURG

  /// Installs an empty signal handler, so that the signal interrupts system calls.
  func prepare() {
    var action = sigaction()
    #if canImport(Darwin)
      action.__sigaction_u.__sa_handler = { _ in }
    #elseif canImport(Musl)
      action.__sa_handler.sa_handler = { _ in }
    #else
      action.__sigaction_handler.sa_handler = { _ in }
    #endif
    // Without SA_RESTART, the system does not restart the interrupted call.
    sigaction(Self.signalNumber, &action, nil)
  }

  /// Interrupts all current and later writes that block.
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
      // Registered threads are in `withRegistration`, so they still exist.
      for thread in state.threads { pthread_kill(thread, Self.signalNumber) }
    }
  }

  /// Writes all of `bytes`.
  ///
  /// - Returns: 0, or an error number; `ECANCELED` if the command was cancelled before all bytes were written.
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
    // Dispatch's threads block all signals.
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
