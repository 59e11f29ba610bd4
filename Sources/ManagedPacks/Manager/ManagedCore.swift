import Dispatch
import Synchronization

/// The parts of a manager: the group's folder, the store, the sites and the downloads.
final class ManagedCore: Sendable {
  let configuration: ManagedConfiguration
  let options: AssetPackManager.Options
  let folder: GroupFolder
  let store: Store
  let journal: JournalFile
  let sites: [any PackSite]
  let packs: LocalPacks
  let reader: NamespaceReader
  let materializer: Materializer
  let scheduler: DownloadScheduler
  /// `nil` if this process does not contact the agent.
  let agent: AgentClient?
  /// `nil` if ``agent`` is `nil`.
  private let watch: AgentWatch?
  /// Keeps the folder of an override; `nil` without an override.
  private let overrideUse: OverrideUse?
  /// Records requests in the order in which they are made and completed. One step of this queue records a request and passes it to
  /// the scheduler, so that the end of an earlier download cannot remove it.
  let journalQueue = DispatchQueue(label: "PackStore.journal")
  private let isRegistered = Atomic(false)
  private let views: Mutex<ViewFolder?> = Mutex(nil)
  /// The language that the app chose, as the journal had it on first use; `nil` before that.
  private let chosenLanguage: Mutex<LanguageTag??> = Mutex(nil)
  /// The last catalog, for calls that contact no site.
  private let lastCatalog: Mutex<PackCatalog?> = Mutex(nil)
  /// The sites that were reported for a shared key.
  private let sharedKeys: Mutex<Set<String>> = Mutex([])

  /// - Parameter override: the base used in place of the configuration's sites. With an override, `store` and `sites` of the
  ///   options are ignored.
  init(
    _ given: ManagedConfiguration, _ options: AssetPackManager.Options, hub: StatusHub, override: URLOverride? = nil
  ) throws {
    guard given.hasManagedAssetPacks else {
      throw ManagedPacksError(
        .invalidConfiguration, "the app '\(given.appID)' has unmanaged downloads, not asset packs",
        remedy: "use BADownloadManager, or set BAHasManagedAssetPacks to true")
    }
    let configuration = given.overridden(by: override)
    self.configuration = configuration
    self.options = options
    let folder = try GroupFolder(of: configuration, environment: options.environment).under(override)
    let agent = options.speaksToAgent ? AgentClient(in: folder, credentials: options.credentials) : nil
    let watch = agent.map { AgentWatch($0, patience: options.agentPatience) }
    let journal = JournalFile(in: folder, observer: watch?.observer)
    self.folder = folder
    self.agent = agent
    self.watch = watch
    self.journal = journal
    overrideUse = try override.map { _ in try OverrideUse(of: folder.home) }
    _ = try journal.read()
    let ownStore = override == nil ? options.store : nil
    let store = try ownStore ?? watch.watching { try Self.openStore(folder, options) }
    self.store = store
    var template = options.pullOptions
    if let authority = override?.authority { template.authority = authority }
    // Credentials are not sent to the server of an override, which belongs to a developer.
    template.authorization =
      override == nil ? template.authorization?.limited(toServerOf: configuration.sites.map(\.location)) : nil
    template.clock = options.clock
    // The app itself is not restricted: it runs.
    let allowance = options.registersApp ? nil : PackAllowance(configuration, in: journal)
    if let allowance { template.permitsHost = { try allowance.admit(host: $0) } }
    template.sharedRateLimit = options.rules.byteRateLimit.map {
      RateLimit(bytesPerSecond: max($0, 1), clock: options.clock)
    }
    template.findShared = SharedBase.lookup(for: folder, environment: options.environment)
    let ownSites = override == nil ? options.sites : nil
    let sites: [any PackSite] =
      ownSites
      ?? configuration.sites.map { site in
        let signed = StoreSite(
          site, of: store, app: configuration.app, template: template, onFirstContact: options.onFirstContact,
          otherApps: { try journal.read().apps(besides: configuration.appID) },
          requestedPacks: { Set(try journal.read().requests.keys) })
        let listed = DownloadManifestSite(
          site, of: store, in: folder.archives, app: configuration.app, template: template,
          transport: options.transport, onFirstContact: options.onFirstContact)
        return LocatedSite(signed: signed, manifest: listed)
      }
    self.sites = sites
    let packs = LocalPacks(of: store)
    self.packs = packs
    reader = NamespaceReader(store: store, packs: packs)
    let materializer = Materializer(store)
    self.materializer = materializer
    let installer = PackInstaller(
      sites: sites, store: store, packs: packs, folder: folder.home, journal: journal, journalQueue: journalQueue,
      agent: agent, watch: watch, allowance: allowance, materializer: materializer, rules: options.rules,
      followsJournal: options.followsJournal)
    scheduler = DownloadScheduler(
      rules: options.rules, clock: options.clock, hub: hub,
      onEnd: { installer.recordEnd(of: $0, $1, by: $2) },
      onPause: { installer.record($0, isPaused: $1) },
      fetch: { try await installer.install($0, pause: $1, progress: $2) })
  }

