import PackFormats
import PackStore

/// The files that a site has beside those of its store. They are made under another name, synced and renamed; a file
/// under its final name is whole, and but for the root never changes.
struct SiteFolder: Sendable {
  let path: FilePath

  /// It is a copy of what is served, by one who has nothing else: what roots say counts, though versions that none offers are not
  /// here, nor frames and deltas.
  var isServedCopy = false

  /// Whether the site is converted: then roots of the previous draft are read as well.
  var isConverting = false

  /// Files that the site has where it is served, and that need not be here.
  var elsewhere: Set<SitePath> = []

  /// Called before each change of a file, with its name: for tests that end a publication there.
  var checkpoint: @Sendable (String) throws -> Void = { _ in }

  /// Called with each signed root before it is written. All files that the root names are durable.
  var announcing: @Sendable (SiteChannel, [UInt8]) throws -> Void = { _, _ in }

  /// Called before a file is opened for reading: for tests in which the system refuses that.
  var opening: @Sendable (SitePath) throws -> Void = { _ in }

  init(path: FilePath) { self.path = path }

  /// Ends the names of files that are not whole yet.
  private static let draftSuffix = ".new"

  /// Whose lock the one publisher holds that may be at work.
  var lockFile: FilePlace { place("root.lock") }

  /// The lock that one publisher of the site holds at a time. With it, the folders of the site are there.
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

  /// The lock of the one process that builds deltas. It is acquired before the publisher's lock, never after it.
  func lockDeltas(waits: Bool) throws -> FileLock {
    try FileLock(place("deltas.lock"), waits: waits, reason: "another process is building deltas of the site '\(path)'")
  }

  private func place(_ name: String) -> FilePlace { FilePlace(name, in: path) }

  private func place(of file: SitePath) -> FilePlace { place(file.description) }

  private func draftPlace(of file: SitePath) -> FilePlace { place(file.description + Self.draftSuffix) }

  /// Whether the folder was made to be a site, though it may have lost a part.
  var isSite: Bool {
    get throws {
      let names = try namesInFolder(path)
      return names.contains(SitePath.folders[0]) || names.contains(SitePath.root(.live).description)
    }
  }

  func makeFolders() throws {
    var isNew = false
    for folder in [SitePath.rootFolder] + SitePath.folders.reversed() {  // the one that is asked for comes last
      if try makeFolder(path.appending(folder)) { isNew = true }
      makeReadable(folder: path.appending(folder))
    }
    if isNew { try syncFolder(path) }
  }

  /// Lets web servers read what the store has written, which knows nothing of them. Files of the site's own are readable from the
  /// beginning.
  func makeSegmentsReadable() throws {
    makeReadable(folder: path.appending(Self.segmentFolder))
    for segment in try segments() { makeReadable(place(of: segment)) }
  }

  private static let segmentFolder = "segments"

  // MARK: - Roots

  /// The channels of which there is a root, in order.
  func channels() throws -> [SiteChannel] {
    let others = try namesInFolder(place(SitePath.rootFolder)).compactMap { name -> SiteChannel? in
      guard case .root(let channel) = SitePath("\(SitePath.rootFolder)/\(name)") else { return nil }
      return channel
    }
    let live = try byteCount(of: .root(.live)) == nil ? [] : [SiteChannel.live]
    return (live + others).sorted()
  }

  /// - Throws: `notFound` when there is no root of the channel.
  func require(_ channel: SiteChannel) throws {
    let channels = try channels()
    guard !channels.contains(channel) else { return }
    throw PackStoreError(
      .notFound, "the site does not have this channel (channels: \(listed(channels.map(\.name))))",
      about: .channel(channel))
  }

  func readRoot(of channel: SiteChannel = .live) throws -> SignedSiteRoot? {
    do {
      let bytes = try read(.root(channel), limit: SiteRoot.byteCountLimit)
      let file = place(of: .root(channel)).text
      let signed =
        if isConverting, SignedSiteRoot.isOfPreviousDraft(bytes) {
          try SignedSiteRoot(convertingPreviousDraft: bytes, file: file)
        } else {
          try SignedSiteRoot(decoding: bytes, file: file)
        }
      guard signed.root.channel == channel else {
        throw PackStoreError(
          .corrupt, "the root belongs to the channel '\(signed.root.channel)'", file: place(of: .root(channel)).text)
      }
      return signed
    } catch let error as PackStoreError where error.code == .notFound { return nil }
  }

  /// Puts a root in the place of the present one. Everything it names is durable already.
  func writeRoot(_ bytes: [UInt8], of channel: SiteChannel) throws {
    try write(.root(channel)) { file in try file.write(bytes) }
    try syncFolder(channel == .live ? FilePlace(path) : place(SitePath.rootFolder))
  }

  // MARK: - What was retired

