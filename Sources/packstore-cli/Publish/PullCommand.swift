import ArgumentParser
import PackDelivery
import PackFormats
import PackStore
import Synchronization

struct Pull: AsyncParsableCommand, CommandWithSubject, CommandWithLog {
  static let configuration = CommandConfiguration(
    commandName: "pull",
    abstract: "Install or update packs from a site.",
    discussion: """
      Creates the store if it does not exist. Downloads missing data as frames, or as a delta or chain of deltas from \
      an installed version if that is shorter, and installs everything in one commit. After an interruption, the same \
      command resumes. A pack that is held after a rollback keeps its version.

        packstore pull Packs https://example.com/packs
        packstore pull Packs /mnt/stick/packs Tutorial --trust KEY

      Without pack names, updates the installed packs of the site, or installs all packs if the store has none of \
      them. '--all' also installs packs that are new on the site or were removed here.

      The first contact remembers the key that signed the site; another key is refused later. '--trust' checks the \
      key that the publisher gave you. Packs of another publisher or product, and packs added here, are not changed \
      unless you name them with '--adopt'. A mirror that is out of date is reported and changes nothing.

      Missing data of purgeable packs is downloaded again. Packs that lost data to 'packstore purge' are skipped \
      unless you name them or use '--refetch'.

      A site may have several channels. '--channel' follows another one than 'live' and is remembered; versions may \
      then be lower than the installed ones. Versions may be limited to app versions ('--app-version'), platforms, or \
      a share of all devices, which depends on the store's device id.

      Proxies come from http_proxy, https_proxy, all_proxy and no_proxy. SSL_CERT_FILE replaces the system's \
      certificates. A site that requires authorization receives the token of PACKSTORE_TOKEN or '--token-file', or \
      the name and password for its host in ~/.netrc.
      """
  )

  @OptionGroup var store: StoreArgument

  @Argument(help: "The site: an http:, https: or file: URL, or a folder.", completion: .directory)
  var site: String

  @Argument(
    help: .init("The packs (default: the installed packs of the site; if none is installed, all).", valueName: "pack"),
    transform: parsePackID)
  var packs: [PackID] = []

  @Flag(help: "Install all packs of the site, also packs that are not installed.")
  var all = false

  @Flag(help: "Adopt the named packs if they have another origin; their history is deleted.")
  var adopt = false

  @Flag(help: "Allow the named packs to be downgraded.")
  var downgrade = false

  @OptionGroup var client: ClientOptions

  @Option(
    help: .downloadRate, transform: parseByteRate)
  var limitRate: Int?

  @Flag(help: "Download frames even if a delta is shorter; this needs less work on this machine.")
  var noDelta = false

  @Flag(
    help: "Also download data deleted by 'packstore purge', of all packs, and damaged data in the cache folder."
  )
  var refetch = false

  @Flag(help: .plansDownload)
  var dryRun = false

  @Option(help: .keptVersionCount)
  var keep = 2

  @OptionGroup var collection: CollectionOptions
  @OptionGroup(title: "Authorization") var authorization: AuthorizationOptions
  @OptionGroup(title: "Network limits") var network: NetworkOptions
  @OptionGroup var rows: RowOptions
  @OptionGroup var wait: WaitOption
  @OptionGroup var log: BuildLogOptions
  @OptionGroup var report: ReportOptions

  func validate() throws {
    guard (1...1000).contains(keep) else { throw ValidationError("--keep must be from 1 to 1000, not \(keep)") }
    guard !site.isEmpty else { throw ValidationError("site missing: name a URL or a folder") }
    guard packs.isEmpty || !all else { throw ValidationError("packs and --all exclude each other") }
    guard !packs.isEmpty || !(adopt || downgrade) else {
      throw ValidationError("--adopt and --downgrade need the names of packs")
    }
    guard !store.store.contains("://") else { throw ValidationError("the store comes first, then the site") }
  }

  var subject: Failure.Facts {
    .init(store: store.store, site: withoutSecrets(site), pack: packs.count == 1 ? packs[0] : nil)
  }

