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
/// | `override` | another base for a while: ``URLOverride`` |
/// | `overrides/` | for each such base a folder that has what is above, but for the agent |
package struct GroupFolder: Sendable {
  /// What was named, where the agent and the override are.
  package let path: FilePath

  /// Where store, cache, views and journal are: ``path``, or the folder of an override.
  package private(set) var home: FilePath

  package var store: FilePath { home.appending("store") }
  package var cache: FilePath { home.appending("cache") }
  package var views: FilePath { home.appending("views") }
  var overrides: FilePath { path.appending("overrides") }

  /// The folder that counts while an override does, which is made where there is none; nil: none does.
  ///
  /// - Parameter makes: false: it may be missing.
  package func under(_ override: URLOverride?, makes: Bool = true) throws -> Self {
    var folder = self
    folder.home = path
    guard let override else { return folder }
    folder.home = overrides.appending(override.folderName)
    if makes { try makeFolder(folder.home, isSecret: true) }
    return folder
  }

  /// Makes the folder where there is none.
  ///
  /// - Parameter makes: false: the folder may be missing, and is not made.
  /// - Throws: ``ManagedPacksError`` `groupFolder` for one that others can enter, or that is another user's.
  package init(of configuration: ManagedConfiguration, environment: [String: String], makes: Bool = true) throws {
    try self.init(
      configuration.groupFolder ?? Self.standardPath(configuration.appGroupID, environment), makes: makes)
  }

  /// The standard folder of a group.
  package init(of group: PackID, environment: [String: String], makes: Bool = true) throws {
    try self.init(Self.standardPath(group, environment), makes: makes)
  }

  /// A folder that a person named.
  package init(_ path: FilePath, makes: Bool = true) throws {
    self.path = path
    home = path
    guard makes || pathExists(path) else { return }
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
    try standardParent(environment).appending(group.name)
  }

  /// Where the groups of this user are that have no other place.
  package static func standardParent(_ environment: [String: String]) throws -> FilePath {
    // What is relative there counts as not set, as the XDG specification has it.
    if let data = environment["XDG_DATA_HOME"].map({ FilePath($0) }), data.isAbsolute {
      return data.appending("packstore")
    }
    guard let home = environment["HOME"].map({ FilePath($0) }), home.isAbsolute else {
      throw ManagedPacksError(
        .groupFolder, "there is no home folder for groups",
        remedy: "set HOME or XDG_DATA_HOME, or PackStoreGroupFolder in the property list")
    }
    return home.appending(".local/share").appending("packstore")
  }

  /// Whether two names lead to one folder, also of one that is not there yet.
  func isSame(as other: Self) -> Bool { Self.resolved(path) == Self.resolved(other.path) }

  /// Without links, as far as there is anything.
  private static func resolved(_ path: FilePath) -> FilePath {
    if let path = resolvedPath(path) { return path }
    guard let last = path.lastComponent else { return resolvedPath(".") ?? path }
    return resolved(path.removingLastComponent()).appending(last.string)
  }

  private static func error(_ path: FilePath, _ fault: String, _ remedy: String) -> ManagedPacksError {
    ManagedPacksError(.groupFolder, "the group's folder '\(path)' \(fault)", remedy: remedy)
  }
}
