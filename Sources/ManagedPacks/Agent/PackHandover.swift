import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Gets a pack from the agent that the app pulls itself, if the agent is at the same version: then the pull waits, and says so.
///
/// ```
///  idle --the pull waits--> asking --the agent has stopped--> the app's
///                              |
///                              +--no word in time, and the pull still waits--> the agent is killed
/// ```
/// The pack is the app's as long as the connection is open: until ``end()``, or the app's own end.
final class PackHandover: Sendable {
  private struct State {
    var task: Task<Void, Never>?
    var isWaiting = false
    var isOver = false
  }

  private let pack: PackID
  private let agent: AgentClient?
  private let patience: Duration
  private let state = Mutex(State())

  /// - Parameter agent: nil: there is none to ask.
  init(of pack: PackID, by agent: AgentClient?, patience: Duration = AgentClient.patience) {
    self.pack = pack
    self.agent = agent
    self.patience = patience
  }

  /// What the pull is doing.
  func note(_ phase: Store.PullProgress.Phase) {
    state.withLock { state in
      state.isWaiting = phase == .wait
      guard state.isWaiting, state.task == nil, !state.isOver, let agent else { return }
      state.task = Task { await self.ask(agent) }
    }
  }

  /// The pull is over.
  func end() {
    state.withLock { state in
      state.isOver = true
      state.isWaiting = false
      state.task?.cancel()
    }
  }

  private var isWaiting: Bool { state.withLock { $0.isWaiting } }

  private func ask(_ agent: AgentClient) async {
    guard let connection = try? agent.connect() else { return }
    await withTaskGroup { group in
      group.addTask {
        // However long it takes: a commit that has begun goes on to its end.
        guard case .done? = try? await connection.ask(.handOver(self.pack), within: nil) else { return }
        await untilCancelled()
      }
      group.addTask { await self.watch(agent) }
      await group.waitForAll()
    }
    withExtendedLifetime(connection) {}
  }

  /// Sees to it that an agent which answers nothing keeps nothing.
  private func watch(_ agent: AgentClient) async {
    while !Task.isCancelled, isWaiting {
      guard let probe = try? agent.connect(), let process = probe.process else { return }
      do {
        // An agent that ends by itself, or has no room for one more, is none that hangs.
        guard case .status = try await probe.ask(.status, within: patience) else { return }
        try await ContinuousClock().sleep(for: patience)
      } catch is AgentSilence {
        if !Task.isCancelled, isWaiting { kill(process, SIGKILL) }
        return
      } catch {
        return
      }
    }
  }
}

/// Returns when the task is cancelled.
private func untilCancelled() async {
  let (never, continuation) = AsyncStream.makeStream(of: Never.self)
  for await _ in never {}
  withExtendedLifetime(continuation) {}
}