  func run() async throws {
    if !site.contains("://") { try PackFileKind.require(.archive, at: site, store: store.store, for: "pull") }
    let bar = ProgressBar(report.progressForm)
    defer { bar.finish() }
    let clock = ContinuousClock()
    let start = clock.now
    let pinned = Mutex<SitePublicKey?>(nil)
    let show: @Sendable (Store.PullProgress) -> Void = { progress in
      pinned.withLock { $0 = progress.pinnedKey }
      bar.update(Progress(progress))
    }
    let result: Store.PullResult
    do {
      result = try await pull(show)
    } catch {
      bar.finish()
      if let key = pinned.withLock({ $0 }) { warnOfPin(key) }
      guard error is CancellationError else { throw error }
      throw Failure(.cancelled, "cancelled", remedy: "run the same command again to continue")
    }
    bar.finish()
    try say(result, clock.now - start)
  }

  private func pull(_ show: @escaping @Sendable (Store.PullProgress) -> Void) async throws -> Store.PullResult {
    var options = options
    options.authorization = try authorization.authorizations(for: [site]).authorization(for: site)
    let packs = packs.isEmpty ? nil : packs
    guard !dryRun else {
      let place = try DryRunStore(store, options: wait.storeOptions)
      defer { place.end() }
      return try await place.store.planPull(
        from: site, packs: packs, options: place.apply(to: options), progress: show)
    }
    return try await pullIntoStore(
      store, storeOptions: wait.storeOptions, from: site, packs: packs, options: options, progress: show)
  }

  /// The pull failed, and its key stays.
  private func warnOfPin(_ key: SitePublicKey) {
    guard !report.quiet else { return }
    warn(
      .firstContact,
      "the pull failed, but the key \(key) of this site is trusted from now on; compare it with the publisher's"
        + " key; 'packstore trust \(escaped(store.store))' lists and removes trusted keys")
  }

  private var options: Store.PullOptions {
    var options = collection.apply(to: client.options)
    options.unnamedPacks = all ? .all : .installedUnlessNone
    options.adopts = adopt
    options.allowsDowngrade = downgrade
    options.usesDeltas = !noDelta
    // The caller may know that cached data of these packs is damaged, which lengths do not show.
    options.refetches = refetch || !packs.isEmpty
    options.byteRateLimit = limitRate
    options.limits = network.limits
    options.rowLimit = rows.maxRows
    options.environment = network.environment
    options.waitsForWriters = !wait.noWait
    options.keptVersionCount = keep
    return options
  }

  // MARK: - Report

  private func say(_ result: Store.PullResult, _ duration: Duration) throws {
    if !report.quiet {
      for warning in result.warnings { warn(warning.code, warning.text) }
      result.warnOfSharedKey(site: site)
      if result.packs.isEmpty { warn(.emptySite, "the site has no packs: nothing was pulled") }
      if result.isFirstContact, let key = result.key {
        let trusted = dryRun ? "would be trusted by a pull" : "is trusted from now on"
        warn(.firstContact, "the key \(key) of this site \(trusted); compare it with the publisher's key")
      }
    }
    let output = Output()
    if report.json {
      try output.json(PullReport(result, duration, isDryRun: dryRun))
    } else if report.isTalkative {
      try output.lines(result.lines(duration, isDryRun: dryRun))
    }
    try output.flush()
    if let failure = result.skippedPackFailure(store: store.store, site: site) { throw failure }
    let strangers = result.packs.filter { $0.outcome == .otherOrigin }.map(\.pack)
    if let first = strangers.first {
      let names = strangers.map { "'\($0)'" }.joined(separator: ", ")
      throw Failure(
        .otherOrigin,
        strangers.count == 1
          ? "\(names): belongs to another origin, so it was not changed"
          : "\(names): belong to other origins, so they were not changed",
        remedy: "add '--adopt' to change their origin", pack: first)
    }
  }
}

/// Pulls into a store, and makes it when there is none: after the root of the site was read and accepted, so that a
/// refusal leaves no empty store.
func pullIntoStore(
  _ named: StoreArgument, storeOptions: Store.Options, from site: String, packs: [PackID]? = nil,
  options: Store.PullOptions, progress: @escaping @Sendable (Store.PullProgress) -> Void
) async throws -> Store.PullResult {
  guard isVacant(named.store) else {
    let store = try named.open(storeOptions)
    return try await store.pull(from: site, packs: packs, options: options, progress: progress)
  }
  progress(Store.PullProgress(phase: .connect))
  let contact = try await SiteContact.open(site, packs: packs, options: options)
  let store: Store
  do {
    store = try named.open(storeOptions)
  } catch {
    await contact.close()
    throw error
  }
  return try await store.pull(from: contact, packs: packs, options: options, progress: progress)
}
