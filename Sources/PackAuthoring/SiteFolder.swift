import PackStore
import SystemPackage

/// The files that a site has beside those of its store. They are made under another name, synced and renamed; a file
/// under its final name is whole, and but for the root never changes.
struct SiteFolder: Sendable {
  let path: FilePath

  /// Called before each change of a file, with its name: for tests that end a publication there.
  var checkpoint: @Sendable (String) throws(PackStoreError) -> Void = { _ throws(PackStoreError) in }

  init(path: FilePath) { self.path = path }

  /// Ends the names of files that are not whole yet.
  private static let draftSuffix = ".new"

  var lockFile: FilePath { path.appending("root.lock") }

  func path(of file: SitePath) -> FilePath {
    file.description.split(separator: "/").reduce(path) { $0.appending(String($1)) }
  }

  /// Whether the folder was made to be a site.
  var isSite: Bool {
    get throws(PackStoreError) { try namesInFolder(path).contains(SitePath.folders[0]) }
  }

  func makeFolders() throws(PackStoreError) {
    var isNew = false
    for folder in SitePath.folders.reversed() {  // the one that is asked for comes last
      if try makeFolder(path.appending(folder)) { isNew = true }
    }
    if isNew { try syncFolder(path) }
  }

  // MARK: - The root

  func readRoot() throws(PackStoreError) -> SignedSiteRoot? {
    let file = path(of: .root)
    do {
      return try SignedSiteRoot(decoding: try readFile(file, limit: SiteRoot.byteCountLimit), file: file.string)
    } catch  where error.code == .notFound { return nil }
  }

  /// Puts a root in the place of the present one. Everything it names is durable already.
  func writeRoot(_ bytes: [UInt8]) throws(PackStoreError) {
    try write(.root) { file throws(PackStoreError) in try file.write(bytes) }
    try syncFolder(path)
  }

  // MARK: - Immutable files

  func byteCount(of file: SitePath) throws(PackStoreError) -> UInt64? { try fileByteCount(path(of: file)) }

  func read(_ file: SitePath, limit: Int) throws(PackStoreError) -> [UInt8] {
    try readFile(path(of: file), limit: limit)
  }

  /// Makes a file; its name is durable after ``syncNames()``.
  func write(
    _ file: SitePath, _ body: (NewFile) throws(PackStoreError) -> Void
  ) throws(PackStoreError) {
    let final = path(of: file)
    let draft = FilePath(final.string + Self.draftSuffix)
    try checkpoint("write \(file)")
    let opened = try NewFile(draft)
    try body(opened)
    try opened.sync()
    try checkpoint("rename \(file)")
    try rename(draft, to: final)
  }

  private var deltaDraft: FilePath { path.appending("deltas").appending("draft" + Self.draftSuffix) }

  /// Opens a delta that is to be written. Its name is known when it is there: ``finish(_:_:)``.
  func openDelta() throws(PackStoreError) -> NewFile {
    try checkpoint("write a delta")
    return try NewFile(deltaDraft)
  }

  /// Removes a delta that came to nothing.
  func discardDelta() { try? removeFile(deltaDraft) }

  /// Gives a delta that was written its name, which is durable after ``syncNames()``.
  func finish(_ delta: NewFile, _ info: DeltaInfo) throws(PackStoreError) {
    try delta.sync()
    try checkpoint("rename a delta")
    try rename(deltaDraft, to: path(of: .delta(info.headerDigest)))
  }

  func syncNames() throws(PackStoreError) {
    for folder in SitePath.folders { try syncFolder(path.appending(folder)) }
  }

  /// Removes all files of the site's own folders but those of `needed`.
  func removeAll(but needed: some Collection<SitePath>) throws(PackStoreError) {
    let needed = Set(needed)
    for folder in SitePath.folders {
      for name in try namesInFolder(path.appending(folder)) {
        let file = SitePath("\(folder)/\(name)")
        if let file, needed.contains(file) { continue }
        try checkpoint("remove \(folder)/\(name)")
        try removeFile(path.appending(folder).appending(name))
      }
    }
    try removeFile(FilePath(path(of: .root).string + Self.draftSuffix))
  }
}
