import ArgumentParser
import PackAuthoring
import PackDelivery
import PackPublishing
import PackFormats
import PackStore

struct Publish: AsyncParsableCommand, CommandWithSubject, CommandWithLog {
  static let configuration = CommandConfiguration(
    commandName: "publish",
    abstract: "Publish packs to a site in a folder or a bucket.",
    discussion: """
      Any web server can serve a site. Creates the site if it does not exist. Copies the current versions of all \
      packs or of the named packs, encodes missing data for small downloads, and signs a new root: clients see the \
      whole publication or none of it. If the store's current version is older than the site's, clients go back to \
      it. A version that the channel already offers keeps its share of devices and its app versions; 'packstore \
      promote' changes them. Before signing, the command names the versions that all devices of 'live' will receive. If \
      nothing is new, nothing is written. Deltas from the previous version are created last \
      and take longest. They can be omitted or interrupted, and the site can be uploaded before: the line "root \
      signed: safe to upload" marks that time.

        packstore publish Packs public/packs --new-key
        packstore publish Packs public/packs Tutorial Level1@5 --level 19
        packstore publish Packs public/packs Tutorial --channel beta
        packstore publish Packs public/packs --prune --dry-run
        packstore publish Manifest.json public/packs --dry-run
        packstore publish Tutorial.pack public/packs
        packstore publish Packs s3://assets/packs --region eu-central-1
        packstore publish Manifest.json New --key env:KEY \\
            --continue-from https://assets.example.com/packs
        (cd public/packs &&
         rsync -a segments frames versions attributes deltas changes server:packs/ &&
         rsync -a history server:packs/ &&
         rsync -a roots server:packs/ && rsync -a root server:packs/)

      Sources: a manifest (.json) is packaged as by 'packstore package', as the version after the site's highest or \
      with the number of '--version'. An archive of 'packstore package' or 'packstore export' is copied without \
      compressing it again, if clients of the key would accept it. From a folder of archives (*.pack), each pack's \
      highest version is published, or the named one. Versions that the site already has are skipped; the same \
      version with other content is refused.

      Continuing a served site: '--continue-from' is for a job that has only the key. It continues from the signed \
      roots that a web server, a folder or a bucket serves, downloads the site's metadata but not its content, and \
      writes exactly the files to upload into the folder SITE, which must be empty. Upload everything except root and \
      roots/; run 'packstore check-served' to check that no other job has published since; then upload roots/ and \
      root.

      Other packs: packs that the channel offers and the source lacks stay and are listed. '--prune' removes them \
      from the channel; a pack that no other channel offers leaves the site. This is refused for more than half of \
      the channel's packs; '--max-removed' changes that limit.

      Keys: clients trust the root key of the site's first contact, or the key that you give them; 'packstore keygen' \
      prints it. '--new-key' creates a root key and the release key that signs, valid for 400 days. Move the root key \
      to a safe place, and use it once a year with 'packstore delegate'. Without '--new-key', a missing key is an \
      error, because for clients another key is another publisher.

      Upload: copy segments/, frames/, versions/, deltas/, changes/, attributes/ and history/ first, then roots/, and \
      root last, but never notes/; then delete the files on the server that this folder no longer has. Files that left the site stay for the \
      grace period, for clients that are downloading them; the first publication after it deletes them. Change a \
      site's folder only with commands that use the key.
      """
  )

  @Argument(help: "A store, a manifest, an archive, or a folder of archives.", completion: .file())
  var source: String

  @Argument(help: .publishedSite, completion: .directory)
  var site: String

  @Argument(
    help: .init(
      "The packs, at their current version or another one of the source (default: all).",
      valueName: "pack[@version]"),
    transform: parseVersionName)
  var packs: [VersionName] = []

  @OptionGroup var key: KeyOption
  @OptionGroup var product: ProductOption
  @OptionGroup var expiry: ExpiryOptions
  @OptionGroup var encoding: ManifestEncodingOptions
  @OptionGroup var rows: RowOptions

  @Option(
    help: .init(
      """
      Number of a manifest's version (default: one more than the highest number that the site's channels ever offered).
      """,
      valueName: "n"))
  var version: UInt64?

  @Option(
    help: .init("Channel to offer the versions on; created if it does not exist (default: live).", valueName: "name"),
    transform: parseChannel)
  var channel = SiteChannel.live

