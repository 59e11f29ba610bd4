import PackFormats
import PackStore

/// The files of a site, without the files of its store. They are written under a temporary name, synced and renamed. A file with
/// its final name is complete, and never changes, except roots.
struct SiteFolder: Sendable {
  let path: FilePath

  /// Whether the folder is a copy of a served site, made by a publisher without other data. The roots are authoritative, although
  /// frames, deltas and unoffered versions are missing.
  var isServedCopy = false

  /// Whether the site is being converted. Roots of the previous draft are then also read.
  var isConverting = false

  /// Whether the site is being moved to this folder, which has the mark of a mirror until the move is complete.
  var isArriving = false

  /// Files that exist on the served site, and need not exist in this folder.
  var elsewhere: Set<SitePath> = []

  /// The private part of the records of changes that are made through this value; `nil`: the records have none.
  var changeNote: ChangeNote?

  /// Called before each change of a file, with its name; tests stop a publication there.
  var checkpoint: @Sendable (String) throws -> Void = { _ in }

  /// Called with each signed root before it is written. All files that the root refers to are durable.
  var announcing: @Sendable (SiteChannel, [UInt8]) throws -> Void = { _, _ in }

  /// Called before a file is opened for reading; tests simulate a refusal.
  var opening: @Sendable (SitePath) throws -> Void = { _ in }

  init(path: FilePath) { self.path = path }

  /// The suffix of incomplete files.
  static let draftSuffix = ".new"

  /// The lock file of the active publisher.
  var lockFile: FilePlace { place("root.lock") }

  /// Acquires the publisher's lock, which only one process can hold at a time, and creates the site's folders.
  func lock(waits: Bool) throws -> FileLock {
    try makeFolders()
    return try FileLock(lockFile, waits: waits, reason: "another process is publishing to the site '\(path)'")
  }

  /// Runs `body` with the publisher's lock.
  func withLock<Result>(waits: Bool, _ body: () throws -> Result) throws -> Result {
    let lock = try lock(waits: waits)
    defer { withExtendedLifetime(lock) {} }
    return try body()
  }

  /// Acquires the lock of the process that builds deltas. Must be called before acquiring the publisher's lock, never after it.
  func lockDeltas(waits: Bool) throws -> FileLock {
    try FileLock(place("deltas.lock"), waits: waits, reason: "another process is building deltas of the site '\(path)'")
  }

  func place(_ name: String) -> FilePlace { FilePlace(name, in: path) }

  private func place(of file: SitePath) -> FilePlace { place(file.description) }

  private func draftPlace(of file: SitePath) -> FilePlace { place(file.description + Self.draftSuffix) }

  /// Whether the folder was created as a site, even if parts are missing.
  var isSite: Bool {
    get throws {
      let names = try namesInFolder(path)
      return names.contains(SitePath.folders[0]) || names.contains(SitePath.root(.live).description)
    }
  }

  func makeFolders() throws {
    var isNew = false
    for folder in [SitePath.rootFolder] + SitePath.folders.reversed() {  // the searched folder comes last
      if try makeFolder(path.appending(folder)) { isNew = true }
      makeReadable(folder: path.appending(folder))
    }
    if isNew { try syncFolder(path) }
  }

  /// Makes the store's files readable for web servers, which the store itself does not do. The site's own files are always
  /// readable.
  func makeSegmentsReadable() throws {
    makeReadable(folder: path.appending(Self.segmentFolder))
    for segment in try segments() { makeReadable(place(of: segment)) }
  }

  private static let segmentFolder = "segments"

  // MARK: - Roots

  /// Returns the channels with a root, in order.
  func channels() throws -> [SiteChannel] {
    let others = try namesInFolder(place(SitePath.rootFolder)).compactMap { name -> SiteChannel? in
      guard case .root(let channel) = SitePath("\(SitePath.rootFolder)/\(name)") else { return nil }
      return channel
    }
    let live = try byteCount(of: .root(.live)) == nil ? [] : [SiteChannel.live]
    return (live + others).sorted()
  }

