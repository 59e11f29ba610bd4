import Synchronization

/// Plain files and folders with copies of assets, for callers that need a path. The folder belongs to this process; the next
/// process of the group removes it after this one has ended.
///
/// Created files never change: after an update, the same path yields new files.
final class ViewFolder: Sendable {
  private let folder: FilePath
  /// Locked until the process ends.
  private let lock: FileLock
  private let made: Mutex<CreatedFolders> = Mutex(CreatedFolders())

  private struct CreatedFolders {
    var paths: [Key: FilePath] = [:]
    /// The name of the next folder. Each attempt has its own, so that it does not find the remains of another.
    var nextNumber = 0
  }

  private struct Key: Hashable {
    let path: String
    let pack: PackID?
    let versions: [PackVersion]
  }

  /// - Parameter parent: the folder for the folders of all processes.
  init(in parent: FilePath) throws {
    try makeFolder(parent, isSecret: true)
    Self.sweep(parent)
    (folder, lock) = try Self.make(in: parent)
    try makeFolder(folder, isSecret: true)
  }

  private static let prefix = "view-"
  private static let lockSuffix = ".lock"

  /// Returns the name of a folder of views from the name of its lock; `nil` if ``make(in:)`` never writes such a name.
  ///
  /// Any app of the group can create files next to the folders, so no other name may lead to a deletion.
  static func folderName(ofLock lockName: String) -> String? {
    guard lockName.hasPrefix(prefix), lockName.hasSuffix(lockSuffix) else { return nil }
    let digits = lockName.dropFirst(prefix.count).dropLast(lockSuffix.count)
    guard let number = UInt64(digits), "\(number)" == digits else { return nil }
    return prefix + digits
  }

  private static func make(in parent: FilePath) throws -> (FilePath, FileLock) {
    while true {
      let name = "\(prefix)\(UInt64.random(in: 0 ... .max))", lockName = name + lockSuffix
      do {
        let lock = try FileLock(
          FilePlace(lockName, in: parent), waits: false, reason: "another process is examining it")
        // A process that swept between the creation and the locking of the file has removed it.
        if pathExists(parent.appending(lockName)) { return (parent.appending(name), lock) }
      } catch let error as PackStoreError where error.code == .busy {}
    }
  }

  /// Removes the folders of processes that have ended.
  private static func sweep(_ parent: FilePath) {
    for lockName in (try? namesInFolder(parent)) ?? [] {
      guard let name = folderName(ofLock: lockName) else { continue }
      guard let lock = try? FileLock(FilePlace(lockName, in: parent), waits: false, reason: "in use") else { continue }
      removeTree(parent.appending(name))
      try? removeFile(FilePlace(lockName, in: parent))
      withExtendedLifetime(lock) {}
    }
  }

  /// Returns the path of a plain file with an asset's bytes, or of a folder with its contents.
  func path(of name: String, pack: PackID?, in snapshot: Snapshot) throws -> FilePath {
    let key = Key(path: name, pack: pack, versions: snapshot.packs.map(\.version))
    return try made.withLock { made in
      if let path = made.paths[key] { return path }
      let target = folder.appending("\(made.nextNumber)")
      made.nextNumber += 1
      do {
        let path = try make(name, pack, in: snapshot, target)
        made.paths[key] = path
        return path
      } catch {
        // Nothing refers to the partial result, which takes up space.
        removeTree(target)
        throw error
      }
    }
  }

  private func make(_ name: String, _ pack: PackID?, in snapshot: Snapshot, _ target: FilePath) throws -> FilePath {
    let asset = try snapshot.asset(name, pack: pack)
    guard asset.kind != .folder else {
      let path = target.pushing(FilePath(name))
      try makeFolder(path.removingLastComponent(), isSecret: true)
      try snapshot.extract(name, pack: pack, to: path)
      return path
    }
    // The file keeps its name, because programs depend on extensions.
    let path = target.pushing(FilePath(name))
    try makeFolder(path.removingLastComponent(), isSecret: true)
    let file = try NewFile(FilePlace(path))
    try asset.copy(to: file)
    return path
  }
}

extension Snapshot.Asset {
  /// Writes all bytes, one piece at a time.
  fileprivate func copy(to file: NewFile) throws {
    let pieceByteCount = 1 << 20
    let buffer = UnsafeMutableRawBufferPointer.allocate(
      byteCount: min(max(byteCount, 1), pieceByteCount), alignment: 16)
    defer { buffer.deallocate() }
    var offset = 0
    while offset < byteCount {
      let count = try read(into: buffer, range: offset..<min(offset + pieceByteCount, byteCount))
      try file.write(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      offset += count
    }
    if byteCount == 0 { _ = try read(into: buffer, range: 0..<0) }  // a link or folder is refused
  }
}
