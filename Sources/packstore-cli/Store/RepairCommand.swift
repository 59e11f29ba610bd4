import ArgumentParser
import PackAuthoring
import PackDelivery
import PackFormats
import PackStore

struct Repair: AsyncParsableCommand, CommandWithSubject, CommandWithLog {
  static let configuration = CommandConfiguration(
    commandName: "repair",
    abstract: "Repair a damaged store or site.",
    discussion: """
      Collects all intact data and the data found in other places into a new generation; files of the old one are not \
      changed. Lost data is listed: a current version continues without it, as a new version; an older version that \
      lacks data is dropped. An undamaged store is not changed. If CONTROL and index/ are both lost, removed packs \
      may reappear, and priorities, pins and dates are guessed. To restore lost data, add its source again. The exit \
      status is 0 if the store is complete, 7 if data is lost.

      '--from' names other stores, and sites that offer the versions: a URL, a folder or an archive. All places are \
      read before any change; if one cannot be read, the repair fails. A version is dropped only if no place has its \
      data.

      Purged data of purgeable packs is not damage; '--from' restores it. If the store is damaged, purgeable packs \
      with data in the cache folder are kept, and that data is copied into the store; other purgeable packs are \
      listed as lost, and 'packstore pull' installs them again. Packs that need a base are kept with '--from BASE'.

      A site's folder is repaired with the key that signed it: manifests and frame tables are created again, and a \
      new root lists the complete versions. A repair that would lose a version of a site is refused: name the store \
      it was published from with '--from', or remove the version from the site with '--drop-lost', and publish again. \
      If the root is missing or damaged, also set the product, which clients compare, and the expiry.

        packstore repair Packs --dry-run
        packstore repair Packs --from /media/backup/Packs
        packstore repair Packs --from https://example.com/packs
        packstore repair public/packs --key site.key --from Packs
        packstore repair public/packs --key site.key --product default --no-expires
      """
  )

  @OptionGroup var store: StoreArgument

  @Option(
    name: .customLong("from"),
    help: .init(
      "Store or site that may have the same content: a folder, a URL or an archive; repeatable.",
      valueName: "place"),
    completion: .directory)
  var places: [String] = []

  /// The stores among the sources. Also contains folders that are neither store nor site: opening them as a store reports the
  /// error.
  private var donors: [String] { places.filter { !isSite($0) } + [store.base].compactMap { $0 } }

  /// The sites and archives among the sources. Their versions are fetched.
  private var sites: [String] { places.filter(isSite) }

  private func isSite(_ place: String) -> Bool {
    guard !place.contains("://") else { return true }
    let path = FilePath(place)
    return !isStore(place) && pathExists(path) && (!isFolder(path) || pathExists(path.appending("root")))
  }

  @Flag(help: "Report the repair without changing the store.")
  var dryRun = false

  @OptionGroup(title: "Authorization") var authorization: AuthorizationOptions
  @OptionGroup var rows: RowOptions
  @OptionGroup var wait: WaitOption
  @OptionGroup var log: BuildLogOptions
  @OptionGroup var clock: ClockOption
  @OptionGroup var report: ReportOptions

  @Option(
    help: .init(
      "For a site: file with the secret key that signed it (default: ~/.config/packstore/site.key).",
      valueName: "file"),
    completion: .file())
  var key: String?

  @OptionGroup(title: "Site") var signing: SigningOptions

  @Flag(help: "For a site: remove versions that no source contains.")
  var dropLost = false

  @OptionGroup(title: "Site") var product: ProductOption
  @OptionGroup(title: "Site") var expiry: ExpiryOptions

  var subject: Failure.Facts { .init(store: store.store) }