  /// - Throws: `notFound` if the channel has no root.
  func require(_ channel: SiteChannel) throws {
    let channels = try channels()
    guard !channels.contains(channel) else { return }
    throw PackStoreError(
      .notFound, "not a channel of the site (channels: \(listed(channels.map(\.name))))",
      about: .channel(channel))
  }

  func readRoot(of channel: SiteChannel = .live) throws -> SignedSiteRoot? {
    do {
      let bytes = try read(.root(channel), limit: SiteRoot.byteCountLimit)
      let file = place(of: .root(channel)).text
      let signed = try SignedSiteRoot(decoding: bytes, file: file, readsPreviousDraft: isConverting)
      guard signed.root.channel == channel else {
        throw PackStoreError(
          .corrupt, "the root belongs to the channel '\(signed.root.channel)'", file: place(of: .root(channel)).text)
      }
      return signed
    } catch let error as PackStoreError where error.code == .notFound { return nil }
  }

  /// Replaces the current root. Everything it refers to is already durable.
  func writeRoot(_ bytes: [UInt8], of channel: SiteChannel) throws {
    try write(.root(channel)) { file in try file.write(bytes) }
    try syncFolder(channel == .live ? FilePlace(path) : place(SitePath.rootFolder))
  }

  // MARK: - Retired files

  /// - Throws: `corrupt` if the file is damaged: without it, a publisher cannot decide which files to delete.
  func readRetired() throws -> RetiredFiles {
    do {
      let file = try InputFile(RetiredFiles.fileName, in: path)
      return try RetiredFiles(decoding: try file.contents(limit: RetiredFiles.byteCountLimit), file: file.place.text)
    } catch let error as PackStoreError where error.code == .notFound { return RetiredFiles() }
  }

  /// Replaces the list of retired files, durably.
  func writeRetired(_ retired: RetiredFiles) throws {
    try checkpoint("write retired")
    let name = RetiredFiles.fileName
    try replaceFile(name, in: path, by: retired.encode(), draft: name + Self.draftSuffix)
  }

  // MARK: - Numbers of versions

  /// Reads the numbers of versions that left the site.
  ///
  /// - Throws: `corrupt` if the file is damaged.
  func readNumbers() throws -> PublishedNumbers {
    do {
      let file = try InputFile(PublishedNumbers.fileName, in: path)
      return try PublishedNumbers(
        decoding: try file.contents(limit: PublishedNumbers.byteCountLimit), file: file.place.text)
    } catch let error as PackStoreError where error.code == .notFound { return PublishedNumbers() }
  }

  /// Replaces the list of numbers, durably.
  func writeNumbers(_ numbers: PublishedNumbers) throws {
    try checkpoint("write numbers")
    let name = PublishedNumbers.fileName
    try replaceFile(name, in: path, by: numbers.encode(), draft: name + Self.draftSuffix)
  }

  // MARK: - Versions that were offered

  /// Reads the versions that channels offered before.
  func readOffered() throws -> OfferHistory {
    do {
      return OfferHistory(
        decoding: try InputFile(OfferHistory.fileName, in: path).contents(limit: OfferHistory.byteCountLimit))
    } catch let error as PackStoreError where [.notFound, .corrupt].contains(error.code) { return OfferHistory() }
  }

  /// Replaces the list of earlier offered versions, durably.
  func writeOffered(_ history: OfferHistory) throws {
    try checkpoint("write offered")
    let name = OfferHistory.fileName
    try replaceFile(name, in: path, by: history.encode(), draft: name + Self.draftSuffix)
  }

  // MARK: - Immutable files

  /// Opens a file for reading; a link is refused.
  func open(_ file: SitePath) throws -> InputFile {
    try opening(file)
    return try InputFile(file.description, in: path)
  }

  /// Returns the length of a file; `nil` if it does not exist.
  func byteCount(of file: SitePath) throws -> UInt64? {
    do { return try open(file).byteCount } catch let error as PackStoreError where error.code == .notFound {
      return nil
    }
  }

  /// Whether a file that is missing in this folder exists on the served site. A copy of a served site lacks change lists, but has
  /// the frame tables: missing frame tables count as lost.
  func isElsewhere(_ file: SitePath) -> Bool {
    if isServedCopy, case .changes = file { return true }
    return elsewhere.contains(file)
  }

