import ArgumentParser
import PackAuthoring
import PackDelivery
import PackPublishing
import PackFormats
import PackStore

struct Publish: AsyncParsableCommand, CommandWithSubject, CommandWithLog {
  static let configuration = CommandConfiguration(
    abstract: "Publish packs to a site, a folder or bucket that any web server can serve.",
    discussion: """
      Makes the site when there is none. Of a store, copies the current versions of all packs, or of those that are named, \
      encodes what the site lacks for small downloads, and signs a new root: clients see all of it or nothing. An older version \
      that is current in the store becomes current on the site: clients go back to it. A version that the \
      channel offers already keeps its share of devices and its app versions: 'promote' changes these. When there is nothing \
      new, nothing is written. Then makes a delta from the version before, which takes longest: it can be left out, or interrupted, \
      and the site can be uploaded before: "root signed: safe to upload" says when.

        packstore publish Packs public/packs --new-key
        packstore publish Packs public/packs Tutorial Level1@5 --level 19
        packstore publish Packs public/packs Tutorial --channel beta
        packstore publish Packs public/packs --prune --dry-run
        packstore publish Manifest.json public/packs --dry-run
        packstore publish Tutorial.pack public/packs
        packstore publish Packs s3://assets/packs --region eu-central-1
        packstore publish Manifest.json New --continue-from https://assets.example.com/packs --key env:KEY
        (cd public/packs && rsync -a segments frames versions attributes deltas changes server:packs/ &&
         rsync -a roots server:packs/ && rsync -a root server:packs/)

      A manifest (.json) is packed as 'packstore package' packs it, as the version after the site's highest, or with the number \
      that '--version' says. An archive that 'package' or 'export' made is taken as it is, without compressing it again, if \
      clients of the key would take it; of a folder of archives (*.pack), the highest version of each pack is, or the one that \
      is named. What the site has already stays; a version that it has with other content is refused.

      '--continue-from' is for a job that has nothing of the site but the key: it goes on from the signed roots that a web \
      server, a folder or a bucket serves, fetches what says what the site has and none of its content, and makes in the folder \
      SITE, which must be empty, exactly the files that are to be copied over the served ones. Copy all but root and roots/ first, \
      see by 'packstore check-served' that no other job was faster, then copy roots/ and root.

      Packs that the channel offers and the source does not have stay, and are named. '--prune' takes them off that channel; one \
      that no other channel offers leaves the site. When they are more than half of what the channel offers, that is refused: \
      '--max-removed' allows more or less.

      Clients take the site's root key at their first contact, or the one that you give them: 'packstore keygen' \
      prints it. '--new-key' makes a root key and the release key that signs, for 400 days: move the root \
      key to a safe place, and run 'packstore delegate' with it once a year. Without it, a missing key is an error: another \
      key is another publisher to clients. Copy to a server segments/, frames/, \
      versions/, deltas/, changes/ and attributes/ first, then roots/, and root last; remove there afterwards what is \
      gone here. \
      Files that left the site stay for the grace period, for clients that are fetching them, and go with the first \
      publication after it. Nothing but commands with the key changes a site's folder.
      """
  )

  @Argument(help: "A store, a manifest, an archive, or a folder of archives.", completion: .file())
  var source: String

  @Argument(help: "The site: a folder, or s3://bucket/prefix.", completion: .directory)
  var site: String

  @Argument(
    help: .init(
      "The packs (default: all), each at its current version or at one that the source has.",
      valueName: "pack[@version]"),
    transform: parseVersionName)
  var packs: [VersionName] = []

  @OptionGroup var key: KeyOption
  @OptionGroup var product: ProductOption
  @OptionGroup var expiry: ExpiryOptions
  @OptionGroup var encoding: ManifestEncodingOptions

  @Option(
    help: .init(
      "The number of a manifest's version (default: one more than the site's highest). Needed with --continue-from where a version was withdrawn: its number is known no more.",
      valueName: "n"))
  var version: UInt64?

  @Option(
    help: .init("The channel that offers the versions, which is made if there is none.", valueName: "name"),
    transform: parseChannel)
  var channel = SiteChannel.live

  @Flag(help: "Offer the versions on no channel yet: 'packstore promote' does that later.")
  var noOffer = false

  @Option(
    help: .init("The language of packs that name none, such as en-US; kept for later publications.", valueName: "tag"),
    transform: parseLanguage)
  var primaryLanguage: LanguageTag?

  @Option(
    help: .init(
      "How many offered versions of these packs stay on the site, the current one included; above 1, the one before it on each channel stays. As many builds that wait to be offered stay as well.",
      valueName: "n"))
  var keep = 3

  @Option(
    help: .init(
      "From how many of the versions before there are deltas, for clients that have one of these; 0 for none (default: 1; none for a site in object storage and with --continue-from: its content is fetched for that).",
      valueName: "n"))
  var deltas: Int?

  @OptionGroup var deltaLevel: DeltaLevelOption

