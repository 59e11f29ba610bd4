/// The folder for the downloads of one app, within the folder of its group: `downloads/APP/`.
///
/// | name | content |
/// |---|---|
/// | `list`, `list.lock` | the downloads that have not ended: ``DownloadList`` |
/// | `parts/ID` | the partial file of a download |
/// | `ready/ID` | a complete download, until its callback has returned |
/// | `manifest` | the file of `BAManifestURL`, while the extension selects downloads |
/// | `engine.lock` | held by the process that downloads for the app |
/// | `event.lock` | held by the process that calls the extension to select downloads |
/// | `control.lock` | held by the process that has exclusive control |
package struct DownloadFolder: Hashable, Sendable {
  package let path: FilePath
  package let group: FilePath

  package static let name = "downloads"

  /// Creates the folders if they are missing.
  package init(ofApp app: String, in group: GroupFolder) throws {
    self.group = group.path
    // A valid file name, for any app id.
    let name = (try? PackID(validating: app))?.name ?? "app-\(Digest256(hashing: Array(app.utf8)))"
    path = group.path.appending(Self.name).appending(name)
    for folder in ["parts", "ready"] { try makeFolder(path.appending(folder), isSecret: true) }
  }

  package func part(_ id: String) -> FilePlace { FilePlace("parts/\(id)", in: path) }
  package func ready(_ id: String) -> FilePlace { FilePlace("ready/\(id)", in: path) }
  package var manifest: FilePlace { FilePlace("manifest", in: path) }
  var engineLock: FilePlace { FilePlace("engine.lock", in: path) }
  var eventLock: FilePlace { FilePlace("event.lock", in: path) }
  var controlLock: FilePlace { FilePlace("control.lock", in: path) }

  /// Returns the current list.
  ///
  /// - Throws: ``ManagedPacksError`` `newerJournal`; `PackStoreError`.
  package func list() throws -> DownloadList {
    do {
      let file = try InputFile("list", in: path)
      return try DownloadList(decoding: file.contents(limit: DownloadList.byteCountLimit)) ?? DownloadList()
    } catch let error as PackStoreError where [.notFound, .corrupt].contains(error.code) {
      return DownloadList()
    }
  }

  /// Changes the list under a lock. After a crash the list is the old or the new one.
  @discardableResult
  package func update<Result>(_ body: (inout DownloadList) throws -> Result) throws -> Result {
    let lock = try FileLock(
      FilePlace("list.lock", in: path), waits: true, reason: "another process is changing the list of downloads")
    defer { withExtendedLifetime(lock) {} }
    let old = try list()
    var new = old
    let result = try body(&new)
    if new != old { try replaceFile("list", in: path, by: new.encode(), draft: "list.draft") }
    return result
  }

  /// Returns the download folders of all apps of a group.
  package static func all(in group: FilePath) throws -> [DownloadFolder] {
    let folder = group.appending(name)
    return try namesInFolder(folder).sorted().filter { isFolder(folder.appending($0)) }
      .map { DownloadFolder(path: folder.appending($0), group: group) }
  }

  private init(path: FilePath, group: FilePath) {
    self.path = path
    self.group = group
  }
}
