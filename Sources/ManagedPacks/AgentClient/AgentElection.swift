#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The election of a group's agent: the process that holds the lock `agent.lock` of the group's folder. The system releases the
/// lock however the process ends, so a new agent can always be elected.
///
/// The lock file contains the process id for users to read; ``elected(in:)`` queries the system.
///
/// Only the elected process creates and removes `agent.socket`. A socket that exists at its election was left by an agent that has
/// ended.
package struct AgentElection: ~Copyable {
  private static let lockName = "agent.lock"
  private static let socketName = "agent.socket"
  private let lock: FileLock
  private let folder: GroupFolder

  /// - Throws: `PackStoreError` `busy` if another process is the agent.
  package init(in folder: GroupFolder) throws {
    let lock = try FileLock(
      FilePlace(Self.lockName, in: folder.path), waits: false, reason: "another process is the agent of the group")
    // On a full disk an agent is most useful: it then works without the text in the file.
    try? lock.write("\(getpid())")
    lock.identifyHolder()
    self.lock = lock
    self.folder = folder
  }

  /// Returns the agent's process id according to the system; `nil` if no process is the agent, or the system does not report it.
  ///
  /// The text in the lock file is only for users: any app of the group can write another number into it.
  static func elected(in folder: GroupFolder) -> pid_t? { FileLock.holder(of: FilePlace(lockName, in: folder.path)) }

  /// Returns the place of the agent's socket.
  package static func place(in folder: GroupFolder) -> SocketPlace { SocketPlace(socketName, in: folder.path) }

  /// Creates the agent's socket, after removing an earlier agent's.
  package func listen() throws -> LocalSocket {
    try removeSocket()
    return try LocalSocket.listen(at: Self.place(in: folder))
  }

  package func removeSocket() throws { try removeFile(FilePlace(Self.socketName, in: folder.path)) }
}