  func run() async throws {
    let path = FilePath(store.store)
    let isSite = Site.exists(at: path)
    let isSigned = signing.signCommand != nil || signing.signRequest != nil
    guard isSite || (key == nil && !isSigned && product.product == nil && expiry.expiry == .asBefore) else {
      throw Failure(
        .notAStore, "'\(escaped(store.store))': not a site",
        remedy: "leave out --key, --sign-command, --sign-request, --product, --expires and --no-expires",
        path: store.store)
    }
    let key = isSite && !dryRun ? try siteKey() : nil
    let bar = ProgressBar(report.progressForm)
    defer { bar.finish() }
    let scratch = sites.isEmpty ? nil : try TemporaryFolder()
    defer { scratch?.remove() }
    let authorizations = try authorization.authorizations(for: places)
    try await requireSources(authorizations)
    let gaps = try await bringBack(bar, authorizations)
    var result: Store.RepairResult
    var site: Site.RepairResult?
    if isSite {
      let donors = try await donorsOfSite(scratch, bar, authorizations)
      let options = Site.PublishOptions(
        product: product.product, expiry: expiry.expiry, waitsForOthers: !wait.noWait)
      if key != nil, !dropLost { try await requireNoLosses(path, donors, options) }
      let repaired = try await Site.repair(at: path, from: donors.map { FilePath($0) }, signedBy: key, options: options)
      {
        bar.update(Progress($0))
      }
      (site, result) = (repaired, repaired.store)
    } else {
      result = try await Store.repair(
        at: FilePath(store.store), from: donors.map { FilePath($0) }, sites: sites,
        scratch: FilePath(scratch?.path ?? ""), authorize: { try authorizations.authorization(for: $0) },
        options: sourceOptions, isDryRun: dryRun, waitsForWriters: !wait.noWait
      ) { bar.update(Progress($0)) }
    }
    let left = try stillLacking(gaps.left)

    bar.finish()
    let output = Output()
    if report.json {
      try output.json(RepairReport(result, site, gaps.healed, isDryRun: dryRun))
    } else {
      if report.isTalkative { try output.lines(healings(result) + gaps.healed.map(line)) }
      for gap in left where !report.quiet {
        let why = places.isEmpty || dryRun ? "its cached data is damaged" : "no given place has the data"
        warn(.lackingData, "\(gap.version) lacks \(formatBytes(gap.byteCount)): \(why)")
      }
      try output.flush()  // the losses follow at the end, where users see them
      for loss in result.losses { complain("lost: " + escaped(loss.description)) }
      if report.isTalkative { try output.lines(text(result, site, gaps.healed, left) + (site.map(text) ?? [])) }
    }
    try output.flush()
    if !result.isWhole { throw failure(result) }
    if places.isEmpty, let gap = left.first {
      throw Failure(
        .purged, "version '\(gap.version)': its cached data is damaged", remedy: fetchAdvice(for: escaped(store.store)),
        path: store.store)
    }
  }

  /// Opens each source before the repair changes anything. A repair commits losses, so a mistyped source must be an error.
  private func requireSources(_ authorizations: SiteAuthorizations) async throws {
    for donor in donors { _ = try openStore(at: donor, options: .readOnly).makeSnapshot() }
    for site in sites {
      var options = Store.PullOptions(platform: nil)
      options.allowsUnsigned = true
      options.authorization = try authorizations.authorization(for: site)
      await (try SiteContact.open(site, packs: nil, options: options)).close()
    }
  }

  /// Fails if the repair would lose a version: the site would no longer contain it, and a channel that offers only this version
  /// would be empty.
  private func requireNoLosses(_ path: FilePath, _ donors: [String], _ options: Site.PublishOptions) async throws {
    let plan = try await Site.repair(at: path, from: donors.map { FilePath($0) }, signedBy: nil, options: options)
    guard !plan.store.losses.isEmpty else { return }
    throw Failure(
      .dataLost, "a repair would lose \(losses(plan.store)), which would leave the site",
      remedy: "name the store that it was published from with '--from', or add --drop-lost, and publish again")
  }

  /// The options for fetching versions of other sites.
  private var sourceOptions: Store.PullOptions {
    var options = Store.PullOptions()
    options.rowLimit = rows.maxRows
    return options
  }

  /// Returns the stores for the repair of a publisher's store, including a temporary store with all versions that the sites offer.
  private func donorsOfSite(
    _ scratch: TemporaryFolder?, _ bar: ProgressBar, _ authorizations: SiteAuthorizations
  ) async throws -> [String] {
    guard let scratch else { return donors }
    let donor = try await SiteDonor.open(
      sites, scratch: FilePath(scratch.path), authorize: { try authorizations.authorization(for: $0) },
      options: sourceOptions)
    do {
      try await donor.fetchAll { bar.update(Progress($0)) }
      await donor.close()
    } catch {
      await donor.close()
      throw error
    }
    return donors + donor.paths.map(\.string)
  }

  /// Returns the gaps that remain after the repair, which may have restored some of them.
  private func stillLacking(_ gaps: [PurgedDataRecovery.MissingData]) throws -> [PurgedDataRecovery.MissingData] {
    guard !gaps.isEmpty else { return [] }
    let snapshot = try store.open(.existing).makeSnapshot()
    return try gaps.filter { gap in
      guard let version = snapshot.version(gap.version.number, of: gap.version.pack) else { return false }
      try snapshot.checkCachedData(of: version)
      return try !snapshot.availability(of: version).isWhole
    }
  }

