import Foundation
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Ensures that a stopped agent does not block this app: by the writer's lock of the store, the journal's lock, the locks of the
/// files next to the store, or a version that the agent was pulling.
///
/// ```
///  idle --a wait begins--> asking --the agent answers, or none exists--> sleeping
///                          |   ^                                          |   |
///                          |   +------------ a wait continues ------------+   +--no wait--> idle
///                          +--no reply in time, and a wait continues--> the agent is killed; sleeping
/// ```
/// Killing an agent costs only its restart: its open requests are in the journal, and the system releases its locks. An agent that
/// answers is never killed, however long the wait.
final class AgentWatch: Sendable {
  private struct State {
    var lastWait: ContinuousClock.Instant?
    var isWatching = false
  }

  /// Longer than the interval of 2 seconds in which waits are reported: pulls of a version report in that interval, locks every 50
  /// milliseconds.
  private static let longestPause = Duration.seconds(3)

  private let agent: AgentClient
  private let patience: Duration
  private let clock = ContinuousClock()
  private let state = Mutex(State())

  init(_ agent: AgentClient, patience: Duration = AgentClient.patience) {
    self.agent = agent
    self.patience = patience
  }

  /// Notes the waits of the code that it is given to.
  var observer: LockWait.Observer { .init { self.note() } }

  /// Records a wait for another process of the group.
  func note() {
    let isFirst = state.withLock { state in
      state.lastWait = clock.now
      defer { state.isWatching = true }
      return !state.isWatching
    }
    // The waits may occupy the last threads of Swift's tasks and of the queues.
    if isFirst { Thread.detachNewThread { self.watch() } }
  }

  /// Runs `body` so that waits in it are reported to this watch.
  func over<Result>(_ body: () throws -> Result) rethrows -> Result {
    try LockWait.$observer.withValue(observer, operation: body)
  }

  func over<Result>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
  ) async rethrows -> Result {
    try await LockWait.$observer.withValue(observer, operation: body)
  }

  private var isWaiting: Bool {
    state.withLock { state in state.lastWait.map { clock.now - $0 < Self.longestPause } ?? false }
  }

  private func watch() {
    repeat {
      let begin = clock.now
      if agent.isSilent(within: patience), isWaiting { agent.killAgent() }
      let left = patience - (clock.now - begin)
      if left > .zero { usleep(useconds_t(min(left / .microseconds(1), 1e6 * 60))) }
    } while goesOn()
  }

  /// Returns whether a wait continues; otherwise the next wait starts the watch again.
  private func goesOn() -> Bool {
    state.withLock { state in
      state.isWatching = state.lastWait.map { clock.now - $0 < Self.longestPause } ?? false
      return state.isWatching
    }
  }
}

extension AgentWatch? {
  /// Runs `body`, which may have to wait for a lock of the group; with a watch, so that its waits are reported.
  func watching<Result>(_ body: () throws -> Result) rethrows -> Result {
    guard let self else { return try body() }
    return try self.over(body)
  }

  func watching<Result>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
  ) async rethrows -> Result {
    guard let self else { return try await body() }
    return try await self.over(body)
  }
}
