#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Which process is the agent of a group: the one that holds the lock `agent.lock` of the group's folder. The system releases it
/// however the process ends, so that there is no state in which none can be elected.
///
/// The lock file contains the number of the elected process, for people; ``elected(in:)`` asks the system.
///
/// The elected process alone makes and removes the name `agent.socket`: what has the name when it is elected was left by one that
/// is gone.
package struct AgentElection: ~Copyable {
  private static let lockName = "agent.lock"
  private static let socketName = "agent.socket"
  private let lock: FileLock
  private let folder: GroupFolder

  /// - Throws: `PackStoreError` `busy` when another process is the agent.
  package init(in folder: GroupFolder) throws {
    let lock = try FileLock(
      FilePlace(Self.lockName, in: folder.path), waits: false, reason: "another process is the agent of the group")
    // On a full disk an agent is needed most: then the file says nothing of it.
    try? lock.write("\(getpid())")
    lock.identifyHolder()
    self.lock = lock
    self.folder = folder
  }

  /// The agent's process according to the system; `nil` if no process is the agent, or the system does not report it.
  ///
  /// The text in the lock file is for people: any app of the group can write another number into it.
  static func elected(in folder: GroupFolder) -> pid_t? { FileLock.holder(of: FilePlace(lockName, in: folder.path)) }

  /// Where the agent listens.
  package static func place(in folder: GroupFolder) -> SocketPlace { SocketPlace(socketName, in: folder.path) }

  /// Listens; what an agent before this one left goes.
  package func listen() throws -> LocalSocket {
    try removeSocket()
    return try LocalSocket.listen(at: Self.place(in: folder))
  }

  package func removeSocket() throws { try removeFile(FilePlace(Self.socketName, in: folder.path)) }
}
