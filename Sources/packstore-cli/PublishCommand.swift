import ArgumentParser
import PackAuthoring
import PackStore

struct Publish: AsyncParsableCommand, CommandWithSubject {
  static let configuration = CommandConfiguration(
    abstract: "Publish packs to a site, a folder that any web server can serve.",
    discussion: """
      Makes the site when there is none. Copies the current versions of all packs, or of those that are named, encodes \
      what the site lacks for small downloads, and signs a new root: clients see all of it or nothing. An older version \
      that is current in the store becomes current on the site: clients go back to it. A version that the \
      channel offers already keeps its share of devices and its app versions: 'promote' changes these. When there is nothing \
      new, nothing is written. Then makes a delta from the version before, which takes longest: it can be left out, or interrupted.

        packstore publish Packs public/packs
        packstore publish Packs public/packs Tutorial Level1@5 --level 19
        packstore publish Packs public/packs Tutorial --channel beta
        (cd public/packs && rsync -a segments frames versions deltas attributes server:packs/ &&
         rsync -a roots root server:packs/)

      Clients take the site's root key at their first contact, or the one that you give them: 'packstore keygen' \
      prints it. The first publication makes a root key and the release key that signs, for 400 days: move the root \
      key to a safe place, and run 'packstore delegate' with it once a year. Copy to a server segments/, frames/, \
      versions/, deltas/ and attributes/ first, then roots/, and root last; remove there afterwards what is gone here. \
      Files that left the site stay for the grace period, for clients that are fetching them, and go with the first \
      publication after it. Nothing but commands with the key changes a site's folder.
      """
  )

  @OptionGroup var store: StoreArgument

  @Argument(help: "The site's folder.", completion: .directory)
  var site: String

  @Argument(
    help: .init(
      "The packs (default: all), each at its current version or at one that is kept.", valueName: "pack[@version]"),
    transform: parseVersionName)
  var packs: [VersionName] = []

  @OptionGroup var key: KeyOption
  @OptionGroup var product: ProductOption
  @OptionGroup var expiry: ExpiryOptions
  @OptionGroup var encoding: EncodingOptions

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

  @Option(help: .init("How many versions of these packs stay on the site, the current one included.", valueName: "n"))
  var keep = 3

  @Option(
    help: .init(
      "From how many of the versions before there are deltas, for clients that have one of these; 0 for none.",
      valueName: "n"))
  var deltas = 1

  @Option(help: .init("How small deltas are: fast, default, best, or a number from 1 to 22.", valueName: "level"))
  var deltaLevel: DeltaLevel?

  @OptionGroup var grace: GraceOption

  @Flag(help: "Fail at once when another process is publishing to the site, rather than wait.")
  var noWait = false

  @OptionGroup var report: ReportOptions

  func validate() throws {
    guard (1...1000).contains(keep) else { throw ValidationError("--keep goes from 1 to 1000, not \(keep)") }
    guard (0...999).contains(deltas) else { throw ValidationError("--deltas goes from 0 to 999, not \(deltas)") }
    guard !noOffer || channel == .live else { throw ValidationError("--channel and --no-offer exclude each other") }
    guard Set(packs.map(\.pack)).count == packs.count else { throw ValidationError("a pack is named twice") }
  }

  var subject: Failure.Facts { .init(store: store.store, site: site) }

  func run() async throws {
    let source = try store.openForReading()  // first: a mistyped store must make neither a key nor a site
    let snapshot = try source.makeSnapshot()
    let packs = try packs.map { try $0.publishedPack(in: snapshot) }
    let key = try key.open(
      for: product.product, quiet: report.quiet,
      missing: Site.exists(at: FilePath(site)) ? .refuse(signed: "the site") : .make)
    let site = try Site(at: FilePath(site))
    var options = encoding.publishOptions
    options.product = product.product
    options.expiry = expiry.expiry
    options.channel = noOffer ? nil : channel
    options.primaryLanguage = primaryLanguage
    options.keptVersionCount = keep
    options.deltaCount = deltas
    if let deltaLevel { options.deltaOptions.level = deltaLevel.level }
    options.gracePeriod = grace.duration
    options.waitsForOthers = !noWait

    let bar = ProgressBar(enabled: report.isTalkative)
    defer { bar.finish() }
    let clock = ContinuousClock()
    let start = clock.now
    let result = try await site.publish(packs.isEmpty ? nil : packs, from: source, signedBy: key, options: options) {
      bar.update(Progress($0))
    }
    let duration = clock.now - start
    bar.finish()
    if !report.quiet {
      for lost in result.lostVersions {
        warn("the site had lost \(lost), and the store does not keep it: the site does not offer it any more")
      }
      for missing in result.missingDeltas {
        warn("there is no delta to \(missing.version) from \(missing.from): \(missing.reason)")
      }
    }

    let output = Output()
    if report.json {
      try output.json(PublishReport(result, duration))
    } else if report.isTalkative {
      try output.lines(summary(result, duration))
    }
    try output.flush()
  }