  func read(_ file: SitePath, limit: Int) throws -> [UInt8] {
    try open(file).contents(limit: limit)
  }

  /// Creates a file; its name is durable after ``syncNames()``.
  func write(
    _ file: SitePath, _ body: (NewFile) throws -> Void
  ) throws {
    try checkpoint("write \(file)")
    let draft = try NewFile(draftPlace(of: file))
    draft.makeReadable()
    try body(draft)
    try draft.sync()
    try checkpoint("rename \(file)")
    try renameFile(draft.place, to: place(of: file))
  }

  private static let deltaDraftName = "deltas/draft" + draftSuffix
  private var deltaDraft: FilePlace { place(Self.deltaDraftName) }

  /// Opens a new delta for writing. Its name is determined by its content: ``finish(_:_:)``.
  func openDelta() throws -> NewFile {
    try checkpoint("write a delta")
    let draft = try NewFile(deltaDraft)
    draft.makeReadable()
    return draft
  }

  /// Deletes an abandoned delta.
  func discardDelta() { try? removeFile(deltaDraft) }

  /// Reads the header of a delta file; `nil` if the file is missing or damaged.
  func deltaInfo(_ header: Digest256) -> DeltaFile.Info? {
    guard (try? byteCount(of: .delta(header))) != nil,
      let info = try? DeltaFile(path.appending("\(SitePath.delta(header))")).info, info.headerDigest == header
    else { return nil }
    return info
  }

  /// Renames a written delta to its final name, which is durable after ``syncNames()``.
  func finish(_ delta: NewFile, _ info: DeltaFile.Info) throws {
    try delta.sync()
    try checkpoint("rename a delta")
    try renameFile(deltaDraft, to: place(of: .delta(info.headerDigest)))
  }

  func syncNames() throws {
    for folder in SitePath.folders { try syncFolder(place(folder)) }
  }

  /// Returns the existing manifests.
  func manifests() throws -> [SitePath] {
    try namesInFolder(place("versions")).compactMap { SitePath("versions/\($0)") }
  }

  /// Returns the existing segments.
  func segments() throws -> [SitePath] {
    try namesInFolder(place(Self.segmentFolder)).compactMap { SitePath("\(Self.segmentFolder)/\($0)") }
  }

  /// Deletes all files of the site's own folders except `needed`. Subfolders stay, because they belong to other programs, such as a
  /// copying program.
  ///
  /// - Parameter isBuilder: whether this process has the lock of deltas. If another process has it, files in `deltas/` stay,
  ///   because roots do not list them yet.
  func removeAll(but needed: some Collection<SitePath>, isBuilder: Bool) throws {
    let needed = Set(needed)
    for folder in SitePath.folders {
      let mayBeUnnamed = !isBuilder && Self.deltaDraftName.hasPrefix("\(folder)/")
      let builder = mayBeUnnamed ? try? lockDeltas(waits: false) : nil
      defer { withExtendedLifetime(builder) {} }
      if mayBeUnnamed, builder == nil { continue }
      for name in try namesInFolder(place(folder)) {
        let file = SitePath("\(folder)/\(name)")
        if let file, file.isRecord || needed.contains(file) { continue }
        try checkpoint("remove \(folder)/\(name)")
        try removeStray("\(folder)/\(name)")
      }
    }
    let lists = [RetiredFiles.fileName, PublishedNumbers.fileName, OfferHistory.fileName]
    for name in [SitePath.root(.live).description] + lists {
      try removeStray(name + Self.draftSuffix)
    }
    for folder in [SitePath.rootFolder, Self.notesFolder] {
      for name in try namesInFolder(place(folder)) where name.hasSuffix(Self.draftSuffix) {
        try removeStray("\(folder)/\(name)")
      }
    }
  }

  /// Deletes a file, if it exists.
  func remove(_ file: SitePath) throws { try removeFile(place(of: file)) }

  private func removeStray(_ name: String) throws {
    do { try removeFile(place(name)) } catch let error as PackStoreError where error.code == .wrongKind {}
  }
}
