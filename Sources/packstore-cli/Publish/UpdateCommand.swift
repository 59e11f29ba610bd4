import ArgumentParser
import PackDelivery
import PackStore

struct Update: AsyncParsableCommand, CommandWithSubject, CommandWithLog {
  static let configuration = CommandConfiguration(
    commandName: "update",
    abstract: "Update installed packs from their sites.",
    discussion: """
      A store remembers the sites it was pulled from and the channel it follows on each. Each site is checked for \
      updates of its publisher's installed packs. A failing site does not affect the others. Packs that left their \
      site stay until 'packstore remove'. Packs that are new on a site are listed; 'packstore pull' installs them.

        packstore update Packs
        packstore update Packs --dry-run

      Packs that were added here, or that came from an archive or an unsigned site, have no site and are not updated.
      """
  )

  @OptionGroup var store: StoreArgument
  @OptionGroup var device: DeviceOptions

  @Option(
    help: .downloadRate, transform: parseByteRate)
  var limitRate: Int?

  @Flag(help: .plansDownload)
  var dryRun = false

  @Option(help: .keptVersionCount)
  var keep = 2

  @OptionGroup var collection: CollectionOptions
  @OptionGroup var rows: RowOptions
  @OptionGroup(title: "Authorization") var authorization: AuthorizationOptions
  @OptionGroup(title: "Network limits") var network: NetworkOptions
  @OptionGroup var wait: WaitOption
  @OptionGroup var log: BuildLogOptions
  @OptionGroup var report: ReportOptions

  func validate() throws {
    guard (1...1000).contains(keep) else { throw ValidationError("--keep must be from 1 to 1000, not \(keep)") }
  }

  var subject: Failure.Facts { .init(store: store.store) }

  func run() async throws {
    let store = try self.store.openForReading()
    let sites = try store.followedSites()
    let authorizations = try authorization.authorizations(for: sites.map(\.location))
    var updated: [SiteUpdate] = [], failures: [(site: Store.FollowedSite, error: any Error)] = []
    for site in sites {
      do {
        updated.append(try await update(from: site, authorizations))
      } catch is CancellationError {
        throw Failure(.cancelled, "cancelled", remedy: "run the same command again to continue")
      } catch {
        failures.append((site, error))
      }
    }
    let followed = Set(sites.flatMap(\.packs))
    let unfollowed = try store.packs().filter { !followed.contains($0.id) && $0.origin != .local }
    try say(updated, isFollowing: !sites.isEmpty, unfollowed: unfollowed.map(\.id))
    for failure in failures.dropFirst() where !report.quiet {
      warn(.failedSite, "'\(escaped(withoutSecrets(failure.site.location)))': \(escaped("\(failure.error)"))")
    }
    if let first = failures.first { throw first.error }
    for update in updated {
      let failure = update.result.skippedPackFailure(store: self.store.store, site: update.site.location)
      if let failure { throw failure }
    }
  }

  // MARK: - One site

  private func update(
    from site: Store.FollowedSite, _ authorizations: SiteAuthorizations
  ) async throws -> SiteUpdate {
    var options = options(for: site)
    options.authorization = try authorizations.authorization(for: site.location)
    let bar = ProgressBar(report.progressForm)
    defer { bar.finish() }
    let clock = ContinuousClock(), start = clock.now
    let result = try await pull(from: site, options) { bar.update(Progress($0)) }
    return SiteUpdate(site: site, result: result, duration: clock.now - start)
  }

  private func pull(
    from site: Store.FollowedSite, _ options: Store.PullOptions,
    _ show: @escaping @Sendable (Store.PullProgress) -> Void
  ) async throws -> Store.PullResult {
    guard !dryRun else {
      let place = try DryRunStore(store, options: wait.storeOptions)
      defer { place.end() }
      return try await place.store.planPull(
        from: site.location, options: place.apply(to: options), progress: show)
    }
    return try await store.open(wait.storeOptions).pull(
      from: site.location, options: options, progress: show)
  }

  private func options(for site: Store.FollowedSite) -> Store.PullOptions {
    var options = collection.apply(to: device.options)
    options.channel = site.channel
    options.unnamedPacks = .installed
    options.byteRateLimit = limitRate
    options.rowLimit = rows.maxRows
    options.limits = network.limits
    options.environment = network.environment
    options.waitsForWriters = !wait.noWait
    options.keptVersionCount = keep
    return options
  }

  // MARK: - Report

  private func say(_ updates: [SiteUpdate], isFollowing: Bool, unfollowed: [PackID]) throws {
    if !report.quiet {
      for warning in updates.flatMap(\.warnings) { warn(warning.code, warning.text) }
      for update in updates { update.result.warnOfSharedKey(site: update.site.location) }
      if !unfollowed.isEmpty {
        warn(
          .unknownSite,
          "no signed site is known for \(listed(unfollowed.map(\.name))): run 'packstore pull' with the site")
      }
      if !isFollowing, unfollowed.isEmpty {
        warn(.unknownSite, "no pack of the store comes from a site: 'packstore pull' installs packs from a site")
      }
    }
    let output = Output()
    if report.json {
      try output.json(
        UpdateReport(
          sites: updates.map { SiteUpdateReport($0, isDryRun: dryRun) }, unfollowed: unfollowed.map(\.name)))
    } else if report.isTalkative {
      try output.lines(updates.flatMap { $0.lines(isDryRun: dryRun) })
    }
    try output.flush()
  }
}

/// The result for one site.
private struct SiteUpdate {
  let site: Store.FollowedSite
  let result: Store.PullResult
  let duration: Duration

  /// Packs that the site has no more, which stay as they are.
  var left: [PackID] {
    guard !result.isStale else { return [] }
    let known = Set(result.packs.map(\.pack))
    return site.packs.filter { !known.contains($0) }
  }

  var warnings: [Warning] {
    result.warnings
      + left.map {
        Warning(.skippedPack, "\($0) left the site '\(place)' and was not changed: 'packstore remove' deletes it")
      }
  }

  func lines(isDryRun: Bool) -> [String] {
    ["from '\(place)', channel \(site.channel)"] + result.lines(duration, isDryRun: isDryRun)
  }

  var place: String { escaped(withoutSecrets(site.location)) }
}

private struct UpdateReport: Encodable {
  let sites: [SiteUpdateReport]
  /// Packs of other publishers without a known site.
  let unfollowed: [String]
}

private struct SiteUpdateReport: Encodable {
  let site: String
  let left: [String]
  let pull: PullReport

  init(_ update: SiteUpdate, isDryRun: Bool) {
    site = withoutSecrets(update.site.location)
    left = update.left.map(\.name)
    pull = PullReport(update.result, update.duration, isDryRun: isDryRun)
  }
}