  @Flag(help: "Offer the versions on no channel; 'packstore promote' offers them later.")
  var noOffer = false

  @Option(
    help: .init("Language of packs without one, such as en-US; kept for later publications.", valueName: "tag"),
    transform: parseLanguage)
  var primaryLanguage: LanguageTag?

  @Option(
    help: .init(
      """
      Number of offered versions of each pack to keep on the site, including the current one; above 1, each channel's \
      previous version stays, too. The latest n - 1 builds that are not offered yet are also kept (default: the site's policy, or 3).
      """,
      valueName: "n"))
  var keep: Int?

  @Option(
    help: .init(
      """
      Number of previous versions to create deltas from; 0 creates none (default: 1; for object storage and \
      --continue-from 0, because deltas require downloading content).
      """,
      valueName: "n"))
  var deltas: Int?

  @OptionGroup var deltaLevel: DeltaLevelOption

  @Option(
    name: [.customLong("continue-from"), .customLong("previous")],
    help: .init(
      """
      Served site to continue from: a URL, a folder or s3://bucket/prefix; new files are written to SITE, an empty \
      folder.
      """,
      valueName: "site"))
  var continueFrom: String?

  @Option(
    help: .init(
      "With --continue-from: other channel whose root is read for its version numbers; repeatable.",
      valueName: "name"), transform: parseChannel)
  var alsoChannel: [SiteChannel] = []

  @Option(
    help: .init(
      """
      With --continue-from: number of the channel's last root; an older root is refused (default: the number in the \
      key's file name with '.marks').
      """,
      valueName: "sequence"))
  var after: UInt64?

  @Option(
    help: .init(
      "With --continue-from: the site's required root key (default: the root key of --key).", valueName: "key"),
    transform: parsePublicKey)
  var trust: SitePublicKey?

  @OptionGroup var grace: GraceOption

  @Option(
    help: .collectionPercent)
  var gc = 25

  @Flag(
    help: "Remove packs from the channel that the source lacks; other channels still offer them.")
  var prune = false

  @Option(
    help: .init(
      "With --prune: largest share of the channel's packs to remove (default: 50%).",
      valueName: "percent"), transform: parsePercent)
  var maxRemoved: Int?

  @Flag(
    help: "Report new versions, changed roots and download sizes without changing the site; deltas are not counted."
  )
  var dryRun = false

  @Flag(help: "Publish a store without packs.")
  var allowEmpty = false

  @Flag(help: .failsIfPublishing)
  var noWait = false

  @OptionGroup var certificates: CertificateOption
  @OptionGroup(title: "Authorization") var authorization: AuthorizationOptions
  @OptionGroup var storage: StorageOptions
  @OptionGroup var log: BuildLogOptions
  @OptionGroup var report: ReportOptions

  func validate() throws {
    guard 1...PackVersion.lastNumber ~= version ?? 1 else {
      throw ValidationError("--version must be from 1 to \(PackVersion.lastNumber)")
    }
    guard (1...1000).contains(keep ?? 1) else {
      throw ValidationError("--keep must be from 1 to 1000, not \(keep ?? 0)")
    }
    guard (0...999).contains(deltas ?? 0) else {
      throw ValidationError("--deltas must be from 0 to 999, not \(deltas ?? 0)")
    }
    guard (0...100).contains(gc) else { throw ValidationError("--gc must be from 0 to 100, not \(gc)") }
    guard !noOffer || channel == .live else { throw ValidationError("--channel and --no-offer exclude each other") }
    guard !prune || packs.isEmpty else {
      throw ValidationError("--prune compares all packs of the source: name no packs")
    }
    guard !prune || !noOffer else { throw ValidationError("--prune and --no-offer exclude each other") }
    guard prune || maxRemoved == nil else { throw ValidationError("--max-removed needs '--prune'") }
    guard continueFrom != nil || (alsoChannel.isEmpty && trust == nil && after == nil) else {
      throw ValidationError("--also-channel, --trust and --after need '--continue-from'")
    }
    guard continueFrom == nil || !S3Location.names(site) else {
      throw ValidationError(
        "a bucket does not need --continue-from; omit it, or name a folder for the new files")
    }
    guard Set(packs.map(\.pack)).count == packs.count else { throw ValidationError("a pack is named twice") }
  }

