import ArgumentParser
import PackDelivery
import PackFormats
import PackStore
import Synchronization

struct Pull: AsyncParsableCommand, CommandWithSubject, CommandWithLog {
  static let configuration = CommandConfiguration(
    abstract: "Bring packs to the versions that a site offers.",
    discussion: """
      Makes the store when there is none. Fetches what the store does not have yet, frame by frame or, where that is \
      shorter, by a delta or a chain of deltas that the site has for a version that is here; and commits all as one \
      switch. \
      Interrupted, the same command goes on where it was. A pack that is held since a rollback stays where it is.

      Without names it takes the packs that are here; into a store that has none of the site, all. '--all' takes those, too, \
      that are new on the site, or were removed here.

      At first contact the key that signed the site is remembered; another one is refused later. '--trust' names the key \
      that the publisher gave you. A pack of another publisher or product, or one that was added here, is left alone: \
      '--adopt' takes over those that are named. What a mirror shows that lags behind is left alone, too, and said.

        packstore pull Packs https://example.com/packs
        packstore pull Packs /mnt/stick/packs Tutorial --trust 11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=

      Data of purgeable packs that is gone is fetched again. Packs that 'packstore purge' took it from are left alone, unless they \
      are named or '--refetch' is said.

      A site may have several channels: '--channel' follows another one than 'live', and is remembered; versions may then be \
      lower than what is there. Versions may be for some versions of an app ('--app-version'), for some platforms, or for a \
      share of all devices, which each store draws for itself.

      Proxies are taken from http_proxy, https_proxy, all_proxy and no_proxy, and from SSL_CERT_FILE a file with the \
      certificates to trust in place of the system's. A site that requires an authorization gets the token of PACKSTORE_TOKEN or of \
      '--token-file', or the name and password for its host in ~/.netrc.
      """
  )

  @OptionGroup var store: StoreArgument

  @Argument(help: "The site: an http:, https: or file: URL, or a folder.", completion: .directory)
  var site: String

  @Argument(
    help: .init("The packs (default: those that are here; all, if none of the site is).", valueName: "pack"),
    transform: parsePackID)
  var packs: [PackID] = []

  @Flag(help: "Take all packs of the site, also those that are not here.")
  var all = false

  @Flag(help: "Take over packs that are named and of another origin; their history goes.")
  var adopt = false

  @Flag(help: "Take versions of packs that are named that are lower than what that was accepted last.")
  var downgrade = false

  @OptionGroup var client: ClientOptions

  @Option(
    help: .init("Bytes per second at most; also as 500k or 2M.", valueName: "bytes"), transform: parseByteRate)
  var limitRate: Int?

  @Flag(help: "Fetch frames even where a delta would be shorter: that takes less work here.")
  var noDelta = false

  @Flag(
    help:
      "Bring back data that 'packstore purge' took, too, of packs that are not named, and what is damaged in the cache folder."
  )
  var refetch = false

  @Flag(help: "Say what would be fetched, and make no version.")
  var dryRun = false

  @Option(help: .init("How many versions of each pack stay readable, the new one included.", valueName: "n"))
  var keep = 2

  @OptionGroup var collection: CollectionOptions
  @OptionGroup(title: "Authorization") var authorization: AuthorizationOptions
  @OptionGroup(title: "Limits of servers") var network: NetworkOptions
  @OptionGroup var rows: RowOptions
  @OptionGroup var wait: WaitOption
  @OptionGroup var log: BuildLogOptions
  @OptionGroup var report: ReportOptions

  func validate() throws {
    guard (1...1000).contains(keep) else { throw ValidationError("--keep goes from 1 to 1000, not \(keep)") }
    guard !site.isEmpty else { throw ValidationError("name a site: a URL or a folder") }
    guard packs.isEmpty || !all else { throw ValidationError("name packs, or say --all") }
    guard !packs.isEmpty || !(adopt || downgrade) else {
      throw ValidationError("--adopt and --downgrade are for packs that are named")
    }
    guard !store.store.contains("://") else { throw ValidationError("the store comes first, then the site") }
  }

  var subject: Failure.Facts {
    .init(store: store.store, site: withoutSecrets(site), pack: packs.count == 1 ? packs[0] : nil)
  }

  func run() async throws {
    if !site.contains("://") { try PackFileKind.require(.archive, at: site, store: store.store, for: "pull") }
    let bar = ProgressBar(enabled: report.isTalkative)
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
      throw Failure(.cancelled, "cancelled", remedy: "run the same command to go on")
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
      "the pull failed, but the key \(key) of this site is trusted from now on; compare it with what the publisher"
        + " says: 'packstore trust \(escaped(store.store))' shows it, and forgets it")
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
      for text in result.warnings { warn(text) }
      if result.packs.isEmpty { warn("the site has no packs: nothing was pulled") }
      if result.isFirstContact, let key = result.key {
        let trusted = dryRun ? "would be trusted by a pull" : "is trusted from now on"
        warn("the key \(key) of this site \(trusted); compare it with what the publisher says")
      }
    }
    let output = Output()
    if report.json {
      try output.json(PullReport(result, duration, isDryRun: dryRun))
    } else if report.isTalkative {
      try output.lines(result.lines(duration, isDryRun: dryRun))
    }
    try output.flush()
    if let failure = result.reusedNumberFailure(store: store.store, site: site) { throw failure }
    let strangers = result.packs.filter { $0.outcome == .otherOrigin }.map(\.pack)
    if let first = strangers.first {
      let names = strangers.map { "'\($0)'" }.joined(separator: ", ")
      throw Failure(
        .otherOrigin,
        strangers.count == 1
          ? "\(names) is of another origin and was left alone" : "\(names) are of other origins and were left alone",
        remedy: "name what is to be taken over, with '--adopt'", pack: first)
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
