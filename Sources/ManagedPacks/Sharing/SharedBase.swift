import PackStore

/// Data that several groups of one user have in common, stored once: hard links to the segments of their stores.
///
/// A group takes part only if the user named it. Its agent links each new segment into the base; a pull of another group links the
/// segment into its own store, after every chunk's SHA-256 was compared, and fetches nothing of it. Every store has a name for each
/// of its files. So no store depends on the base: without it, and after any damage to it, groups read and update as before, and
/// fetch from their sites.
///
/// The base is `packstore-shared` next to the folder of this user's groups. Only its owner can enter it.
///
/// | name | content |
/// |---|---|
/// | `groups/` | a file for each registered group, ``SharedGroup``, named by the SHA-256 of the path of the group's folder |
/// | `segments/` | hard links to data segments, named by their ids |
/// | `lock` | held while the base changes |
///
/// Only agents and `packstore share` write to the base. Members read files each time, so other processes may change them.
package struct SharedBase: Sendable {
  package let path: FilePath

  var segments: FilePath { path.appending("segments") }
  private var groupsFolder: FilePath { path.appending("groups") }

  /// The base of this user.
  ///
  /// - Throws: ``ManagedPacksError`` `groupFolder` if no home folder is set.
  package init(environment: [String: String]) throws {
    path = try GroupFolder.standardParent(environment).removingLastComponent().appending("packstore-shared")
  }

  // MARK: - Groups

  /// Returns the registered groups, sorted by folder. Skips records that are damaged, or that another user may have changed.
  ///
  /// - Throws: `PackStoreError` `ioError`; ``ManagedPacksError`` `newerJournal`.
  package func groups() throws -> [SharedGroup] { try records().compactMap(\.group).sorted { $0.folder < $1.folder } }

  /// The number of records that ``groups()`` skips.
  package var ignoredRecordCount: Int { get throws { try records().count { $0.group == nil } } }

  /// Whether a group takes part. Its record may be damaged.
  ///
  /// - Complexity: one file system lookup.
  package func contains(_ group: GroupFolder) -> Bool {
    pathExists(groupsFolder.appending(Self.recordName(Self.location(of: group))))
  }

  /// Registers a group. Its agent then shares its packs.
  ///
  /// - Throws: ``ManagedPacksError`` `groupFolder` if the group's folder and the base cannot have common files; `agent` if other users
  ///   can write to the base; `PackStoreError` `ioError`, `noSpace`.
  package func add(_ group: GroupFolder) throws {
    for folder in [path, groupsFolder, segments] { try makeFolder(folder, isSecret: true) }
    let location = Self.location(of: group)
    let lock = try takeLock()
    defer { withExtendedLifetime(lock) {} }
    try checkLinks(to: group)
    let name = Self.recordName(location)
    guard try read(name) == nil else { return }
    try write(SharedGroup(folder: location))
    do {
      _ = try OwnedFile(groupsFolder.appending(name))
    } catch {
      // No group would use the base.
      try? removeFile(FilePlace(name, in: groupsFolder))
      throw error
    }
  }

  /// Ends the part of a group, and deletes the segments that no other group needs from the base. The group keeps its files.
  ///
  /// - Returns: whether the group was registered.
  package func drop(_ group: GroupFolder) throws -> Bool {
    guard contains(group) else { return false }
    let lock = try takeLock()
    defer { withExtendedLifetime(lock) {} }
    try removeFile(FilePlace(Self.recordName(Self.location(of: group)), in: groupsFolder))
    try syncFolder(groupsFolder)
    try sweep()
    return true
  }

  /// Checks that a file of the base can have a second name in the group's folder.
  private func checkLinks(to group: GroupFolder) throws {
    let probe = FilePlace("probe.draft", in: path), second = FilePlace("probe.draft", in: group.path)
    try removeFile(probe)
    try removeFile(second)
    _ = try NewFile(probe, isSecret: true)
    defer {
      try? removeFile(probe)
      try? removeFile(second)
    }
    do {
      try linkFile(probe, to: second)
    } catch let error as PackStoreError where error.code == .ioError {
      throw ManagedPacksError(
        .groupFolder, "files of '\(path)' cannot be linked into the group's folder '\(group.path)' (\(error.finding))",
        remedy: "keep both on one file system that has hard links")
    }
  }

  // MARK: - Records

  /// A file of `groups/`; without a group if it cannot be used.
  struct Record {
    let name: String
    let group: SharedGroup?
  }

  func records() throws -> [Record] {
    guard pathExists(groupsFolder) else { return [] }
    return try namesInFolder(groupsFolder).filter { !$0.hasSuffix(".draft") }.map {
      Record(name: $0, group: try read($0))
    }
  }

  /// Returns `nil` for a missing or damaged record, and for a record that other users may have changed.
  private func read(_ name: String) throws -> SharedGroup? {
    let path = groupsFolder.appending(name)
    guard let file = try? OwnedFile(path) else { return nil }
    do {
      let group = try SharedGroup(decoding: InputFile(file.path).contents(limit: SharedGroup.byteCountLimit))
      return group.flatMap { Self.recordName($0.folder) == name ? $0 : nil }
    } catch let error as PackStoreError where [.notFound, .corrupt, .wrongKind].contains(error.code) {
      return nil
    }
  }

  func write(_ group: SharedGroup) throws {
    let name = Self.recordName(group.folder), draft = FilePlace("\(name).draft", in: groupsFolder)
    let file = try NewFile(draft, isSecret: true)
    try file.write(group.encode())
    try file.sync()
    try renameFile(draft, to: FilePlace(name, in: groupsFolder))
    try syncFolder(groupsFolder)
  }

  func remove(_ record: Record) throws { try removeFile(FilePlace(record.name, in: groupsFolder)) }

  /// The path that identifies a group: absolute and without links, so that all its processes agree.
  static func location(of group: GroupFolder) -> String { (resolvedPath(group.path) ?? group.path).string }

  private static func recordName(_ location: String) -> String {
    String(Digest256(hashing: Array(location.utf8)).hex.prefix(32))
  }

  /// - Parameter waits: whether to wait for another process, rather than fail with `busy`.
  func takeLock(waits: Bool = true) throws -> FileLock {
    try FileLock(FilePlace("lock", in: path), waits: waits, reason: "another process is changing the shared base")
  }
}
