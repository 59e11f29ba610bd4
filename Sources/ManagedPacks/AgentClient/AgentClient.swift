import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// An app's access to the agent of its group. Every call may fail: the agent is optional, and the app continues without it.
package struct AgentClient: Sendable {
  /// The time an app waits for an agent while it cannot do other work.
  package static let patience = Duration.seconds(5)

  private let folder: GroupFolder
  private let place: SocketPlace
  private let credentials: PeerCredentials.Reader

  package init(in folder: GroupFolder, credentials: @escaping PeerCredentials.Reader = PeerCredentials.system) {
    self.folder = folder
    place = AgentElection.place(in: folder)
    self.credentials = credentials
  }

  /// Connects to the agent. Returns `nil` if no agent exists, or it belongs to another user.
  ///
  /// - Throws: ``LocalSocket/IsFull`` if the agent is busy.
  package func connect() throws -> AgentConnection? {
    guard pathExists(place.path), let socket = try LocalSocket.connect(to: place) else { return nil }
    guard let peer = credentials(socket.number), peer.user == geteuid() else { return nil }
    return AgentConnection(socket)
  }

  /// Notifies the agent, if one exists, that the journal has changed. Returns at once.
  package func refresh() {
    guard let connection = try? connect(),
      let frame = try? MessageFrames.frame(AgentRequest.refresh.encode())
    else { return }
    // The frame fits into the socket's buffer. The agent reads it later, even after this end was closed.
    _ = try? connection.socket.write(frame[...])
  }

  /// Returns whether an agent exists and sends no reply within `limit`. Blocks.
  ///
  /// An agent that ends, or sends an invalid reply, is not silent.
  func isSilent(within limit: Duration) -> Bool {
    let clock = ContinuousClock(), end = clock.now + limit
    do {
      guard let connection = try connect() else { return false }
      do {
        _ = try connection.exchange(.status, within: limit)
        return false
      } catch is AgentSilence {
        return true
      }
    } catch is LocalSocket.IsFull {
      // Many connections may wait to be accepted; a stopped agent accepts none of them.
      while clock.now < end {
        usleep(20_000)
        guard isFull else { return false }
      }
      return true
    } catch {
      return false
    }
  }

  /// Kills the current agent's process, if the system reports one. Another app of the group cannot direct the signal to a process
  /// of its choice.
  func killAgent() {
    guard let process = AgentElection.elected(in: folder), let handle = ProcessHandle.open(process),
      // The process of the handle had the lock before, so the number still refers to the same process.
      AgentElection.elected(in: folder) == process
    else { return }
    handle.kill()
  }

  private var isFull: Bool {
    do {
      _ = try connect()
      return false
    } catch {
      return error is LocalSocket.IsFull
    }
  }
}

/// The error for an agent that did not answer in time and is still connected.
package struct AgentSilence: Error {}

/// A connection to an agent. Packs that the agent hands over belong to the app until the connection is closed.
package final class AgentConnection: Sendable {
  let socket: LocalSocket

  init(_ socket: LocalSocket) { self.socket = socket }

  /// Sends a request, and waits for the reply on a thread that may block.
  ///
  /// - Parameter limit: the time limit; `nil` to wait until the agent answers or disconnects.
  /// - Returns: `nil` if the connection has ended, or the reply is invalid.
  /// - Throws: ``AgentSilence``, `CancellationError`.
  package func ask(_ request: AgentRequest, within limit: Duration?) async throws -> AgentReply? {
    do {
      return try await withTaskCancellationHandler {
        try await BlockingExecutor.run { try self.exchange(request, within: limit) }
      } onCancel: {
        socket.shutDown()
      }
    } catch {
      try Task.checkCancellation()
      if error is AgentSilence { throw error }
      return nil
    }
  }

  /// Sends a request and blocks the calling thread until the reply.
  fileprivate func exchange(_ request: AgentRequest, within limit: Duration?) throws -> AgentReply? {
    let clock = ContinuousClock(), end = limit.map { clock.now + $0 }
    var output = try MessageFrames.frame(request.encode())[...], frames = MessageFrames()
    while true {
      if !output.isEmpty { output = output.dropFirst(try socket.write(output)) }
      if let message = try frames.next() { return try AgentReply(decoding: message) }
      var left: Int32 = -1
      if let end {
        left = Int32(min(max(((end - clock.now) / .milliseconds(1)).rounded(.up), 0), 60_000))
        guard left > 0 else { throw AgentSilence() }
      }
      var entries = [
        pollfd(fd: socket.number, events: Int16(POLLIN | (output.isEmpty ? 0 : POLLOUT)), revents: 0)
      ]
      guard systemPoll(&entries, left) > 0 else { continue }
      guard let bytes = try socket.read(upTo: frames.room) else { continue }
      guard !bytes.isEmpty else { return nil }
      frames.append(bytes)
    }
  }
}