  /// Restores purged data before the repair, which would otherwise record it as lost.
  ///
  /// Without sources, or with `--dry-run`, only returns the versions with damaged cached data. If the store is too damaged for this
  /// step, the repair runs without it.
  private func bringBack(
    _ bar: ProgressBar, _ authorizations: SiteAuthorizations
  ) async throws -> (healed: [PurgedDataRecovery.MissingData], left: [PurgedDataRecovery.MissingData]) {
    guard !Site.exists(at: FilePath(store.store)) else { return ([], []) }
    do {
      guard !places.isEmpty, !dryRun else {
        return ([], try PurgedDataRecovery.damagedGaps(in: store.openForReading()))
      }
      let store = try self.store.open(.existing)
      return try await PurgedDataRecovery(store: store, waits: !wait.noWait, bar: bar, authorizations: authorizations)
        .healAll(
          from: places)
    } catch let error as PackStoreError where [.corrupt, .notAStore, .ioError].contains(error.code) {
      return ([], [])
    }
  }

  private func line(_ gap: PurgedDataRecovery.MissingData) -> String {
    "brought back: \(gap.version), \(formatBytes(gap.byteCount))"
  }

  private func failure(_ result: Store.RepairResult) -> Failure {
    dryRun
      ? Failure(
        .dataLost, "a repair would lose \(losses(result))",
        remedy: "add '--from COPY' for each other store that may contain the data")
      : Failure(.dataLost, "lost \(losses(result))", remedy: "add the source again to get it back")
  }

  /// Returns the key that signed the site. A missing key is not created, because clients would refuse a new key.
  private func siteKey() throws -> SiteKey {
    let file = try keyFile(key)
    guard pathExists(file) else {
      throw Failure(
        .noKey, "'\(escaped(file.string))': the key of the site '\(escaped(store.store))' does not exist",
        remedy: "run 'packstore repair \(escaped(store.store)) --key FILE' with the key that signed it",
        path: file.string)
    }
    return try signing.complete(try KeyFile(key).open(quiet: report.quiet, signed: "the site", clock: clock))
  }

  private func text(_ result: Site.RepairResult) -> [String] {
    let damaged = result.damagedFiles.map { "\(dryRun ? "damaged" : "recreated or removed"): \($0)" }
    let isRootLost = dryRun && result.damagedFiles.contains("root")
    return damaged + (isRootLost ? ["the root is lost: a repair needs --product, and --expires or --no-expires"] : [])
      + result.closedChannels.map {
        "the channel \($0) is closed because its offers are unknown: promote its versions again"
      }
      + result.sequences.sorted { $0.key < $1.key }.map { "the channel \($0.key) is at root \($0.value)" }
  }

  private func healings(_ result: Store.RepairResult) -> [String] {
    result.healings.map { escaped("healed: \($0.pack)@\($0.version) \($0.asset), from \($0.origin)") }
  }

  private func text(
    _ result: Store.RepairResult, _ site: Site.RepairResult?, _ healed: [PurgedDataRecovery.MissingData],
    _ left: [PurgedDataRecovery.MissingData]
  ) -> [String] {
    if result.wasWhole {
      if let site {
        return [site.damagedFiles.isEmpty ? "the site is whole: nothing to repair" : "the site's store is whole"]
      }
      guard healed.isEmpty, left.isEmpty else { return ["the store has no other damage"] }
      return ["the store is whole: nothing to repair"]
    }
    var lines: [String] = []
    if result.isRebuilt {
      lines.append("the index was lost: priorities, dates, pins and current versions are estimates")
    }
    if result.mendedCopyCount > 0 {
      let copies = result.mendedCopyCount == 1 ? "1 damaged copy" : "\(result.mendedCopyCount) damaged copies"
      lines.append("\(dryRun ? "would write" : "wrote") \(copies) of slots of CONTROL again")
    }
    let onlyMended = result.mendedCopyCount == result.faultCount && result.generation == nil && result.packCount == 0
    if !onlyMended { lines.append(summary(result)) }
    return lines
  }

