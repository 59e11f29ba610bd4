public import PackFormats
import PackStore

extension ManifestEvaluation {
  /// Writes the files that the manifest selects as one version of its pack, in one signed file: an archive.
  ///
  /// Equal input gives equal bytes, on any machine. The input is: content and paths, manifest, key, options, previous archive and
  /// version of libzstd. On Apple's platforms only the signature differs, because the system signs differently each time.
  ///
  /// During packaging, a folder with `.partial` in its name exists next to the file; a crash may leave it. The complete file is
  /// written last.
  ///
  /// - Parameters:
  ///   - file: the path of the archive, which ends in `.pack`. An archive of this version with the same content and attributes is
  ///     not changed.
  ///   - key: the key that signed the earlier versions.
  ///   - options: the number, the previous version, compression.
  ///   - progress: called on a thread that may block.
  /// - Throws: `refused` if the manifest has errors; `exists` if another file has the name and must not be replaced; `untrusted` if
  ///   the previous version is not signed by the key's publisher; `invalidArgument`, `CancellationError`, the errors of installing
  ///   a selection.
  public func package(
    to file: FilePath, signedBy key: SiteKey, options: Manifest.PackageOptions = .init(),
    progress: (@Sendable (Site.PublishProgress) -> Void)? = nil
  ) async throws -> Manifest.PackageResult {
    try await BlockingExecutor.run {
      try Packaging(self, file: file, key: key, options: options, progress: progress).run()
    }
  }
}

/// The creation of one archive. The archive's number, dates and ids depend on neither a clock nor random numbers.
///
/// 1. A store is created in a folder next to the file, empty or with the previous version's segments.
/// 2. The selected files are installed in it, as the next version.
/// 3. The store is described as a site with only that version, and signed.
/// 4. Its files become an archive.
struct Packaging {
  private let evaluation: ManifestEvaluation
  private let manifest: Manifest
  private let file: FilePath
  private let key: SiteKey
  private let options: Manifest.PackageOptions
  private let progress: (@Sendable (Site.PublishProgress) -> Void)?
  private let previous: PreviousVersion?
  private let number: UInt64
  private let product: Store.Product
  private let present: PresentFile

  init(
    _ evaluation: ManifestEvaluation, file: FilePath, key: SiteKey, options: Manifest.PackageOptions,
    progress: (@Sendable (Site.PublishProgress) -> Void)?
  ) throws {
    (manifest, _) = try evaluation.requireSelection()
    self.evaluation = evaluation
    self.file = file
    self.key = key
    self.options = options
    self.progress = progress
    try Self.check(file, options)
    try key.requireValid(at: nanosecondsSince1970())
    let pack = manifest.assetPackID
    previous = try options.previous.map { try PreviousVersion(at: $0, of: pack, signedBy: key) }
    let last = previous?.version.number ?? options.knownVersions?.highest(of: pack) ?? 0
    number = options.version ?? last.addingClamped(1)
    product = options.product ?? previous?.product ?? options.knownVersions?.product ?? .standard
    try Self.check(number, product, after: previous)
    try Self.check(number, product, of: pack, after: options.knownVersions)
    present = try PresentFile(at: file, signedBy: key)
    if !options.replaces { try present.require(number, of: pack, product, at: file) }
  }

  // MARK: - Checks

  private static func check(_ file: FilePath, _ options: Manifest.PackageOptions) throws {
    try requireName(file)
    guard file.extension == "pack" else {
      throw PackStoreError(.invalidArgument, "the name of an archive must end in '.pack'", file: file.string)
    }
    let (date, overflows) = options.date.multipliedReportingOverflow(by: 1_000_000_000)
    guard !overflows, date >= 0, date <= nanosecondsSince1970().addingClamped(SiteRoot.clockTolerance) else {
      throw PackStoreError(.invalidArgument, "not between 1970 and now", about: .value("\(options.date)"))
    }
    if let level = options.level, !Store.CompressionLevel.exists(level) {
      throw PackStoreError(
        .invalidArgument, "\(level) is not in \(Store.CompressionLevel.range)", about: .parameter("level"))
    }
  }

