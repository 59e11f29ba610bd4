/// Frees space by deleting files delivered to apps of a group: first the files with the lowest priority, then the files delivered
/// first.
///
/// It searches the group's folder, wherever apps have moved the files. A file that is not found there, or has been changed since
/// its delivery, belongs to the app from then on.
package struct PurgeableDownloads {
  package struct Result: Hashable, Sendable {
    package var freedByteCount = 0
    package var fileCount = 0
    package init() {}
  }

  private static let entryLimit = 1_000_000
  private static let depthLimit = 64
  /// The folders without files of apps.
  private static let own = ["store", "cache", "archives", "views", DownloadFolder.name]

  private let group: FilePath

  package init(in group: FilePath) { self.group = group }

  /// Creates the purger for the group of a store. `nil` if the store is not in the folder of a group with downloads. Other programs
  /// may have created a folder that merely looks like one.
  package init?(ofStore store: FilePath) {
    guard store.lastComponent?.string == "store" else { return nil }
    let parent = store.removingLastComponent()
    guard let path = resolvedPath(parent.isEmpty ? "." : parent), isFolder(path.appending(DownloadFolder.name)),
      let group = try? GroupFolder(path, makes: false)
    else { return nil }
    self.init(in: group.path)
  }

  /// - Parameter byteCount: the number of bytes to free, if that many exist.
  package func purge(byteCount: Int) throws -> Result {
    var result = Result()
    let folders = try DownloadFolder.all(in: group)
    guard byteCount > 0, !folders.isEmpty else { return result }
    let candidates = try folders.flatMap { folder in try folder.list().delivered.map { (folder, $0) } }
    guard !candidates.isEmpty else { return result }
    let found = find(candidates.map(\.1))
    for (folder, file) in candidates.sorted(by: { Self.isLess($0.1, $1.1) }) {
      guard result.freedByteCount < byteCount || found[file] == nil else { continue }
      // Checked again after the search: a file that an app has changed since then belongs to the app.
      if let path = found[file], let now = FileIdentity(path), file.isSame(as: now) {
        try removeFile(FilePlace(path))
        result.freedByteCount = result.freedByteCount.addingClamped(file.byteCount)
        result.fileCount += 1
      }
      // A file that is being delivered is still in `ready`: its entry is removed with its download.
      try folder.update { list in
        if list[file.id] == nil { list.delivered.removeAll { $0 == file } }
      }
    }
    return result
  }

  /// Frees space for a store of the group that finds the disk full. Deletes only the bytes that the store cannot free by purging
  /// its own cache, which is less valuable.
  package static func makeRoom(byteCount: Int, in group: GroupFolder) {
    let ofStore = Self.byteCount(of: group.cache, depth: 0)
    _ = try? PurgeableDownloads(in: group.path).purge(byteCount: byteCount.subtractingClamped(ofStore))
  }

  private static func byteCount(of folder: FilePath, depth: Int) -> Int {
    guard depth < depthLimit, let names = try? namesInFolder(folder) else { return 0 }
    return names.reduce(0) { sum, name in
      let path = folder.appending(name)
      guard let entry = FileIdentity(path, mayBeFolder: true) else { return sum }
      return sum.addingClamped(entry.isFolder ? byteCount(of: path, depth: depth + 1) : entry.byteCount)
    }
  }

  /// Returns the size of the purgeable files in bytes.
  package func byteCount() throws -> Int {
    let files = try DownloadFolder.all(in: group).flatMap { try $0.list().delivered }
    return files.isEmpty ? 0 : find(files).keys.reduce(0) { $0.addingClamped($1.byteCount) }
  }

  private static func isLess(_ one: DeliveredFile, _ other: DeliveredFile) -> Bool {
    (one.priority, one.number) < (other.priority, other.number)
  }

  /// Returns the current paths of the files.
  private func find(_ files: [DeliveredFile]) -> [DeliveredFile: FilePath] {
    var byInode: [UInt64: DeliveredFile] = [:]
    for file in files { byInode[file.inode] = file }
    var found: [DeliveredFile: FilePath] = [:], room = Self.entryLimit
    func search(_ folder: FilePath, _ depth: Int) {
      guard depth < Self.depthLimit, let names = try? namesInFolder(folder) else { return }
      for name in names where depth > 0 || !Self.own.contains(name) {
        room -= 1
        guard room > 0 else { return }
        let path = folder.appending(name)
        guard let entry = FileIdentity(path, mayBeFolder: true) else { continue }
        if entry.isFolder {
          search(path, depth + 1)
        } else if let file = byInode[entry.inode], file.isSame(as: entry) {
          found[file] = path
        }
      }
    }
    search(group, 0)
    return found
  }
}