  private func summary(_ result: Store.RepairResult) -> String {
    let would = dryRun ? "would " : ""
    var parts = [
      "\(dryRun ? "would keep" : "kept") \(formatCount(result.packCount, "pack")) in \(formatCount(result.versionCount, "version"))"
    ]
    // The list of repaired assets also contains assets of older versions, which the count does not include.
    let healedCount = max(result.healedAssetCount, result.healings.count)
    if healedCount > 0 { parts.append("\(would)heal\(dryRun ? "" : "ed") \(formatCount(healedCount, "asset"))") }
    parts.append(result.isWhole ? "nothing lost" : "\(dryRun ? "would lose" : "lost") \(losses(result))")
    return parts.joined(separator: "; ")
  }

  /// Returns the losses of a repair as text, such as `2 assets, 1 older version`.
  private func losses(_ result: Store.RepairResult) -> String {
    var lost: [String] = []
    if result.lostAssetCount > 0 { lost.append(formatCount(result.lostAssetCount, "asset")) }
    if result.lostVersionCount > 0 { lost.append(formatCount(result.lostVersionCount, "older version")) }
    if result.lostPackCount > 0 { lost.append(formatCount(result.lostPackCount, "pack")) }
    return lost.isEmpty
      ? "attributes of \(formatCount(max(result.losses.count, 1), "version"))" : lost.joined(separator: ", ")
  }
}

extension Progress {
  fileprivate init(_ progress: Store.SiteRepairProgress) {
    switch progress {
    case .repair(let progress): self.init(progress)
    case .fetch(let progress): self.init(progress)
    }
  }

  fileprivate init(_ progress: Store.RepairProgress) {
    let activity =
      switch progress.phase {
      case .check: "verifying"
      case .survey: "surveying"
      case .restore: "restoring"
      }
    self.init(activity: activity, bytesDone: progress.byteCount, bytesTotal: progress.totalByteCount)
  }
}

private struct RepairReport: Encodable {
  struct Loss: Encodable {
    let pack: String
    let version: UInt64?
    let asset: String?
    let unnamedAssets: Int
  }
  struct HealedAsset: Encodable {
    let pack: String
    let version: UInt64
    let asset, origin: String
  }

  let wasWhole, whole, rebuilt, dryRun: Bool
  let generation: UInt64?
  let mendedCopies: Int
  let faultCount, segments, damagedSegments, packs, versions: Int
  let lostAssets, lostVersions, lostPacks, healedAssets, storedBytes: Int
  let lost: [Loss]
  let healed: [HealedAsset]
  let broughtBack: [BroughtBack]
  /// For a site: its missing or damaged files next to the store.
  let damagedFiles: [String]?
  /// For a site: channels that were closed because their roots were damaged.
  let closedChannels: [String]?
  /// For a site: the sequence numbers of its roots, by channel.
  let channels: [ChannelRoot]?

  struct BroughtBack: Encodable {
    let pack: String
    let version: UInt64
    let bytes: Int
  }

  init(
    _ result: Store.RepairResult, _ site: Site.RepairResult?, _ gaps: [PurgedDataRecovery.MissingData], isDryRun: Bool
  ) {
    broughtBack = gaps.map {
      BroughtBack(pack: $0.version.pack.name, version: $0.version.number, bytes: $0.byteCount)
    }
    damagedFiles = site?.damagedFiles
    closedChannels = site?.closedChannels.map(\.name)
    channels = site.map { site in
      site.sequences.sorted { $0.key < $1.key }.map { ChannelRoot(channel: $0.key.name, sequence: $0.value) }
    }
    wasWhole = result.wasWhole
    whole = result.isWhole
    rebuilt = result.isRebuilt
    dryRun = isDryRun
    generation = result.generation?.rawValue
    mendedCopies = result.mendedCopyCount
    faultCount = result.faultCount
    segments = result.segmentCount
    damagedSegments = result.damagedSegmentCount
    packs = result.packCount
    versions = result.versionCount
    lostAssets = result.lostAssetCount
    lostVersions = result.lostVersionCount
    lostPacks = result.lostPackCount
    healedAssets = result.healedAssetCount
    storedBytes = result.storedByteCount
    lost = result.losses.map {
      Loss(pack: $0.pack.name, version: $0.version, asset: $0.asset, unnamedAssets: $0.unnamedAssetCount)
    }
    healed = result.healings.map {
      HealedAsset(pack: $0.pack.name, version: $0.version, asset: $0.asset, origin: $0.origin)
    }
  }
}

private struct ChannelRoot: Encodable {
  let channel: String
  let sequence: UInt64
}