  var subject: Failure.Facts { .init(store: isFolder(FilePath(source)) ? source : nil, site: site) }

  func run() async throws {
    // First: mistyped or exchanged operands make neither a key nor a site.
    try PublishOperands(source: source, site: site).requireOrder()
    let named = try PublishSource(source, report)
    try named.check(self)
    let packs = try packs.map(named.publishedPack)
    let place = try await DryRunSite(site, dryRun: dryRun && !isRemote)
    defer { place.end() }
    let continued = try continuedSite()
    defer { continued?.discard() }
    let host: any SiteHost = try continued ?? storage.host(of: place.path, waits: !noWait)
    let isMade = try await !host.exists()
    try named.requirePacks(self, makesSite: isMade)
    let hasKey = try key.exists
    let key = try key.open(
      for: product.product, quiet: report.quiet, signed: isMade ? nil : "the site", isDryRun: dryRun)
    let source = try named.open(signedBy: key, version: version)

    let clock = ContinuousClock()
    let start = clock.now
    let options = options, isDryRun = dryRun, traffic = StorageTraffic()
    var publication = HostPublication(to: host, signedBy: key, options: options, deltaCount: deltas)
    publication.changeNote = changeNote
    let outcome = try await host.withProgress(report, traffic: traffic) { [publication] events, bar in
      do {
        return try await publication.run(
          packs.isEmpty ? nil : packs, from: source, makesSite: !dryRun || isMade || isRemote, isDryRun: isDryRun,
          events: { events($0) }, opening: { host.warnOfClock(at: $0, report) }, progress: { show($0, bar) })
      } catch let error as PackStoreError where error.detail == .removalLimit {
        throw Failure(error, as: .refused, remedy: "add --max-removed 100% if that is intended")
      }
    }
    let result = outcome.publication
    try continued?.finish()
    if let continued, !dryRun { recordMarks(continued.marks) }
    let duration = clock.now - start
    if !report.quiet { warnAll(result) }

    let output = Output()
    if report.json {
      try output.json(
        PublishReport(result, duration, isDryRun: dryRun, hasKey: hasKey || !dryRun, isRemote ? traffic.counts : nil))
    } else if report.isTalkative {
      try output.lines(
        predecessorLines(continued) + (dryRun ? plan(result) : summary(result, duration))
          + (traffic.line.map { [$0] } ?? []))
    }
    try output.flush()
    if let deltaFailure = outcome.deltaFailure {
      if !report.quiet {
        warn(.missingDelta, "the versions are published, but some deltas are missing: 'packstore deltas' creates them")
      }
      throw deltaFailure
    }
  }

  /// The note on the change, for the private part of the history. With --publish-notes, it is also the note of the version.
  private var changeNote: ChangeNote {
    ChangeNote(environment: ProcessInfo.processInfo.environment, note: encoding.note?.text)
  }

  /// Records the highest sequence numbers next to the key: the next publication refuses older roots.
  private func recordMarks(_ marks: RootMarks) {
    do {
      if let file = try key.markFile { try marks.raise(in: file) }
    } catch {
      guard !report.quiet else { return }
      warn(
        .unrecordedRoot,
        "cannot record the newest root next to the key: \(escaped("\(error)")); add '--after' to the next publication")
    }
  }

  /// The roots that the publication continues from, and how old they are.
  private func predecessorLines(_ continued: RemoteSiteContinuation?) -> [String] {
    (continued?.predecessors ?? []).map { root in
      let age = formatDuration(.seconds(max(0, -root.madeAt.timeIntervalSinceNow)))
      return "continues from root \(root.sequence) of the channel \(root.channel), made \(age) ago"
    }
  }

  /// Whether the content of the site is elsewhere.
  private var isRemote: Bool { S3Location.names(site) || continueFrom != nil }

  private func continuedSite() throws -> RemoteSiteContinuation? {
    guard let continueFrom else { return nil }
    var options = RemoteSiteContinuation.Options()
    options.channels = (noOffer ? [] : [channel]) + alsoChannel
    options.trustedKey = trust
    options.after = after
    options.marks = try key.markFile.map { try RootMarks(contentsOf: $0) }
    let source = RemoteSiteLocation(
      continueFrom, options: try storage.options(),
      authorization: try authorization.authorizations(for: [continueFrom]).authorization(for: continueFrom),
      environment: certificates.environment)
    let continued = RemoteSiteContinuation(FilePath(site), from: source, options: options, isDryRun: dryRun)
    try continued.requireEmpty()
    return continued
  }