  @Option(
    name: [.customLong("continue-from"), .customLong("previous")],
    help: .init(
      "Go on from the site that is served there, and write what is new into SITE, an empty folder: a URL, a folder, or s3://bucket/prefix.",
      valueName: "site"))
  var continueFrom: String?

  @Option(
    help: .init(
      "With --continue-from: read the root of this channel, too, so that its version numbers are known (repeatable).",
      valueName: "name"), transform: parseChannel)
  var alsoChannel: [SiteChannel] = []

  @Option(
    help: .init(
      "With --continue-from: the root key that the site must have (default: that of --key).", valueName: "key"),
    transform: parsePublicKey)
  var trust: SitePublicKey?

  @OptionGroup var grace: GraceOption

  @Option(
    help: .init(
      "Store at most this share of what is new once more, in percent, to free space inside segments that are mostly dead; 0: nothing.",
      valueName: "percent"))
  var gc = 25

  @Flag(
    help: "Take packs off the channel that it offers and that the source does not have; others go on offering them.")
  var prune = false

  @Option(
    help: .init(
      "With --prune: refuse when more than this share of the channel's packs would go (default: 50%).",
      valueName: "percent"), transform: parsePercent)
  var maxRemoved: Int?

  @Flag(
    help:
      "Say what would be new, and which roots would change, what devices would fetch, and leave the site as it is; deltas that would be made are not counted."
  )
  var dryRun = false

  @Flag(help: "Publish a store without packs.")
  var allowEmpty = false

  @Flag(help: "Fail at once when another process is publishing to the site, rather than wait.")
  var noWait = false

  @OptionGroup(title: "Authorization") var authorization: AuthorizationOptions
  @OptionGroup var storage: StorageOptions
  @OptionGroup var log: BuildLogOptions
  @OptionGroup var report: ReportOptions

