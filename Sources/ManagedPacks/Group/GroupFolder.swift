#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The folder that the apps of a group share: `$XDG_DATA_HOME/packstore/GROUP`, or `~/.local/share/packstore/GROUP`. Only its
/// owner can enter it.
///
/// | name | what |
/// |---|---|
/// | `store/` | the store with the packs |
/// | `cache/` | large assets that the store keeps decoded |
/// | `views/` | what ``AssetPackManager/url(for:)`` made: a folder for each process |
/// | `journal` | what was asked for and has not come: ``Journal`` |
/// | `journal.lock` | held while a process changes the journal |
/// | `agent.lock` | held by the group's agent: ``AgentElection`` |
/// | `agent.socket` | where it listens |
package struct GroupFolder: Sendable {
  package let path: FilePath

  package var store: FilePath { path.appending("store") }
  package var cache: FilePath { path.appending("cache") }
  package var views: FilePath { path.appending("views") }

  /// Makes the folder where there is none.
  ///
  /// - Throws: ``ManagedPacksError`` `groupFolder` for one that others can enter, or that is another user's.
  package init(of configuration: ManagedConfiguration, environment: [String: String]) throws {
    try self.init(configuration.groupFolder ?? Self.standardPath(configuration.appGroupID, environment))
  }

  /// The standard folder of a group.
  package init(of group: PackID, environment: [String: String]) throws {
    try self.init(Self.standardPath(group, environment))
  }

  /// A folder that a person named.
  package init(_ path: FilePath) throws {
    self.path = path
    do {
      try makeFolder(path, isSecret: true)
    } catch let error as PackStoreError {
      throw Self.error(
        path, "cannot be made (\(error.finding))", "see who may write there, or set PackStoreGroupFolder")
    }
    var status = stat()
    let isKnown = path.withPlatformString { stat($0, &status) } == 0
    guard isKnown, status.st_mode & S_IFMT == S_IFDIR else {
      throw Self.error(path, "is no folder", "move away what is there")
    }
    guard status.st_uid == geteuid() else {
      throw Self.error(path, "belongs to another user", "set PackStoreGroupFolder to a folder of this user's own")
    }
    guard status.st_mode & 0o077 == 0 else {
      throw Self.error(path, "is open to other users", "call chmod 700 on it, if they have changed nothing there")
    }
  }

  private static func standardPath(_ group: PackID, _ environment: [String: String]) throws -> FilePath {
    // What is relative there counts as not set, as the XDG specification has it.
    if let data = environment["XDG_DATA_HOME"].map({ FilePath($0) }), data.isAbsolute {
      return data.appending("packstore").appending(group.name)
    }
    guard let home = environment["HOME"].map({ FilePath($0) }), home.isAbsolute else {
      throw ManagedPacksError(
        .groupFolder, "there is no home folder for the group '\(group)'",
        remedy: "set HOME or XDG_DATA_HOME, or PackStoreGroupFolder in the property list")
    }
    return home.appending(".local/share/packstore").appending(group.name)
  }

  private static func error(_ path: FilePath, _ fault: String, _ remedy: String) -> ManagedPacksError {
    ManagedPacksError(.groupFolder, "the group's folder '\(path)' \(fault)", remedy: remedy)
  }
}