  /// Shows the progress of the publication, and the steps on which a user can act.
  private func show(_ progress: Site.PublishProgress, _ bar: ProgressBar) {
    bar.update(Progress(progress))
    guard report.isTalkative else { return }
    switch progress {
    case .prune(let packs): sayMeanwhile(packs.map { "removing \($0): the source does not contain it" }, bar)
    case .offer(let versions): announce(versions, bar)
    case .signed: sayMeanwhile(["root signed: safe to upload; deltas follow"], bar)
    default: break
    }
  }

  /// Names the versions that all devices of the live channel will receive, on standard error, before the root is signed. Other
  /// channels have fewer devices, and most publications to them are tests.
  private func announce(_ versions: [PackVersion], _ bar: ProgressBar) {
    guard channel == .live else { return }
    bar.finish()
    let line = "publishing to all devices of 'live': \(listed(versions.map { "\($0)" }))"
    BuildLog.current?.write(line)
    complain(line)
  }

  /// A reader that went away ends the command when it says the rest.
  private func sayMeanwhile(_ lines: [String], _ bar: ProgressBar) {
    bar.finish()
    let output = Output()
    try? output.lines(lines)
    try? output.flush()
  }

  private var options: Site.PublishOptions {
    var options = Site.PublishOptions(
      level: encoding.level, layout: encoding.layout, keptVersionCount: keep, deltaOptions: deltaLevel.options,
      product: product.product, channel: noOffer ? nil : channel,
      primaryLanguage: primaryLanguage, expiry: expiry.expiry, gracePeriod: grace.duration)
    options.waitsForOthers = !noWait
    options.label = encoding.label
    options.note = encoding.publishNotes ? encoding.note : nil
    options.publishesNotes = encoding.publishNotes
    options.rowLimit = rows.maxRows
    options.collectionPercent = gc
    options.prunes = prune
    if let maxRemoved { options.prunedPercentLimit = maxRemoved }
    return options
  }

  private func warnAll(_ result: Site.PublishResult) {
    for lost in result.lostVersions {
      warn(
        .lostVersion, "the site lost \(lost), and the source does not contain it: the site no longer offers it")
    }
    for missing in result.missingDeltas {
      warn(.missingDelta, "missing delta to \(missing.version) from \(missing.from): \(missing.reason)")
    }
  }

  /// The result of a dry run.
  private func plan(_ result: Site.PublishResult) -> [String] {
    result.prunedPacks.map { "\($0) would be removed from \(offeredPlace(result)): the source does not contain it" }
      + result.packs.map(line) + extraLines(result)
      + result.droppedVersions.map { "\($0) would leave the site" }
      + result.restoredVersions.map { "the site lost \($0): it would be copied again" }
      + result.updates.map { DeviceUpdateReport($0).words } + [
        replacedRoots(result),
        "  new    \(formatBytes(result.newByteCount)), without deltas",
      ]
  }

  private func offeredPlace(_ result: Site.PublishResult) -> String { "the channel \(result.channel ?? .live)" }

  /// Packs that the source lacks and that stay on the site.
  private func extraLines(_ result: Site.PublishResult) -> [String] {
    guard !result.extraPacks.isEmpty else { return [] }
    return [
      "not in the source, and still offered by \(offeredPlace(result)): \(listed(result.extraPacks.map(\.name)));"
        + " '--prune' removes such packs"
    ]
  }

