import PackFormats
import PackStore

/// A publication, from the publisher's lock to the root. ``SiteChange`` describes how the site stays consistent.
///
/// 1. The roots are updated to the state of the store, if necessary, and retired files whose grace period is over leave the list.
/// 2. Versions are added to the site's store: one durable commit.
/// 3. Missing frame tables and manifests are written, then the root of the channel that offers the versions. If requested, packs
/// that
///    the source lacks are withdrawn from that channel.
/// 4. Versions that no channel offers, beyond the number to keep, are dropped, and expired retired files are deleted: files of the
///    site immediately, segments by commits without other changes.
/// 5. Live data of segments that are mostly dead is stored again, up to a share of the new data; manifests and roots then refer to
///    the copies, and the segments are retired like other files.
/// 6. Missing deltas are built, then roots that list them are written. Clients can fetch the versions before this step.
struct Publication {
  let site: Site
  let source: Site.Source
  let key: SiteKey
  let options: Site.PublishOptions
  let progress: (@Sendable (Site.PublishProgress) -> Void)?

  /// Whether to report the result without changing the site. Staged data is discarded.
  var isDryRun = false

  /// The site's folder; tests replace it to stop at a chosen point.
  var folder: SiteFolder

  /// The site's id in roots: by default the id of its store.
  var siteID: SiteID

  /// The channel that will offer the versions; `nil` for none.
  var channel: SiteChannel?

  /// The current time, in nanoseconds since 1970.
  var now = nanosecondsSince1970()

  init(
    site: Site, source: Site.Source, key: SiteKey, options: Site.PublishOptions,
    progress: (@Sendable (Site.PublishProgress) -> Void)?
  ) {
    self.site = site
    self.source = source
    self.key = key
    self.options = options
    self.progress = progress
    folder = site.folder
    siteID = site.store.id
    channel = options.channel
  }

  /// Publishes the requested versions; `nil` for one version of each pack of the source.
  func run(_ wanted: [Site.PublishedPack]?) throws -> Site.PublishResult {
    try checkOptions()
    let source = try source.open(wanted, for: self)
    defer { source.close() }
    guard !isDryRun else { return try plan(source, isOfAll: wanted == nil) }
    var published = try folder.withLock(waits: options.waitsForOthers) {
      try publish(source, isOfAll: wanted == nil)
    }
    let changed = published.changedChannels
    let deltas = try makeDeltas(for: &published)
    return result(of: published, changed, deltas)
  }

  /// The result of the part of a publication that runs under the publisher's lock.
  private struct Published {
    var change: SiteChange

    /// The previous roots.
    let before: [SiteChannel: SiteRoot]
    let staged: StagedVersions
    let packs: [Site.PublishResult.Pack]
    let dropped: [PackVersion]
    let pruned: [PackID]
    let extra: [PackID]

    /// The size of the new segments in bytes.
    let segmentByteCount: UInt64

    /// Whether no version left the site.
    let keepsAll: Bool

    /// The versions that need deltas.
    let wanted: DeltaWork.Wanted

    /// The channels whose roots differ from the previous ones.
    var changedChannels: [SiteChannel] {
      change.channelStates.filter { $0.root != before[$0.channel] }.map(\.channel)
    }
  }

  private func checkOptions() throws {
    if let count = options.keptVersionCount, count < 1 {
      throw PackStoreError(.invalidArgument, "\(count) is below 1", about: .parameter("keptVersionCount"))
    }
    guard options.deltaCount >= 0 else {
      throw PackStoreError(.invalidArgument, "\(options.deltaCount) is negative", about: .parameter("deltaCount"))
    }
    guard Store.CompressionLevel.exists(options.encodingLevel) else {
      throw PackStoreError(
        .invalidArgument, "\(options.encodingLevel) is not in \(Store.CompressionLevel.range)",
        about: .parameter("level"))
    }
    guard (0...100).contains(options.collectionPercent) else {
      throw PackStoreError(
        .invalidArgument, "\(options.collectionPercent) is not in 0 to 100", about: .parameter("collectionPercent"))
    }
    guard (0...100).contains(options.prunedPercentLimit) else {
      throw PackStoreError(
        .invalidArgument, "\(options.prunedPercentLimit) is not in 0 to 100", about: .parameter("prunedPercentLimit"))
    }
    guard (1...22).contains(options.deltaOptions.level) else {
      throw PackStoreError(
        .invalidArgument, "\(options.deltaOptions.level) is not in 1 to 22", about: .parameter("deltaOptions.level"))
    }
  }

  // MARK: - Steps

