#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The folder that the apps of a group share: `$XDG_DATA_HOME/packstore/GROUP`, or `~/.local/share/packstore/GROUP`. Only its owner
/// can enter it.
///
/// | name | content |
/// |---|---|
/// | `store/` | the store with the packs |
/// | `cache/` | decoded copies of large assets |
/// | `archives/` | partial downloads of archives that a download manifest lists: a folder for each pack |
/// | `container/` | files of apps: `FileManager.containerURL(forSecurityApplicationGroupIdentifier:)` |
/// | `views/` | files of ``AssetPackManager/url(for:)``: a folder for each process |
/// | `journal` | open requests and installed packs: ``Journal`` |
/// | `journal.lock` | held while a process changes the journal |
/// | `agent.lock` | held by the group's agent: ``AgentElection`` |
/// | `agent.socket` | the agent's socket |
/// | `override` | another base for a limited time: ``URLOverride`` |
/// | `overrides/` | a folder for each such base, with its own store, cache, views and journal |
package struct GroupFolder: Sendable {
  /// The folder that was named, with the agent's files and the override.
  package let path: FilePath

  /// The folder with store, cache, views and journal: ``path``, or the folder of an override.
  package private(set) var home: FilePath

  package var store: FilePath { home.appending("store") }
  package var cache: FilePath { home.appending("cache") }
  package var views: FilePath { home.appending("views") }
  /// The folder for files of apps; an override does not replace it.
  var container: FilePath { path.appending("container") }
  var archives: FilePath { home.appending("archives") }
  var overrides: FilePath { path.appending("overrides") }

  /// Returns the folder to use with an override; creates it if it is missing. With `nil`, returns the folder without an override.
  ///
  /// - Parameter makes: whether to create a missing folder.
  package func under(_ override: URLOverride?, makes: Bool = true) throws -> Self {
    var folder = self
    folder.home = path
    guard let override else { return folder }
    folder.home = overrides.appending(override.folderName)
    if makes { try makeFolder(folder.home, isSecret: true) }
    return folder
  }

  /// Opens the folder of a configuration, and creates it if it is missing.
  ///
  /// - Parameter makes: whether to create a missing folder.
  /// - Throws: ``ManagedPacksError`` `groupFolder` if other users can enter the folder, or it belongs to another user.
  package init(of configuration: ManagedConfiguration, environment: [String: String], makes: Bool = true) throws {
    try self.init(
      configuration.groupFolder ?? Self.standardPath(configuration.appGroupID, environment), makes: makes)
  }

  /// Opens the standard folder of a group.
  package init(of group: PackID, environment: [String: String], makes: Bool = true) throws {
    try self.init(Self.standardPath(group, environment), makes: makes)
  }

  /// Opens the folder at a path.
  package init(_ path: FilePath, makes: Bool = true) throws {
    self.path = path
    home = path
    guard makes || pathExists(path) else { return }
    do {
      try makeFolder(path, isSecret: true)
    } catch let error as PackStoreError {
      throw Self.error(
        path, "cannot be created (\(error.finding))", "check the permissions, or set PackStoreGroupFolder")
    }
    var status = stat()
    let isKnown = path.withPlatformString { stat($0, &status) } == 0
    guard isKnown, status.st_mode & S_IFMT == S_IFDIR else {
      throw Self.error(path, "is not a folder", "move the file away")
    }
    guard status.st_uid == geteuid() else {
      throw Self.error(path, "belongs to another user", "set PackStoreGroupFolder to a folder of this user")
    }
    guard status.st_mode & 0o077 == 0 else {
      throw Self.error(path, "is accessible to other users", "check its contents, then run 'chmod 700' on it")
    }
  }

  private static func standardPath(_ group: PackID, _ environment: [String: String]) throws -> FilePath {
    try standardParent(environment).appending(group.name)
  }

  /// Returns the folder for this user's groups without a configured folder.
  package static func standardParent(_ environment: [String: String]) throws -> FilePath {
    // A relative path counts as not set, as in the XDG specification.
    if let data = environment["XDG_DATA_HOME"].map({ FilePath($0) }), data.isAbsolute {
      return data.appending("packstore")
    }
    guard let home = environment["HOME"].map({ FilePath($0) }), home.isAbsolute else {
      throw ManagedPacksError(
        .groupFolder, "no home folder for groups is set",
        remedy: "set HOME or XDG_DATA_HOME, or PackStoreGroupFolder in the property list")
    }
    return home.appending(".local/share").appending("packstore")
  }

  /// Returns whether two paths lead to the same folder, even if it does not exist yet.
  func isSame(as other: Self) -> Bool { Self.resolved(path) == Self.resolved(other.path) }

  /// Returns the path with the links of its existing part resolved.
  private static func resolved(_ path: FilePath) -> FilePath {
    if let path = resolvedPath(path) { return path }
    guard let last = path.lastComponent else { return resolvedPath(".") ?? path }
    return resolved(path.removingLastComponent()).appending(last.string)
  }

  private static func error(_ path: FilePath, _ fault: String, _ remedy: String) -> ManagedPacksError {
    ManagedPacksError(.groupFolder, "the group's folder '\(path)' \(fault)", remedy: remedy)
  }
}