  private static func openStore(_ folder: GroupFolder, _ options: AssetPackManager.Options) throws -> Store {
    let cache = Store.Cache(folder: folder.cache, byteBudget: options.cacheByteBudget)
    // Purgeable data is downloaded again on request; a write that fails because the disk is full is not repeated.
    let owner = Store.SpaceOwner { byteCount in
      PurgeableDownloads.makeRoom(byteCount: byteCount, in: folder)
      return true
    }
    return try Store(
      at: folder.store, options: Store.Options(cache: options.cacheByteBudget > 0 ? cache : nil, spaceOwner: owner))
  }

  /// Changes the store or the group's folder, with a bounded wait if a stopped agent holds a lock.
  func changing<Result>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
  ) async rethrows -> Result {
    try await watch.watching(body)
  }

  /// The folder for plain files, created on first use.
  func viewFolder() throws -> ViewFolder {
    try views.withLock { views in
      if let views { return views }
      let made = try ViewFolder(in: folder.views)
      views = made
      return made
    }
  }

  // MARK: - Sites

  /// Returns the offers of all sites.
  ///
  /// - Throws: the error of the first site if none answers.
  func catalog() async throws -> PackCatalog {
    try register()
    guard !sites.isEmpty else {
      throw ManagedPacksError(
        .invalidConfiguration, "the app '\(configuration.appID)' has no site, and no URL override is active",
        remedy: "set BAManifestURL, or call 'packstore url-override set URL --group \(configuration.appGroupID.name)'")
    }
    var answers = [Result<SiteListing, any Error>?](repeating: nil, count: sites.count)
    await withTaskGroup { group in
      for (number, site) in sites.enumerated() {
        group.addTask { [watch] in (number, await watch.watching { await Self.ask(site) }) }
      }
      for await (number, answer) in group { answers[number] = answer }
    }
    try Task.checkCancellation()
    reportSharedKeys(answers)
    let local = try packs.current()
    let catalog = try PackCatalog(answers.compactMap { $0 }) { id in local.packs[id.name]?.pack.origin }
    lastCatalog.withLock { $0 = catalog }
    return catalog
  }

  /// Registers the app once, before versions are chosen for the apps of the group.
  private func register() throws {
    guard options.registersApp, !isRegistered.load(ordering: .relaxed) else { return }
    try journalQueue.sync {
      try journal.register(configuration, isLaunch: true)
      // The app remains registered in the group when the override ends.
      guard folder.home != folder.path else { return }
      try JournalFile(in: folder.under(nil), observer: watch?.observer).register(
        configuration, isLaunch: true)
    }
    isRegistered.store(true, ordering: .relaxed)
  }

  /// Reports each pair of sites that are one publisher's for this device, and are not copies of each other.
  private func reportSharedKeys(_ answers: [Result<SiteListing, any Error>?]) {
    let listings = zip(sites, answers).compactMap { site, answer in
      (try? answer?.get()).map { (location: site.location, listing: $0) }
    }
    for (index, (location, listing)) in listings.enumerated() where listing.origin.key != nil && !listing.siteID.isEmpty
    {
      let other = listings[..<index].first {
        $0.listing.origin == listing.origin && !$0.listing.siteID.isEmpty && $0.listing.siteID != listing.siteID
      }
      guard let other, sharedKeys.withLock({ $0.insert(location).inserted }) else { continue }
      options.onSharedKey(other.location, location, listing.origin)
    }
  }

  private static func ask(_ site: any PackSite) async -> Result<SiteListing, any Error> {
    do {
      let listing = try await site.listing()
      guard !listing.isStale else {
        throw ManagedPacksError(
          .staleSite, "the site '\(withoutSecrets(site.location))' is older than a state seen before",
          remedy: "try again later; installed packs are kept")
      }
      return .success(listing)
    } catch {
      return .failure(error)
    }
  }

  /// The catalog of the last contact with the sites in this process.
  var knownCatalog: PackCatalog? { lastCatalog.withLock { $0 } }

  /// Returns the open downloads by pack, and whether they are paused. On return, the journal contains no request of a download that
  /// had already ended.
  func openDownloads() -> [String: Bool] {
    let open = scheduler.openDownloads
    journalQueue.sync {}
    return open
  }

  // MARK: - Languages

  /// Sets a language that precedes the user's preferences; `nil` removes it.
  func choose(_ language: LanguageTag?) {
    journalQueue.sync { _ = try? journal.update { $0.chosenLanguage = language } }
    chosenLanguage.withLock { $0 = .some(language) }
  }

  /// Returns the preferred languages, the most preferred first: the app's choice, then the user's preferences.
  func preferredTags() -> [LanguageTag] {
    // Cached, because reading a file must not read the journal.
    let chosen = chosenLanguage.withLock { known in
      if case .some(let tag) = known { return tag }
      let tag = (try? journal.read())?.chosenLanguage
      known = .some(tag)
      return tag
    }
    return [chosen].compactMap { $0 } + preferredLanguages(options.environment)
  }

  /// Returns the language in which packs are read.
  func resolvedLanguage(of catalog: PackCatalog) -> LanguageTag? {
    let available = catalog.packs.compactMap(\.languageTag)
    return LanguageMatcher(available: available, primary: catalog.primaryLanguage).resolve(preferred: preferredTags())
  }
}
