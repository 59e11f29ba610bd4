/// A copy of a group's folder for a simulation: its stores, caches and journals, and its override. The group's own folder does not
/// change in any byte; the results of the simulation are deleted with the copy. The lists of apps' own downloads are copied with
/// their partial files. Other contents of the folder, such as files of apps, are not. If the group has no folder yet, the copy is
/// empty.
///
/// Immutable files, the segments and indexes of a store, are hard links if the file system supports them; other files are copied.
/// The copy of a store is a separate store with its own lock, control file and cache folder.
package final class GroupCopy: Sendable {
  package let folder: GroupFolder
  private let root: FilePath
  /// Held while the copy is used. A copy whose lock is free belongs to a process that was killed.
  private let lock: FileLock

  private static let prefix = ".packstore-simulation-"
  private static let lockName = "lock"
  /// The number of attempts: a commit of another process during a copy requires a new attempt.
  private static let tryLimit = 5

  /// Copies a group into a folder next to it.
  ///
  /// - Throws: `PackStoreError` `busy` if the group changes faster than it can be copied; `ioError`, `noSpace`.
  /// - Complexity: linear in the number of files, and in the bytes of files that are not linked.
  package static func make(of group: GroupFolder) throws -> GroupCopy {
    var parent = group.path.removingLastComponent()
    // No folder may remain if the group does not exist yet.
    while !pathExists(parent), parent.lastComponent != nil { parent = parent.removingLastComponent() }
    sweep(parent)
    for _ in 0..<tryLimit {
      let copy = try GroupCopy(in: parent)
      if try copy.take(group) { return copy }
    }
    throw PackStoreError(.busy, "the group's store changed while it was copied")
  }

  private init(in parent: FilePath) throws {
    root = parent.appending("\(Self.prefix)\(UInt64.random(in: 0 ... .max))")
    try makeFolder(root, isSecret: true)
    lock = try FileLock(FilePlace(Self.lockName, in: root), waits: false, reason: "another process has this copy")
    folder = try GroupFolder(root.appending("group"))
  }

  deinit { removeTree(root) }

  private static func sweep(_ parent: FilePath) {
    for name in (try? namesInFolder(parent)) ?? [] where name.hasPrefix(prefix) {
      let place = FilePlace(lockName, in: parent.appending(name))
      guard pathExists(parent.appending(name).appending(lockName)),
        (try? FileLock(place, waits: false, reason: "in use")) != nil
      else { continue }
      removeTree(parent.appending(name))
    }
  }

  // MARK: - Copying

  /// Copies the group. Returns false if its store changed during the copy.
  private func take(_ group: GroupFolder) throws -> Bool {
    guard pathExists(group.path) else { return true }
    let homes = try Self.homes(of: group)
    let stores = homes.map { $0.isEmpty ? "store" : "\($0)/store" }
    let before = try stores.map { try Self.control($0, of: group) }
    do {
      for home in homes { try copyHome(home, of: group.path) }
    } catch let error as PackStoreError where error.code == .notFound {
      return false
    }
    guard try stores.map({ try Self.control($0, of: group) }) == before else { return false }
    for store in stores where pathExists(folder.path.pushing(FilePath(store)).appending("CONTROL")) {
      try takeCache(of: store, group)
    }
    return true
  }

  /// Returns the group's folder and the folders of its overrides, as relative paths.
  private static func homes(of group: GroupFolder) throws -> [String] {
    let overrides = try namesInFolder(group.overrides).filter { isFolder(group.overrides.appending($0)) }
    return [""] + overrides.sorted().map { "overrides/\($0)" }
  }

  /// Returns the control file of a store, which records its generation; empty if the store does not exist.
  private static func control(_ store: String, of group: GroupFolder) throws -> [UInt8] {
    let folder = group.path.pushing(FilePath(store))
    guard pathExists(folder.appending("CONTROL")) else { return [] }
    return try InputFile("CONTROL", in: folder).contents(limit: 1 << 16)
  }

  /// Returns whether a file of a store is excluded: locks and drafts of running processes.
  private static func isLeftOut(_ name: String) -> Bool {
    name.hasSuffix(".lock") || name.hasSuffix(".draft") || ["LOCK", "READERS"].contains(name)
  }

  private static func isLeftOut(folder name: String) -> Bool { name == "tmp" }

  /// Returns whether the files of a folder are immutable, which applies only to some folders of a store.
  private static func isWrittenOnce(folder name: String) -> Bool {
    let path = FilePath(name)
    return ["segments", "index", "tables"].contains(path.lastComponent?.string)
      && path.removingLastComponent().lastComponent?.string == "store"
  }

  /// Copies the files that an agent uses, from the group's folder or an override's.
  private func copyHome(_ home: String, of group: FilePath) throws {
    if !home.isEmpty { try makeFolder(folder.path.pushing(FilePath(home)), isSecret: true) }
    for item in try itemsInFolder(home, of: group) {
      guard let own = String(validating: item.name, as: UTF8.self) else { continue }
      let path = home.isEmpty ? own : "\(home)/\(own)"
      switch item.kind {
      case .folder where own == "store":
        try makeFolder(folder.path.pushing(FilePath(path)), isSecret: true)
        try copy(path, of: group)
      case .folder where own == DownloadFolder.name && home.isEmpty: try copyDownloads(of: group)
      case .file where own == "journal" || own == "override" && home.isEmpty:
        let from = FilePlace(path, in: group), to = FilePlace(path, in: folder.path)
        try Self.copyFile(from, to, path: (path, group), links: false)
      case .folder, .file, .link, .other: continue
      }
    }
  }

  /// Copies the lists of apps' own downloads, their partial files, and their complete files that no callback has received.
  private func copyDownloads(of group: FilePath) throws {
    for folder in try DownloadFolder.all(in: group) {
      guard let app = folder.path.lastComponent?.string else { continue }
      let home = "\(DownloadFolder.name)/\(app)"
      for part in ["parts", "ready"] {
        try makeFolder(self.folder.path.pushing(FilePath("\(home)/\(part)")), isSecret: true)
      }
      for name in ["", "parts", "ready"] {
        let from = name.isEmpty ? home : "\(home)/\(name)"
        for item in try itemsInFolder(from, of: group) {
          guard case .file = item.kind, let own = String(validating: item.name, as: UTF8.self), !Self.isLeftOut(own)
          else { continue }
          let path = "\(from)/\(own)"
          try Self.copyFile(
            FilePlace(path, in: group), FilePlace(path, in: self.folder.path), path: (path, group), links: false)
        }
      }
    }
  }

  /// Copies the contents of a store.
  private func copy(_ name: String, of group: FilePath) throws {
    for item in try itemsInFolder(name, of: group) {
      guard let own = String(validating: item.name, as: UTF8.self) else { continue }
      let path = "\(name)/\(own)"
      switch item.kind {
      case .folder:
        try makeFolder(folder.path.pushing(FilePath(path)), isSecret: true)
        if !Self.isLeftOut(folder: own) { try copy(path, of: group) }
      case .file where !Self.isLeftOut(own):
        let from = FilePlace(path, in: group), to = FilePlace(path, in: folder.path)
        try Self.copyFile(from, to, path: (path, group), links: Self.isWrittenOnce(folder: name))
      case .file, .link, .other: continue
      }
    }
  }

  private static func copyFile(
    _ from: FilePlace, _ to: FilePlace, path: (name: String, folder: FilePath), links: Bool
  ) throws {
    if links {
      do {
        return try linkFile(from, to: to)
      } catch let error as PackStoreError where error.systemError == .noSuchFileOrDirectory {
        throw PackStoreError(.notFound, "no longer exists", file: from.text)
      } catch {
        // Another file system, or one without links: the file is copied below.
      }
    }
    let file = try InputFile(path.name, in: path.folder)
    let new = try NewFile(to, isSecret: true)
    let pieceByteCount = 1 << 20
    var offset: UInt64 = 0
    while true {
      let bytes = try file.bytes(at: offset, upTo: pieceByteCount)
      guard !bytes.isEmpty else { return }
      try new.write(bytes)
      offset += UInt64(bytes.count)
    }
  }

  /// Returns the end of the name of a store's folder in the cache folder, after the store's id: the inode of the store's folder,
  /// which differs in a copy.
  private static func cacheSuffix(ofStore path: FilePath) throws -> String {
    let digits = String(try inode(ofFolder: path), radix: 16)
    return "-" + String(repeating: "0", count: max(0, 16 - digits.count)) + digits
  }

  /// Creates a cache folder for the copy, with the contents of the store's cache folder. Otherwise the copy would purge the store's
  /// cache.
  private func takeCache(of store: String, _ group: GroupFolder) throws {
    let copied = folder.path.pushing(FilePath(store)), real = group.path.pushing(FilePath(store))
    let opened = try Store(at: copied)
    guard let cache = try opened.makeSnapshot().cacheFolder else { return }
    let ownCache = copied.removingLastComponent().appending("cache")
    let suffix = try Self.cacheSuffix(ofStore: real), ownSuffix = try Self.cacheSuffix(ofStore: copied)
    for name in try namesInFolder(cache.path) where name.hasSuffix(suffix) {
      let ownName = String(name.dropLast(suffix.count)) + ownSuffix
      let target = ownCache.appending(ownName).appending("segments")
      try makeFolder(target, isSecret: true)
      for segment in try namesInFolder(cache.path.appending(name).appending("segments")) {
        let path = "\(name)/segments/\(segment)"
        do {
          try Self.copyFile(
            FilePlace(path, in: cache.path), FilePlace(segment, in: target), path: (path, cache.path), links: true)
        } catch let error as PackStoreError where error.code == .notFound {
          continue  // a purge may delete it at any time
        }
      }
    }
    var transaction = try opened.makeTransaction()
    try transaction.setCacheFolder(ownCache, byteBudget: cache.byteBudget)
    _ = try transaction.commit()
  }
}