  /// - Parameter isOfAll: whether all packs of the source are published, rather than named packs.
  private func publish(_ source: any PublicationSource, isOfAll: Bool) throws -> Published {
    var change = try makeChange(for: source)
    let before = change.roots, offered = offers(in: change), previous = shownVersions(before)
    let extra = extraPacks(beside: source, in: change)
    let pruned = try packsToPrune(among: extra, in: change)
    if !pruned.isEmpty { progress?(.prune(pruned)) }
    try change.settle()
    let filesBefore = change.files
    let staged = try stage(source, in: &change)
    let kept = try KeptVersions(of: staged.packs, in: site.store.makeSnapshot())
    let new = offer(staged.published.map(\.version), among: kept, in: &change)
    if !new.isEmpty, channel.flatMap({ before[$0] }) != nil { progress?(.offer(new)) }
    let surplus = surplus(of: staged.packs, among: kept, in: change)
    change.leaving = Set(surplus)
    let gone = try channel.map { try change.withdraw(pruned, from: $0) } ?? []
    try change.finish()
    let newSegments = change.files.filter { filesBefore[$0.key] == nil && $0.key.isSegment }
    try change.drop(surplus)
    try change.remove(gone)
    try change.collect()
    let compactedByteCount = try compact(newSegments.values.clampedSum(), in: &change)
    return Published(
      change: change, before: before, staged: staged, packs: results(of: staged, previous, before, change),
      dropped: surplus + gone.flatMap(\.versions), pruned: pruned, extra: isOfAll && !options.prunes ? extra : [],
      segmentByteCount: newSegments.values.clampedSum().addingClamped(compactedByteCount), keepsAll: surplus.isEmpty,
      wanted: staged.published.map { (version: $0.version, sources: offered[$0.version.pack] ?? []) })
  }

  /// Builds the missing deltas, without the publisher's lock.
  private func makeDeltas(
    for published: inout Published
  ) throws -> DeltaWork.Outcome {
    let work = DeltaWork(
      site.store, folder: folder, deltaCount: channel == nil ? 0 : options.deltaCount,
      level: options.deltaOptions.level, progress: progress)
    let wanted = published.wanted
    let snapshot = try site.store.makeSnapshot()
    let pairs = work.pairs(
      wanted, published.change.deltas, in: snapshot,
      without: published.change.channelStates.haltedVersions(in: snapshot))
    guard !pairs.isEmpty else { return .init() }
    progress?(.signed)
    do {
      return try work.run(in: &published.change) { _, _ in wanted }
    } catch let error as PackStoreError where error.code == .busy {
      return .init(missing: pairs.map { .init(version: $0.to, from: $0.from.number, reason: error.finding) })
    }
  }

  /// - Parameter changedChannels: the channels that the part under the publisher's lock changed.
  private func result(
    of published: Published, _ changedChannels: [SiteChannel], _ deltas: DeltaWork.Outcome
  ) -> Site.PublishResult {
    let change = published.change, staged = published.staged
    let changed = Set(changedChannels + deltas.changedChannels).sorted()
    return Site.PublishResult(
      change, isUnchanged: changed.isEmpty && staged.published.allSatisfy(\.isUnchanged) && published.keepsAll,
      changedChannels: changed, packs: published.packs, droppedVersions: published.dropped,
      prunedPacks: published.pruned, extraPacks: published.extra, restoredVersions: staged.restored,
      deltas: deltas.made,
      missingDeltas: deltas.missing, newByteCount: change.newByteCount.addingClamped(published.segmentByteCount))
  }

  /// Returns the packs that the channel offers and the source lacks; empty if the source covers only its own pack.
  private func extraPacks(beside source: any PublicationSource, in change: SiteChange) -> [PackID] {
    guard let present = source.packs, let channel, let plan = change[channel]?.plan else { return [] }
    return plan.packs.keys.filter { !present.contains($0) }.sorted()
  }

  /// - Throws: `refused` if more packs would be withdrawn than the limit allows.
  private func packsToPrune(among extra: [PackID], in change: SiteChange) throws -> [PackID] {
    guard options.prunes, !extra.isEmpty, let channel else { return [] }
    let count = change[channel]?.plan.packs.count ?? 0
    guard extra.count * 100 > count * options.prunedPercentLimit else { return extra }
    let packs = extra.count == 1 ? "1 pack" : "\(extra.count) packs"
    var error = PackStoreError(
      .refused,
      "the source lacks \(packs) of \(count) that the channel '\(channel)' offers: \(listed(extra.map(\.name)))",
      about: .site(site.path.string), detail: .removalLimit)
    error.specificRemedy = "if that is intended, set the option prunedPercentLimit to 100"
    throw error
  }

  /// The minimum number of bytes worth compacting.
  private static let leastCompaction: UInt64 = 256 << 10

