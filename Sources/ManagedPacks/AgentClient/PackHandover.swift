import Synchronization

/// Takes a pack over from the agent if the app's pull waits because the agent downloads the same version.
///
/// ```
///  idle --the pull waits--> asking --the agent has ended its download--> the app's
///   ^                         |
///   +-- the agent has ended --+
/// ```
/// The pack belongs to the app while the connection is open: until ``end()``, or until the app ends.
final class PackHandover: Sendable {
  private struct State {
    var task: Task<Void, Never>?
    var isOver = false
  }

  private let pack: PackID
  private let agent: AgentClient?
  private let state = Mutex(State())

  /// - Parameter agent: `nil` if the app uses no agent.
  init(of pack: PackID, by agent: AgentClient?) {
    self.pack = pack
    self.agent = agent
  }

  /// Records the phase of the pull.
  func note(_ phase: Store.PullProgress.Phase) {
    state.withLock { state in
      guard phase == .wait, state.task == nil, !state.isOver, let agent else { return }
      state.task = Task {
        await self.ask(agent)
        // Another agent may be downloading the pack by then.
        self.state.withLock { $0.task = nil }
      }
    }
  }

  /// Ends the handover after the pull.
  func end() {
    state.withLock { state in
      state.isOver = true
      state.task?.cancel()
    }
  }

  private func ask(_ agent: AgentClient) async {
    guard let connection = try? agent.connect() else { return }
    // No time limit: a commit under way must complete. An `AgentWatch` handles an agent that does not respond.
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