  private static func check(_ number: UInt64, _ product: Store.Product, after previous: PreviousVersion?) throws {
    guard 1...PackVersion.lastNumber ~= number else {
      throw PackStoreError(
        .invalidArgument, "\(number) is not in 1 to \(PackVersion.lastNumber)", about: .parameter("version"))
    }
    guard let previous else { return }
    guard number > previous.version.number else {
      throw PackStoreError(
        .invalidArgument, "\(number) is not above the previous version, \(previous.version.number)",
        about: .parameter("version"))
    }
    guard product == previous.product else {
      throw PackStoreError(.invalidArgument, "the previous version belongs to the product '\(previous.product)'")
    }
  }

  private static func check(
    _ number: UInt64, _ product: Store.Product, of pack: PackID, after known: PublishedVersionIndex?
  ) throws {
    guard let known else { return }
    if let highest = known.highest(of: pack), number <= highest {
      throw PackStoreError(
        .invalidArgument, "\(number) is not above the site's highest version, \(highest)", about: .parameter("version"))
    }
    guard product == known.product else {
      throw PackStoreError(.invalidArgument, "the site belongs to the product '\(known.product)'")
    }
  }

  // MARK: - Steps

  func run() throws -> Manifest.PackageResult {
    let work = draftPath(nextTo: file, ending: ".partial")
    try makeFolder(work)
    defer { removeTree(work) }
    let place = work.appending("site")
    let store = try makeStore(at: place)
    let installed = try install(in: store)
    guard !installed.isUnchanged, options.knownVersions?.isCurrent(installed.version) != true else {
      return result(.unchanged, installed)
    }
    let deltaByteCount = try estimateDelta(in: store)
    try dropAllElse(in: store)
    let site = SiteFolder(path: place)
    let root = try describe(try store.makeSnapshot(), as: site)
    let archive = try ArchiveWriter(of: site, root, note: note)
    var result = try report(installed, root, in: site)
    result.deltaByteCount = deltaByteCount
    if present.holds(installed.version), !options.replaces {
      result.outcome = .alreadyHere
      result.byteCount = Int(clamping: present.byteCount)
      return result
    }
    if !options.replaces { try present.requireNone(at: file) }
    guard !options.isDryRun else {
      result.byteCount = Int(clamping: try archive.countBytes())
      return result
    }
    let draft = FilePlace("archive", in: work)
    result.byteCount = Int(clamping: try archive.write(to: draft))
    try PackAuthoring.place(draft, at: FilePlace(file), replacing: options.replaces)
    try syncFolder(file.removingLastComponent())
    result.outcome = .written
    return result
  }

  private var level: Int32 { options.level ?? manifest.level ?? Manifest.PackageOptions.standardLevel }

  private var layout: Store.InstallOptions.Layout { options.layout ?? manifest.layout ?? .random }

  private var note: PackagerNote { PackagerNote(zstdVersion: Store.zstdVersion, level: level, layout: layout) }

  /// The date, in nanoseconds since 1970.
  private var date: Int64 { options.date.multipliedReportingOverflow(by: 1_000_000_000).partialValue }

  private func makeStore(at path: FilePath) throws -> Store {
    var storeOptions = Store.Options()
    storeOptions.threadCount = options.threadCount
    return try previous?.makeStore(at: path, storeOptions) ?? Store(at: path, options: storeOptions)
  }

  /// Creates a transaction without syncs: only the archive is synced.
  private func makeTransaction(of store: Store) throws -> Transaction {
    var transactionOptions = Transaction.Options(durability: .atomic, keptVersionCount: 2)
    transactionOptions.date = date
    transactionOptions.followsPlacement = false
    return try store.makeTransaction(options: transactionOptions)
  }

  private func install(in store: Store) throws -> Store.InstallResult {
    var installOptions = manifest.installOptions
    installOptions.version = number
    installOptions.label = options.label
    installOptions.setNote(options.note ?? manifest.note, isPublished: options.publishesNotes)
    installOptions.level = level
    installOptions.layout = layout
    installOptions.rowLimit = options.rowLimit
    var transaction = try makeTransaction(of: store)
    let result = try transaction.install(evaluation, options: installOptions) {
      [progress, pack = manifest.assetPackID] in
      progress?(.store(pack, $0))
    }
    try transaction.commit()
    return result
  }