  func validate() throws {
    guard 1...PackVersion.lastNumber ~= version ?? 1 else {
      throw ValidationError("--version goes from 1 to \(PackVersion.lastNumber)")
    }
    guard (1...1000).contains(keep) else { throw ValidationError("--keep goes from 1 to 1000, not \(keep)") }
    guard (0...999).contains(deltas ?? 0) else {
      throw ValidationError("--deltas goes from 0 to 999, not \(deltas ?? 0)")
    }
    guard (0...100).contains(gc) else { throw ValidationError("--gc goes from 0 to 100, not \(gc)") }
    guard !noOffer || channel == .live else { throw ValidationError("--channel and --no-offer exclude each other") }
    guard !prune || packs.isEmpty else {
      throw ValidationError("--prune compares with all that the source has: name no packs")
    }
    guard !prune || !noOffer else { throw ValidationError("--prune and --no-offer exclude each other") }
    guard prune || maxRemoved == nil else { throw ValidationError("--max-removed needs '--prune'") }
    guard continueFrom != nil || (alsoChannel.isEmpty && trust == nil) else {
      throw ValidationError("--also-channel and --trust need '--continue-from'")
    }
    guard continueFrom == nil || !S3Location.names(site) else {
      throw ValidationError(
        "a bucket goes on from itself: leave out --continue-from, or name a folder for the new files")
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
    var result = try await host.edit(
      with: key, makesSite: !dryRun || isMade || isRemote, report, isDryRun: dryRun, traffic: traffic
    ) {
      site, bar in
      do {
        return try await site.publish(
          packs.isEmpty ? nil : packs, from: source, signedBy: key, options: options, isDryRun: isDryRun
        ) { show($0, bar) }
      } catch let error as PackStoreError where error.code == .refused && error.reason.hasPrefix("the source lacks ") {
        throw Failure(.refused, escaped(error.reason), remedy: "say --max-removed 100% if that is meant")
      }
    }
    let deltaFailure = isRemote && !dryRun ? await makeDeltas(for: &result, on: continued, signedBy: key, traffic) : nil
    try continued?.finish()
    let duration = clock.now - start
    if !report.quiet { warnAll(result) }

    let output = Output()
    if report.json {
      try output.json(
        PublishReport(result, duration, isDryRun: dryRun, hasKey: hasKey || !dryRun, isRemote ? traffic.counts : nil))
    } else if report.isTalkative {
      try output.lines((dryRun ? plan(result) : summary(result, duration)) + (traffic.line.map { [$0] } ?? []))
    }
    try output.flush()
    if let deltaFailure {
      if !report.quiet {
        warn("the versions are published, but not all of their deltas: 'packstore deltas' makes these")
      }
      throw deltaFailure
    }
  }

  /// Whether the content of the site is elsewhere.
  private var isRemote: Bool { S3Location.names(site) || continueFrom != nil }

  private func continuedSite() throws -> ContinuedSite? {
    guard let continueFrom else { return nil }
    var options = ContinuedSite.Options()
    options.channels = (noOffer ? [] : [channel]) + alsoChannel
    options.trustedKey = trust
    let source = ServedSource(
      continueFrom, options: try storage.options(),
      authorization: try authorization.authorizations(for: [continueFrom]).authorization(for: continueFrom))
    let continued = ContinuedSite(FilePath(site), from: source, options: options, isDryRun: dryRun)
    try continued.requireEmpty()
    return continued
  }

  /// Shows how far the publication is, and says what a person acts on meanwhile.
  private func show(_ progress: Site.PublishProgress, _ bar: ProgressBar) {
    bar.update(Progress(progress))
    guard report.isTalkative else { return }
    switch progress {
    case .prune(let packs): sayMeanwhile(packs.map { "\($0) goes: the source does not have it" }, bar)
    case .signed: sayMeanwhile(["root signed: safe to upload; deltas follow"], bar)
    default: break
    }
  }

  /// A reader that went away ends the command when it says the rest.
  private func sayMeanwhile(_ lines: [String], _ bar: ProgressBar) {
    bar.finish()
    let output = Output()
    try? output.lines(lines)
    try? output.flush()
  }

  /// Makes deltas on a site whose content is elsewhere: for that, the content is fetched. In object storage, the site offers the
  /// versions already.
  ///
  /// - Returns: what went wrong. The publication is told of all the same.
  private func makeDeltas(
    for result: inout Site.PublishResult, on continued: ContinuedSite?, signedBy key: SiteKey, _ traffic: StorageTraffic
  ) async -> (any Error)? {
    do {
      try await addDeltas(to: &result, on: continued, signedBy: key, traffic)
      return nil
    } catch { return error }
  }

  private func addDeltas(
    to result: inout Site.PublishResult, on continued: ContinuedSite?, signedBy key: SiteKey, _ traffic: StorageTraffic
  ) async throws {
    guard let deltas, deltas > 0, !noOffer else { return }
    var options = options
    options.deltaCount = deltas
    let packs = Set(result.packs.map(\.version.pack)), channel = channel, deltaOptions = options
    let host: any SiteHost = try continued ?? storage.host(of: site, waits: !noWait)
    let (made, missing) = try await host.edit(
      with: key, makesSite: false, report, isDryRun: false, traffic: traffic,
      reading: { site in
        try await site.planDeltas(for: channel, of: packs, signedBy: key, options: deltaOptions)
          .flatMap { [$0.from, $0.to] }
      }
    ) { site, bar in
      try await site.makeDeltas(for: channel, of: packs, signedBy: key, options: deltaOptions) {
        bar.update(Progress($0))
      }
    }
    result.add(made, missing)
  }

  private var options: Site.PublishOptions {
    var options = Site.PublishOptions(
      level: encoding.level, layout: encoding.layout, keptVersionCount: keep,
      deltaCount: isRemote ? 0 : deltas ?? 1,
      deltaOptions: deltaLevel.options, product: product.product, channel: noOffer ? nil : channel,
      primaryLanguage: primaryLanguage, expiry: expiry.expiry, gracePeriod: grace.duration)
    options.waitsForOthers = !noWait
    options.label = encoding.label
    options.note = encoding.note
    options.publishesNotes = encoding.publishNotes
    options.collectionPercent = gc
    options.prunes = prune
    if let maxRemoved { options.prunedPercentLimit = maxRemoved }
    return options
  }

  private func warnAll(_ result: Site.PublishResult) {
    for lost in result.lostVersions {
      warn("the site had lost \(lost), and the source does not have it: the site does not offer it any more")
    }
    for missing in result.missingDeltas {
      warn("there is no delta to \(missing.version) from \(missing.from): \(missing.reason)")
    }
  }

  /// What a dry run found.
  private func plan(_ result: Site.PublishResult) -> [String] {
    result.prunedPacks.map { "\($0) would go from \(offeredPlace(result)): the source does not have it" }
      + result.packs.map(line) + extraLines(result)
      + result.droppedVersions.map { "\($0) would leave the site" }
      + result.restoredVersions.map { "the site had lost \($0): it would be copied once more" }
      + result.updates.map { DeviceUpdateReport($0).words } + [
        replacedRoots(result),
        "  new    \(formatBytes(result.newByteCount)), without deltas",
      ]
  }

  private func offeredPlace(_ result: Site.PublishResult) -> String { "the channel \(result.channel ?? .live)" }

  /// What the source does not have, and stays.
  private func extraLines(_ result: Site.PublishResult) -> [String] {
    guard !result.extraPacks.isEmpty else { return [] }
    return [
      "not in the source, and still offered by \(offeredPlace(result)): \(listed(result.extraPacks.map(\.name)));"
        + " '--prune' takes such packs off"
    ]
  }

  private func summary(_ result: Site.PublishResult, _ duration: Duration) -> [String] {
    let packs =
      result.packs.map(line) + extraLines(result)
      + result.prunedPacks.map { "\($0) is no longer offered by \(offeredPlace(result))" }
    let dropped = result.droppedVersions.map { "\($0) is no longer on the site" }
    let restored = result.restoredVersions.map { "the site had lost \($0): it was copied once more" }
    // Of a site that is served elsewhere nothing is removed.
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

  /// - Parameter hasKey: the key is one that there is, or was made.
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