  /// - Throws: `corrupt` when the file is damaged: without it no publisher knows what may go.
  func readRetired() throws -> RetiredFiles {
    do {
      let file = try InputFile(RetiredFiles.fileName, in: path)
      return try RetiredFiles(decoding: try file.contents(limit: RetiredFiles.byteCountLimit), file: file.place.text)
    } catch let error as PackStoreError where error.code == .notFound { return RetiredFiles() }
  }

  /// Replaces what is known of retired files, durably.
  func writeRetired(_ retired: RetiredFiles) throws {
    try checkpoint("write retired")
    let name = RetiredFiles.fileName
    try replaceFile(name, in: path, by: retired.encode(), draft: name + Self.draftSuffix)
  }

  // MARK: - Numbers of versions

  /// The numbers of versions that left the site.
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

  /// The versions that channels offered before.
  func readOffered() throws -> OfferHistory {
    do {
      return OfferHistory(
        decoding: try InputFile(OfferHistory.fileName, in: path).contents(limit: OfferHistory.byteCountLimit))
    } catch let error as PackStoreError where [.notFound, .corrupt].contains(error.code) { return OfferHistory() }
  }

  /// Replaces the list of these versions, durably.
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

  /// The length of a file, or nil when there is none.
  func byteCount(of file: SitePath) throws -> UInt64? {
    do { return try open(file).byteCount } catch let error as PackStoreError where error.code == .notFound {
      return nil
    }
  }

  /// Whether a file that is not here is known to be where the site is served. A copy of what is served has no change lists, but the
  /// frame tables: those count as lost where they are not here.
  func isElsewhere(_ file: SitePath) -> Bool {
    if isServedCopy, case .changes = file { return true }
    return elsewhere.contains(file)
  }

  func read(_ file: SitePath, limit: Int) throws -> [UInt8] {
    try open(file).contents(limit: limit)
  }

  /// Makes a file; its name is durable after ``syncNames()``.
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

  /// Opens a delta that is to be written. Its name is known when it is there: ``finish(_:_:)``.
  func openDelta() throws -> NewFile {
    try checkpoint("write a delta")
    let draft = try NewFile(deltaDraft)
    draft.makeReadable()
    return draft
  }

  /// Removes a delta that came to nothing.
  func discardDelta() { try? removeFile(deltaDraft) }

  /// Reads the header of a delta file; `nil` if the file is missing or damaged.
  func deltaInfo(_ header: Digest256) -> DeltaFile.Info? {
    guard (try? byteCount(of: .delta(header))) != nil,
      let info = try? DeltaFile(path.appending("\(SitePath.delta(header))")).info, info.headerDigest == header
    else { return nil }
    return info
  }

  /// Gives a delta that was written its name, which is durable after ``syncNames()``.
  func finish(_ delta: NewFile, _ info: DeltaFile.Info) throws {
    try delta.sync()
    try checkpoint("rename a delta")
    try renameFile(deltaDraft, to: place(of: .delta(info.headerDigest)))
  }

  func syncNames() throws {
    for folder in SitePath.folders { try syncFolder(place(folder)) }
  }

  /// The manifests that are there.
  func manifests() throws -> [SitePath] {
    try namesInFolder(place("versions")).compactMap { SitePath("versions/\($0)") }
  }

  /// The segments that are there.
  func segments() throws -> [SitePath] {
    try namesInFolder(place(Self.segmentFolder)).compactMap { SitePath("\(Self.segmentFolder)/\($0)") }
  }

  /// Removes all files of the site's own folders but those of `needed`. Folders in them stay: they are others', such as the
  /// one in which a copying program keeps what it has begun.
  ///
  /// - Parameter isBuilder: whether this process has the lock of deltas. If another process has it, files of `deltas/` stay: it has not
  ///   named them yet.
  func removeAll(but needed: some Collection<SitePath>, isBuilder: Bool) throws {
    let needed = Set(needed)
    for folder in SitePath.folders {
      let mayBeUnnamed = !isBuilder && Self.deltaDraftName.hasPrefix("\(folder)/")
      let builder = mayBeUnnamed ? try? lockDeltas(waits: false) : nil
      defer { withExtendedLifetime(builder) {} }
      if mayBeUnnamed, builder == nil { continue }
      for name in try namesInFolder(place(folder)) {
        let file = SitePath("\(folder)/\(name)")
        if let file, needed.contains(file) { continue }
        try checkpoint("remove \(folder)/\(name)")
        try removeStray("\(folder)/\(name)")
      }
    }
    let lists = [RetiredFiles.fileName, PublishedNumbers.fileName, OfferHistory.fileName]
    for name in [SitePath.root(.live).description] + lists {
      try removeStray(name + Self.draftSuffix)
    }
    for name in try namesInFolder(place(SitePath.rootFolder)) where name.hasSuffix(Self.draftSuffix) {
      try removeStray("\(SitePath.rootFolder)/\(name)")
    }
  }

  /// Removes a file; it may be gone.
  func remove(_ file: SitePath) throws { try removeFile(place(of: file)) }

  private func removeStray(_ name: String) throws {
    do { try removeFile(place(name)) } catch let error as PackStoreError where error.code == .wrongKind {}
  }
}