  private func summary(_ result: Site.PublishResult, _ duration: Duration) -> [String] {
    let packs = result.packs.map(line)
    let dropped = result.droppedVersions.map { "\($0) is no longer on the site" }
    let restored = result.restoredVersions.map { "the site had lost \($0): it was copied once more" }
    guard !result.isUnchanged else {
      return packs + [
        "nothing is new" + (result.channel.map { ": the channel \($0) stays at root \(result.sequence)" } ?? "")
      ]
        + retiredLines(result)
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
    ] + expiry + ["  time   \(formatDuration(duration))"] + retiredLines(result)
  }

  private func line(_ pack: Site.PublishResult.Pack) -> String {
    if pack.isUnchanged { return "\(pack.version) is current already" }
    let whence = pack.previous.map { "\(pack.isWithdrawal ? ", back" : "") from \($0.number)" } ?? ", new on the site"
    return
      "\(pack.version)\(whence): \(formatBytes(pack.newByteCount)) of assets, \(formatBytes(pack.newStoredByteCount)) stored"
  }
}

struct Keygen: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print the public key that clients are to trust; make a root key if there is none.",
    discussion: """
      The secret key's file can be read by its owner alone. The public key goes to clients: 'packstore pull --trust'. A root \
      key delegates to release keys, which sign sites and archives, and can sign by itself, for any product and without end.

        packstore keygen
        packstore keygen root.key
      """
  )

  @Argument(
    help: "The file with the secret key (default: ~/.config/packstore/site.key).", completion: .file())
  var file: String?

  @OptionGroup var report: ReportOptions

  func run() throws {
    let file = try keyFile(file)
    let (key, isNew) = try SiteKey.readOrMake(file)
    if isNew, report.isTalkative {
      warn("made a secret key in '\(escaped(file.string))': keep it, and a copy in a safe place; clients take no other")
    }
    let output = Output()
    if report.json {
      try output.json(KeyReport(publicKey: key.rootKey.description, file: file.string, isNew: isNew))
    } else {
      try output.line(key.rootKey.description)
    }
    try output.flush()
  }
}

private struct KeyReport: Encodable {
  let publicKey, file: String
  let isNew: Bool
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
  let unchanged: Bool
  let publicKey: String
  let expires: String?
  let packs: [Version]
  let dropped: [Dropped]
  let deltas: [Delta]
  let restored, lost: [Dropped]
  let newBytes, bytes, retiredBytes: Int
  let retiredUntil: String?
  let seconds: Double

  init(_ result: Site.PublishResult, _ duration: Duration) {
    channel = result.channel?.name
    sequence = result.sequence
    unchanged = result.isUnchanged
    publicKey = result.publicKey.description
    expires = result.expiresAt.map(formatDate)
    packs = result.packs.map {
      Version(
        pack: $0.version.pack.name, version: $0.version.number, from: $0.previous?.number, unchanged: $0.isUnchanged,
        withdrawal: $0.isWithdrawal, catalog: $0.version.catalog.description, newBytes: $0.newByteCount,
        newStoredBytes: $0.newStoredByteCount)
    }
    dropped = result.droppedVersions.map { Dropped(pack: $0.pack.name, version: $0.number) }
    deltas = result.deltas.map {
      Delta(pack: $0.pack.name, from: $0.fromVersion, to: $0.toVersion, bytes: $0.byteCount)
    }
    restored = result.restoredVersions.map { Dropped(pack: $0.pack.name, version: $0.number) }
    lost = result.lostVersions.map { Dropped(pack: $0.pack.name, version: $0.number) }
    newBytes = result.newByteCount
    bytes = result.byteCount
    retiredBytes = result.retiredByteCount
    retiredUntil = result.retiredUntil.map(formatDate)
    seconds = duration / .seconds(1)
  }
}
