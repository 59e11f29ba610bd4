import Foundation
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Sees to it that no lock is kept from this app by an agent which has stopped: the writer's lock of the store, that of the journal,
/// those of the files beside the store, or a version that the agent was pulling.
///
/// ```
///  idle --something waits--> asking --the agent answers, or there is none--> resting
///                            |   ^                                            |   |
///                            |   +---------- something still waits -----------+   +--nothing does--> idle
///                            +--no word in time, and something still waits--> the agent is killed; resting
/// ```
/// Killing an agent costs nothing but a start: what it has not done stands in the journal, and the system releases what it held. One
/// that answers is left alone, however long it takes.
final class AgentWatch: Sendable {
  private struct State {
    var lastWait: ContinuousClock.Instant?
    var isWatching = false
  }

  /// What waits says so every 2 seconds at least: the pulls of a version do, locks every 50 milliseconds.
  private static let longestPause = Duration.seconds(3)

  private let agent: AgentClient
  private let patience: Duration
  private let clock = ContinuousClock()
  private let state = Mutex(State())

  init(_ agent: AgentClient, patience: Duration = AgentClient.patience) {
    self.agent = agent
    self.patience = patience
  }

  /// Something waits for another process of the group.
  func note() {
    let isFirst = state.withLock { state in
      state.lastWait = clock.now
      defer { state.isWatching = true }
      return !state.isWatching
    }
    // What waits may have the last threads that Swift's tasks and the queues have.
    if isFirst { Thread.detachNewThread { self.watch() } }
  }

  /// Has this watch told of what waits in there.
  func over<Result>(_ body: () throws -> Result) rethrows -> Result {
    try LockWait.$observer.withValue(.init { self.note() }, operation: body)
  }

  func over<Result>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
  ) async rethrows -> Result {
    try await LockWait.$observer.withValue(.init { self.note() }, operation: body)
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

  /// Whether something still waits; else the next wait begins it again.
  private func goesOn() -> Bool {
    state.withLock { state in
      state.isWatching = state.lastWait.map { clock.now - $0 < Self.longestPause } ?? false
      return state.isWatching
    }
  }
}