  /// Empties segments that are mostly dead, if all roots can be updated. The segments stay until then, and for the grace period.
  ///
  /// - Parameter newByteCount: the size of the segments that this publication created.
  /// - Returns: the size of the segments that this call created.
  private func compact(_ newByteCount: UInt64, in change: inout SiteChange) throws -> UInt64 {
    let limit = newByteCount / 100 * UInt64(options.collectionPercent)
    guard limit >= Self.leastCompaction, change.channelStates.allSatisfy(\.isOwn) else { return 0 }
    var transaction = try change.makeTransaction()
    let copied: UInt64
    do {
      copied = try transaction.compact(copyingAtMost: limit)
    } catch let error as PackStoreError where [.corrupt, .purged].contains(error.code) {
      return 0  // Unreadable data needs a repair, but does not prevent publishing.
    }
    guard copied > 0 else { return 0 }
    try change.commit(transaction)
    try change.finish()
    try change.collect()
    return copied
  }

  /// Computes the result of ``publish(_:)``, without deltas and compaction.
  private func plan(_ source: any PublicationSource, isOfAll: Bool) throws -> Site.PublishResult {
    var change = try makeChange(for: source)
    try change.findMissing()
    let previous = shownVersions(change.roots), offered = offers(in: change)
    let extra = extraPacks(beside: source, in: change)
    let pruned = try packsToPrune(among: extra, in: change)
    var transaction = try change.makeTransaction()
    let staged = try source.stage(
      restoring: change.missing, above: change.highestNumbers, in: &transaction)
    try checkNumbers(of: staged)
    let kept = try KeptVersions(of: staged.packs, in: transaction)
    offer(staged.published.map(\.version), among: kept, in: &change)
    let surplus = surplus(of: staged.packs, among: kept, in: change)
    change.leaving = Set(surplus)
    let gone = try channel.map { try change.withdraw(pruned, from: $0) } ?? []
    let changed = change.channelsToReplace(after: transaction)
    let newByteCount = staged.published.map { UInt64(clamping: $0.newStoredByteCount) }.clampedSum()
    var result = Site.PublishResult(
      change, isUnchanged: changed.isEmpty && staged.published.allSatisfy(\.isUnchanged) && surplus.isEmpty,
      changedChannels: changed, packs: results(of: staged, previous, change.roots, change),
      droppedVersions: surplus + gone.flatMap(\.versions), prunedPacks: pruned,
      extraPacks: isOfAll && !options.prunes ? extra : [], restoredVersions: staged.restored, newByteCount: newByteCount
    )
    result.updates = try updates(to: staged.published, from: offered, change, in: transaction)
    return result
  }

  private func makeChange(for source: any PublicationSource) throws -> SiteChange {
    var options = options
    if let product = source.product {
      guard options.product == nil || options.product == product else {
        throw PackStoreError(.invalidArgument, "the source belongs to the product '\(product)'")
      }
      // For a site without a root, the publisher's options determine the product, not the source.
      let snapshot = try site.store.makeSnapshot()
      if try !folder.channels().isEmpty || !(snapshot.isSite || !snapshot.packs.isEmpty) { options.product = product }
    }
    return try SiteChange(
      of: site.store, named: siteID, channel: channel, in: folder, signedBy: key, options: options, now: now,
      progress: progress)
  }

  /// - Parameter before: the previous roots.
  private func results(
    of staged: StagedVersions, _ previous: [PackID: PackVersion], _ before: [SiteChannel: SiteRoot],
    _ change: SiteChange
  ) -> [Site.PublishResult.Pack] {
    let shown = before[channel ?? .live].map { ChannelPlan($0) }, next = channel.flatMap { change[$0]?.plan }
    return staged.published.map { result in
      let pack = result.version.pack
      let isOffered = channel == nil || next.map { shown?.saysTheSame(as: $0, of: pack) ?? false } ?? false
      return Site.PublishResult.Pack(result, previous: previous[pack], isUnchanged: result.isUnchanged && isOffered)
    }
  }

  /// Returns the versions that the channel offers first.
  private func shownVersions(_ roots: [SiteChannel: SiteRoot]) -> [PackID: PackVersion] {
    guard let root = channel.flatMap({ roots[$0] }), let snapshot = try? site.store.makeSnapshot() else { return [:] }
    let shown = root.packs.compactMap { pack in
      snapshot.version(pack.offers[0].number, of: pack.id).map { (pack.id, $0) }
    }
    return Dictionary(uniqueKeysWithValues: shown)
  }

  /// Returns the offered versions before the publication: first the versions of the target channel, then of the other channels.
  private func offers(in change: SiteChange) -> [PackID: [PackVersion]] {
    guard let snapshot = try? site.store.makeSnapshot() else { return [:] }
    var offered: [PackID: [PackVersion]] = [:]
    let states =
      change.channelStates.filter { $0.channel == channel } + change.channelStates.filter { $0.channel != channel }
    for state in states {
      for (pack, offers) in state.plan.packs {
        offered[pack, default: []] += offers.compactMap { snapshot.version($0.number, of: pack) }
      }
    }
    return offered
  }

