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
/// The file of the lock has the number of the process that is elected.
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
    self.lock = lock
    self.folder = folder
  }

  /// The process that was elected last; nil: none was.
  static func lastElected(in folder: GroupFolder) -> pid_t? {
    guard let text = try? InputFile(lockName, in: folder.path).contents(limit: FileLock.textByteCountLimit),
      let number = pid_t(String(decoding: text, as: UTF8.self).trimmingCharacters(in: .whitespaces)), number > 1
    else { return nil }
    return number
  }

  /// Where the agent listens.
  package static func place(in folder: GroupFolder) -> SocketPlace { SocketPlace(socketName, in: folder.path) }

  /// Listens; what an agent before this one left goes.
  package func listen() throws -> LocalSocket {
    try removeSocket()
    return try LocalSocket.listen(at: Self.place(in: folder))
  }

  package func removeSocket() throws { try removeFile(FilePlace(Self.socketName, in: folder.path)) }
}