  private func summary(_ result: Site.PublishResult, _ duration: Duration) -> [String] {
    let packs =
      result.packs.map(line) + extraLines(result)
      + result.prunedPacks.map { "\($0) is no longer offered by \(offeredPlace(result))" }
    let dropped = result.droppedVersions.map { "\($0) is no longer on the site" }
    let restored = result.restoredVersions.map { "the site lost \($0): it was copied again" }
    // Nothing is removed from a site that is served in another place.
    let retired = continueFrom == nil ? retiredLines(result) : []
    guard !result.isUnchanged else {
      return packs + [
        "nothing is new" + (result.channel.map { ": the channel \($0) stays at root \(result.sequence)" } ?? "")
      ]
        + retired
    }
    let expiry = result.expiresAt.map { ["  until  \(formatDate($0))"] } ?? []
    let deltas = result.deltas.map { "a delta leads from \($0): \(formatBytes($0.byteCount))" }
    let place =
      result.channel.map { "the channel \($0) is at root \(result.sequence)" }
      ?? "no channel offers this yet: 'packstore promote' does"
    return restored + packs + dropped + deltas + [
      place,
      "  new    \(formatBytes(result.newByteCount))",
      "  size   \(formatBytes(result.byteCount))",
      "  key    \(result.publicKey)",
    ] + expiry + ["  time   \(formatDuration(duration))"] + retired
  }

  private func line(_ pack: Site.PublishResult.Pack) -> String {
    if pack.isUnchanged { return "\(pack.version) is current already" }
    let whence = pack.previous.map { "\(pack.isWithdrawal ? ", back" : "") from \($0.number)" } ?? ", new on the site"
    return
      "\(pack.version)\(whence): \(formatBytes(pack.newByteCount)) of assets, \(formatBytes(pack.newStoredByteCount)) stored"
  }
}

private struct PublishReport: Encodable {
  struct Version: Encodable {
    let pack: String
    let version: UInt64
    let from: UInt64?
    let unchanged, withdrawal: Bool
    let catalog: String
    let newBytes, newStoredBytes: Int
  }

  struct Dropped: Encodable {
    let pack: String
    let version: UInt64
  }

  struct Delta: Encodable {
    let pack: String
    let from, to: UInt64
    let bytes: Int
  }

  let channel: String?
  let sequence: UInt64
  let unchanged, dryRun: Bool
  let changedChannels: [String]
  let publicKey: String?
  let expires: String?
  let packs: [Version]
  let pruned, extra: [String]
  let dropped: [Dropped]
  let deltas: [Delta]
  let restored, lost: [Dropped]
  let updates: [DeviceUpdateReport]
  let newBytes, bytes, retiredBytes: Int
  let retiredUntil: String?
  let seconds: Double

  struct Traffic: Encodable {
    let fetchedBytes, contentBytes, uploadedBytes: UInt64
  }

  let storage: Traffic?

  /// - Parameter hasKey: whether the key exists or was created.
  init(
    _ result: Site.PublishResult, _ duration: Duration, isDryRun: Bool, hasKey: Bool, _ traffic: StorageTraffic.Counts?
  ) {
    storage = traffic.map {
      Traffic(
        fetchedBytes: $0.fetchedByteCount, contentBytes: $0.contentByteCount, uploadedBytes: $0.uploadedByteCount)
    }
    channel = result.channel?.name
    sequence = result.sequence
    unchanged = result.isUnchanged
    dryRun = isDryRun
    changedChannels = result.changedChannels.map(\.name)
    publicKey = hasKey ? result.publicKey.description : nil
    expires = result.expiresAt.map(formatDate)
    packs = result.packs.map {
      Version(
        pack: $0.version.pack.name, version: $0.version.number, from: $0.previous?.number, unchanged: $0.isUnchanged,
        withdrawal: $0.isWithdrawal, catalog: $0.version.catalog.description, newBytes: $0.newByteCount,
        newStoredBytes: $0.newStoredByteCount)
    }
    pruned = result.prunedPacks.map(\.name)
    extra = result.extraPacks.map(\.name)
    dropped = result.droppedVersions.map { Dropped(pack: $0.pack.name, version: $0.number) }
    deltas = result.deltas.map {
      Delta(pack: $0.pack.name, from: $0.fromVersion, to: $0.toVersion, bytes: $0.byteCount)
    }
    restored = result.restoredVersions.map { Dropped(pack: $0.pack.name, version: $0.number) }
    lost = result.lostVersions.map { Dropped(pack: $0.pack.name, version: $0.number) }
    updates = result.updates.map(DeviceUpdateReport.init)
    newBytes = result.newByteCount
    bytes = result.byteCount
    retiredBytes = result.retiredByteCount
    retiredUntil = result.retiredUntil.map(formatDate)
    seconds = duration / .seconds(1)
  }
}