  /// Returns the length of the delta from the previous version. The delta is not kept.
  private func estimateDelta(in store: Store) throws -> Int? {
    guard options.estimatesDelta, let previous else { return nil }
    let pack = manifest.assetPackID
    return try store.makeSnapshot().buildDelta(
      of: pack, from: previous.version.number, to: number, level: Store.DeltaOptions().level, write: { _, _ in },
      progress: { [progress] in progress?(.delta(pack, byteCount: $0, totalByteCount: $1)) }
    ).byteCount
  }

  /// Removes all versions except the new version: the segments of the previous version may contain others.
  private func dropAllElse(in store: Store) throws {
    let pack = manifest.assetPackID
    var transaction = try makeTransaction(of: store)
    try transaction.trim(pack, keeping: 1)
    for other in transaction.packs where other.id != pack { try transaction.remove(other.id) }
    for other in transaction.removedPacks { try transaction.remove(other.id) }
    try transaction.commit()
  }

  private func describe(_ snapshot: Snapshot, as site: SiteFolder) throws -> SiteRoot {
    try site.makeFolders()
    var description = try SiteDescription(
      of: snapshot, leaving: [], in: site, known: ManifestIndex(in: site), roots: [], listsChanges: false
    ) { [progress] done, total in
      progress?(.describe(byteCount: Int(clamping: done), totalByteCount: Int(clamping: total)))
    }
    var plan = ChannelPlan()
    let offer = ChannelPlan.Offer(number: number, appVersions: manifest.attributes.appVersions)
    plan.offer(offer, of: manifest.assetPackID) { _ in [] }
    let contents = try description.contents(of: plan, current: nil, deltas: DeltaIndex([]))
    let root = SiteRoot(
      sequence: number, madeAt: date, expiresAfter: nil, site: siteID, product: product, channel: key.archiveChannel,
      sheets: contents.sheets, packs: contents.packs)
    let bytes = try root.encode(signedBy: key)
    progress?(.commit)
    try site.writeRoot(bytes, of: root.channel)
    return root
  }

  /// An id that distinguishes archives of this pack from other archives. No check depends on it.
  private var siteID: SiteID {
    let text = "packstore package\0\(product.name)\0\(manifest.assetPackID.name)"
    let digest = Digest256(hashing: Array(text.utf8))
    return SiteID(ID128(copying: digest.bytes.prefix(ID128.byteCount)))
  }

  // MARK: - Report

  private func result(_ outcome: Manifest.PackageResult.Outcome, _ installed: Store.InstallResult)
    -> Manifest.PackageResult
  {
    Manifest.PackageResult(
      outcome: outcome, version: installed.version,
      previous: previous?.version.number ?? options.knownVersions?.current(of: manifest.assetPackID),
      publicKey: key.rootKey,
      byteCount: 0, largestAssets: evaluation.largestAssets,
      chunkCount: installed.chunkCount, newChunkCount: installed.newChunkCount,
      newByteCount: installed.newByteCount, newSegmentByteCount: 0, zstdVersion: Store.zstdVersion,
      previousZstdVersion: previous?.zstdVersion, notices: installed.notices)
  }

  /// Returns the result once the version is described, before the archive is written.
  private func report(
    _ installed: Store.InstallResult, _ root: SiteRoot, in site: SiteFolder
  ) throws -> Manifest.PackageResult {
    var result = result(.planned, installed)
    guard let offer = root.offers(of: manifest.assetPackID).first else {
      preconditionFailure("the root names the version that was installed")
    }
    let segments = try site.manifest(of: offer, in: manifest.assetPackID).segments
    try previous?.check(segments)
    let new = segments.filter { previous?.has($0.id) != true }
    result.newSegmentByteCount = Int(clamping: new.map(\.byteCount).clampedSum())
    guard previous != nil else { return result }
    // Clients fetch frames of a segment, described by its frame table, not the segment's own table.
    let tables = (new.map { UInt64($0.tableByteCount) } + root.sheets.map { UInt64($0.byteCount) }).clampedSum()
    let rest = (try site.byteCount(of: .root(root.channel)) ?? 0).addingClamped(UInt64(offer.manifestByteCount))
    result.updateByteCount = installed.newStoredByteCount.addingClamped(Int(clamping: tables.addingClamped(rest)))
    return result
  }
}
