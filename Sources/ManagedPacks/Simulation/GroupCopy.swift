/// A copy of a group's folder, to play in: of its store, cache and journal, and of the override that counts. The group's own folder
/// stays as it is, to the byte; what is played ends with the copy. What else is there, files of apps and their own
/// downloads, is not played with, and not copied. A group that has no folder yet has an empty copy.
///
/// What is never written again, the segments and the indexes of a store, has a second name in the copy and is not copied, where the
/// file system has that; the rest is copied. A copy of a store is another store: it has its own lock, control file and cache folder.
package final class GroupCopy: Sendable {
  package let folder: GroupFolder
  private let root: FilePath
  /// Held as long as the copy is used: one whose lock is free was left by a process that was killed.
  private let lock: FileLock

  private static let prefix = ".packstore-simulation-"
  private static let lockName = "lock"
  /// A commit of another process in the middle of a copy makes it begin again.
  private static let tryLimit = 5

  /// Copies a group into a folder beside it.
  ///
  /// - Throws: `PackStoreError` `busy` when the group changes faster than it can be copied; `ioError`, `noSpace`.
  /// - Complexity: linear in the number of files, and in the bytes of what is not linked.
  package static func make(of group: GroupFolder) throws -> GroupCopy {
    var parent = group.path.removingLastComponent()
    // Nothing stays behind of a group that is not there yet.
    while !pathExists(parent), parent.lastComponent != nil { parent = parent.removingLastComponent() }
    sweep(parent)
    for _ in 0..<tryLimit {
      let copy = try GroupCopy(in: parent)
      if try copy.take(group) { return copy }
    }
    throw PackStoreError(.busy, "the group's store changes while it is copied")
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

  /// False: the group's store has changed meanwhile.
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

  /// The group's folder, and those of its overrides, relative to it.
  private static func homes(of group: GroupFolder) throws -> [String] {
    let overrides = try namesInFolder(group.overrides).filter { isFolder(group.overrides.appending($0)) }
    return [""] + overrides.sorted().map { "overrides/\($0)" }
  }

  /// What says at which generation a store is; empty: there is none.
  private static func control(_ store: String, of group: GroupFolder) throws -> [UInt8] {
    let folder = group.path.pushing(FilePath(store))
    guard pathExists(folder.appending("CONTROL")) else { return [] }
    return try InputFile("CONTROL", in: folder).contents(limit: 1 << 16)
  }

  /// What of a store is not copied: locks, and what processes have made for themselves.
  private static func isLeftOut(_ name: String) -> Bool {
    name.hasSuffix(".lock") || name.hasSuffix(".draft") || ["LOCK", "READERS"].contains(name)
  }

  private static func isLeftOut(folder name: String) -> Bool { name == "tmp" }

  /// Whether files of a folder are written once: of some in a store, and no others.
  private static func isWrittenOnce(folder name: String) -> Bool {
    let path = FilePath(name)
    return ["segments", "index", "tables"].contains(path.lastComponent?.string)
      && path.removingLastComponent().lastComponent?.string == "store"
  }

  /// What an agent works with, of the group's folder or of an override's.
  private func copyHome(_ home: String, of group: FilePath) throws {
    if !home.isEmpty { try makeFolder(folder.path.pushing(FilePath(home)), isSecret: true) }
    for item in try itemsInFolder(home, of: group) {
      guard let own = String(validating: item.name, as: UTF8.self) else { continue }
      let path = home.isEmpty ? own : "\(home)/\(own)"
      switch item.kind {
      case .folder where own == "store":
        try makeFolder(folder.path.pushing(FilePath(path)), isSecret: true)
        try copy(path, of: group)
      case .file where own == "journal" || own == "override" && home.isEmpty:
        let from = FilePlace(path, in: group), to = FilePlace(path, in: folder.path)
        try Self.copyFile(from, to, path: (path, group), links: false)
      case .folder, .file, .link, .other: continue
      }
    }
  }

  /// What lies in a store.
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
        throw PackStoreError(.notFound, "the file is gone", file: from.text)
      } catch {
        // Another file system, or one without links: it is copied.
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

  /// Ends the name that a store's own folder has in the cache folder, after its id: the inode of the store's folder, which a copy of
  /// it does not share.
  private static func cacheSuffix(ofStore path: FilePath) throws -> String {
    let digits = String(try inode(ofFolder: path), radix: 16)
    return "-" + String(repeating: "0", count: max(0, 16 - digits.count)) + digits
  }

  /// Gives a store's copy a cache folder of its own, with what lies in that of the store: else it would purge there.
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
          continue  // it may vanish at any moment
        }
      }
    }
    var transaction = try opened.makeTransaction()
    try transaction.setCacheFolder(ownCache, byteBudget: cache.byteBudget)
    _ = try transaction.commit()
  }
}
