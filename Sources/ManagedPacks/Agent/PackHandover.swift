import Synchronization

/// Gets a pack from the agent that the app pulls itself, if the agent is at the same version: then the pull waits, and says so.
///
/// ```
///  idle --the pull waits--> asking --the agent has ended its download--> the app's
///   ^                         |
///   +-- the agent has ended --+
/// ```
/// The pack is the app's as long as the connection is open: until ``end()``, or the app's own end.
final class PackHandover: Sendable {
  private struct State {
    var task: Task<Void, Never>?
    var isOver = false
  }

  private let pack: PackID
  private let agent: AgentClient?
  private let state = Mutex(State())

  /// - Parameter agent: nil: there is none to ask.
  init(of pack: PackID, by agent: AgentClient?) {
    self.pack = pack
    self.agent = agent
  }

  /// What the pull is doing.
  func note(_ phase: Store.PullProgress.Phase) {
    state.withLock { state in
      guard phase == .wait, state.task == nil, !state.isOver, let agent else { return }
      state.task = Task {
        await self.ask(agent)
        // Another agent may be at the pack by then.
        self.state.withLock { $0.task = nil }
      }
    }
  }

  /// The pull is over.
  func end() {
    state.withLock { state in
      state.isOver = true
      state.task?.cancel()
    }
  }

  private func ask(_ agent: AgentClient) async {
    guard let connection = try? agent.connect() else { return }
    // However long it takes: a commit that has begun goes on to its end. An `AgentWatch` sees to one that says nothing.
    guard case .done? = try? await connection.ask(.handOver(pack), within: nil) else { return }
    await untilCancelled()
    withExtendedLifetime(connection) {}
  }
}

/// Returns when the task is cancelled.
private func untilCancelled() async {
  let (never, continuation) = AsyncStream.makeStream(of: Never.self)
  for await _ in never {}
  withExtendedLifetime(continuation) {}
}