  /// Adds the requested versions to the site's store, after restoring versions that the store has lost.
  private func stage(_ source: any PublicationSource, in change: inout SiteChange) throws -> StagedVersions {
    var transaction = try change.makeTransaction()
    let staged = try source.stage(
      restoring: change.missing, above: change.highestNumbers, in: &transaction)
    try checkNumbers(of: staged)
    try change.commit(transaction)
    return staged
  }

  /// - Throws: `exists` if a number was used for other content before.
  private func checkNumbers(of staged: StagedVersions) throws {
    let numbers = try folder.readNumbers()
    for result in staged.published { try numbers.check(result.version) }
  }

  /// Offers versions on the target channel, to all devices and to the app versions in their attributes. Existing offers stay
  /// unchanged: publishing other packs does not end a phased release.
  ///
  /// - Returns: the versions that the channel did not offer before.
  @discardableResult
  private func offer(
    _ versions: [PackVersion], among kept: KeptVersions, in change: inout SiteChange
  ) -> [PackVersion] {
    guard let channel else { return [] }
    let new = versions.filter { change[channel]?.plan.offers($0.number, of: $0.pack) != true }
    for version in new {
      let appVersions = kept.attributes(version.number, of: version.pack)?.appVersions
      let moment = change.rolloutMoment(on: channel)
      change.edit(channel) { plan in
        let offer = ChannelPlan.Offer(number: version.number, appVersions: appVersions)
        plan.finishRollouts(of: version.pack, at: moment) { kept.attributes($1, of: $0)?.platforms }
        plan.endRollouts(below: offer, of: version.pack, at: moment, halts: options.haltsPrevious)
        plan.offer(offer, of: version.pack) {
          kept.attributes($0, of: version.pack)?.platforms ?? []
        }
      }
    }
    return new
  }

  /// Returns versions that no channel offers and that the site's policy does not keep.
  private func surplus(of packs: [PackID], among kept: KeptVersions, in change: SiteChange) -> [PackVersion] {
    packs.flatMap { pack in
      let versions = kept.versions(of: pack)
      let reasons = change.reasons(for: versions, of: pack) { version in
        kept.attributes(version.number, of: pack)?.isPurgeable ?? false
      }
      return versions.filter { reasons[$0.number] == nil }
    }
  }
}

extension StagedVersions {
  /// The packs of the publication, in the requested order.
  fileprivate var packs: [PackID] { published.map(\.version.pack) }
}

/// The versions of some packs that a site keeps, or will keep, and their attributes.
private struct KeptVersions {
  private var versions: [PackID: [PackVersion]] = [:]
  private var attributes: [PackID: [UInt64: Attributes]] = [:]

  init(of packs: [PackID], in snapshot: Snapshot) throws {
    for pack in packs { try add(snapshot.versions(of: pack), of: pack) { try snapshot.attributes(of: $0) } }
  }

  init(of packs: [PackID], in transaction: borrowing Transaction) throws {
    for pack in packs {
      let kept = transaction.versions(of: pack)
      let attributes = try kept.map { try transaction.attributes(of: $0) }
      versions[pack] = kept
      for (version, attributes) in zip(kept, attributes) {
        self.attributes[pack, default: [:]][version.number] = attributes
      }
    }
  }

  private mutating func add(
    _ kept: [PackVersion], of pack: PackID, attributes: (PackVersion) throws -> Attributes
  ) throws {
    versions[pack] = kept
    for version in kept { self.attributes[pack, default: [:]][version.number] = try attributes(version) }
  }

  /// Returns the versions of a pack, the current one first.
  func versions(of pack: PackID) -> [PackVersion] { versions[pack] ?? [] }

  /// Returns the attributes of a version; `nil` for a version that is not kept.
  func attributes(_ number: UInt64, of pack: PackID) -> Attributes? { attributes[pack]?[number] }
}

/// Returns the current time in nanoseconds since 1970, limited to valid dates.
func nanosecondsSince1970() -> Int64 { Int64(min(max(Date().timeIntervalSince1970 * 1e9, 0), 9e18)) }

extension Snapshot {
  /// Returns the platforms that a version is for; empty for all.
  func platforms(of pack: PackID, _ number: UInt64) throws -> Set<Platform> {
    try version(number, of: pack).map { try attributes(of: $0).platforms } ?? []
  }
}

extension SiteRoot {
  /// Returns the offers of a pack.
  func offers(of pack: PackID) -> [Offer] { packs.first { $0.id == pack }?.offers ?? [] }
}

extension SiteRoot.Delta {
  init(_ delta: DeltaFile.Info) {
    self.init(
      from: delta.fromCatalog, to: delta.toCatalog, header: delta.headerDigest,
      headerByteCount: UInt32(delta.headerByteCount), byteCount: UInt64(delta.byteCount))
  }
}
