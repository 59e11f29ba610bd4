import PackFormats
import PackStore

/// The common part of all changes of a site: makes its store, its roots and its files agree. The caller holds the publisher's lock.
///
/// Invariants:
/// - Every file that a root of any channel refers to exists. Commits of the site's store collect garbage, so each commit gets a
///   list of segments to keep: segments of the roots and retired segments, even if no version of the store needs them.
/// - A file in only one root, and in no kept version, is listed in `retired` before that root is replaced by a root without it. It
///   is deleted when its grace period is over. A listed file that a root still refers to is in use: its period begins when the root
///   is replaced.
/// - No commit drops a version in a root. A version in a root that the store lacks is therefore lost.
/// - Roots are replaced one after another. After each replacement, all roots are correct.
///
/// Order: ``settle(checksFiles:)``, commits that add, ``finish()``, the commit that drops the ``leaving`` versions, ``collect()``.
struct SiteChange {
  let store: Store
  let key: SiteKey

  /// The grace period, the product, the primary language, and the expiry of the channel's root; other options are ignored.
  let options: Site.PublishOptions

  /// The site's folder; tests replace it to stop at a chosen point.
  let folder: SiteFolder

  /// The site's id in roots.
  let siteID: SiteID

  /// The channels of the change, whose roots get a new expiry.
  let targets: Set<SiteChannel>

  /// The channel of the change; `nil`: none, or several.
  var target: SiteChannel? { targets.count == 1 ? targets.first : nil }

  /// The current time, in nanoseconds since 1970, which determines the retired files to delete.
  let now: Int64

  /// The time when files leave the roots: the current time, but not before the date of any root, so that a clock set back deletes
  /// no file early.
  private let retiringAt: Int64

  private let progress: (@Sendable (Site.PublishProgress) -> Void)?

  /// Whether a damaged root counts as missing.
  private let rebuildsRoot: Bool

  /// Whether a root of `live` existed before and must be restored.
  private var hasLostLive = false

  private var channels: [SiteChannel: ChannelState] = [:]

  /// The files of the store's kept versions that are described, and their lengths.
  private var keptFiles: [SitePath: UInt64] = [:]

  /// Versions that no channel will offer, and that will be dropped: ``finish()`` omits them.
  var leaving: Set<PackVersion> = []

  /// The manifests and frame tables in the folder.
  private var known: ManifestIndex

  /// The site's deltas.
  private(set) var deltas: DeltaIndex

  /// The size of the new files of the site, without the store's files.
  var newByteCount: UInt64 { newFileByteCount.addingClamped(newRootByteCounts.values.clampedSum()) }

  /// The size of the new files other than roots. Roots count only once per channel.
  private var newFileByteCount: UInt64 = 0
  private var newRootByteCounts: [SiteChannel: UInt64] = [:]

  private(set) var retired: RetiredFiles

  /// The retired files as last written.
  private var writtenRetired: RetiredFiles

  /// The versions that channels offered before, as last written.
  private var offered: OfferHistory

  /// The site's policy, as the next root of `live` will contain it; `nil`: none.
  private(set) var policy: RetentionPolicy?

  /// Versions in previous roots that the store lacks: new roots omit them.
  private(set) var missing: [MissingVersion] = []

  struct MissingVersion: Hashable {
    let pack: PackID
    let number: UInt64
    let catalog: CatalogID
  }

  /// Reads the state of the site. Writes nothing.
  ///
  /// - Parameters:
  ///   - rebuildsRoot: whether this is a repair, in which a damaged root counts as missing.
  ///   - acceptsMove: whether the roots may state that the site moved; the change must keep the statement.
  /// - Throws: `refused` if the site moved; `invalidArgument` if the site has lost its root, and the options do not contain its settings.
  init(
    of store: Store, named siteID: SiteID, channel: SiteChannel?, in folder: SiteFolder, signedBy key: SiteKey,
    options: Site.PublishOptions, now: Int64, rebuildsRoot: Bool = false, acceptsMove: Bool = false,
    progress: (@Sendable (Site.PublishProgress) -> Void)?
  ) throws {
    try self.init(
      of: store, named: siteID, channels: Set([channel].compactMap { $0 }), in: folder, signedBy: key, options: options,
      now: now, rebuildsRoot: rebuildsRoot, acceptsMove: acceptsMove, progress: progress)
  }

  init(
    of store: Store, named siteID: SiteID, channels targets: Set<SiteChannel>, in folder: SiteFolder,
    signedBy key: SiteKey, options: Site.PublishOptions, now: Int64, rebuildsRoot: Bool = false,
    acceptsMove: Bool = false, progress: (@Sendable (Site.PublishProgress) -> Void)?
  ) throws {
    self.store = store
    self.siteID = siteID
    self.targets = targets
    self.folder = folder
    self.key = key
    self.options = options
    self.progress = progress
    self.rebuildsRoot = rebuildsRoot
    try key.requireValid(at: now)
    let present = try folder.channels()
    for channel in present {
      channels[channel] = try Self.read(
        channel, isMeant: targets.contains(channel), folder, key, options, rebuildsRoot: rebuildsRoot)
    }
    let roots = channels.values.compactMap(\.root)
    if !acceptsMove { try folder.requirePresent(roots) }
    do { policy = try channels[.live]?.root?.retentionPolicy() } catch { if !rebuildsRoot { throw error } }
    known = ManifestIndex(in: folder)
    deltas = DeltaIndex(channels.sorted { $0.key < $1.key }.compactMap(\.value.root))
    self.now = max(key.signingTime ?? now, 0)
    retiringAt = roots.map(\.madeAt).reduce(self.now, max)
    retired = try folder.readRetired()
    writtenRetired = retired
    offered = try folder.readOffered()
    // A version that is offered again also gets its deltas back, in a fixed order.
    for case .delta(let header) in retired.entries.keys.sorted(by: { "\($0)" < "\($1)" }) {
      if let info = folder.deltaInfo(header) { deltas.add(info) }
    }
    try addChannels()
    // Checks the keys before the work.
    for channel in targets.sorted() { _ = try key.authority(for: product, channel) }
    keptFiles = try known.files(of: store.makeSnapshot().keptVersions)
  }

  /// - Parameter isMeant: whether this is the channel of the change, which the key must be able to sign.
  private static func read(
    _ channel: SiteChannel, isMeant: Bool, _ folder: SiteFolder, _ key: SiteKey, _ options: Site.PublishOptions,
    rebuildsRoot: Bool
  ) throws -> ChannelState {
    let isOwn = try folder.maySign(channel, key, isMeant: isMeant)
    let signed = try folder.readRoot(
      of: channel, signedBy: isOwn ? key : nil, of: options.product, acceptsDamage: rebuildsRoot && isOwn)
    // Files of the previous draft are not read.
    let isOfPreviousDraft = try folder.isOfPreviousDraft(channel), root = isOfPreviousDraft ? nil : signed?.root
    var state = try ChannelState(
      channel, signed, byteCount: folder.byteCount(of: .root(channel)) ?? 0,
      files: root?.files(in: folder, acceptsUnreadable: rebuildsRoot) ?? [:], key: isOwn ? key : nil)
    state.isOfPreviousDraft = isOfPreviousDraft
    // The offers of a damaged root are unknown. An open root without offers would withdraw its packs.
    if signed == nil, channel != .live { state.isClosed = true }
    return state
  }

  /// Channels with damaged roots that this repair closes.
  var closedByRepair: [SiteChannel] {
    channelStates.filter { $0.root == nil && $0.isClosed }.map(\.channel)
  }

  /// Adds the channel of the change, and requires that a channel exists. If a site lost its only root, `live` offers the current
  /// versions of its store. If other channels exist, these versions may be theirs, and `live` offers nothing until a promotion.
  private mutating func addChannels() throws {
    let snapshot = try store.makeSnapshot()
    // A publisher signs a root without packs before its first commit, so a site whose store has packs, or a site's mark, had a
    // root.
    let hadRoot = rebuildsRoot || snapshot.isSite || !snapshot.packs.isEmpty
    let isLost =
      try hadRoot && (channels[.live].map { $0.root == nil } ?? folder.hasLostLive(among: Array(channels.keys), key))
    if isLost { try folder.requireNewRoot(options) }
    hasLostLive = isLost
    for channel in targets.sorted() + (isLost || channels.isEmpty ? [key.archiveChannel] : [])
    where channels[channel] == nil {
      channels[channel] = try ChannelState(channel, nil, byteCount: 0, files: [:], key: key)
    }
    guard isLost, channels.keys.allSatisfy({ $0 == .live }) else { return }
    for pack in snapshot.packs {
      let appVersions = try snapshot.attributes(of: pack.version).appVersions
      edit(.live) { $0.offer(.init(number: pack.version.number, appVersions: appVersions), of: pack.id) { _ in [] } }
    }
  }

  // MARK: - Channels

  /// The channels in order, including `live` if it exists.
  var channelStates: [ChannelState] { channels.values.sorted { $0.channel < $1.channel } }

  subscript(channel: SiteChannel) -> ChannelState? { channels[channel] }

  /// The root of the channel of the change.
  var root: SiteRoot? { target.flatMap { channels[$0]?.root } }

  /// The roots of all channels.
  var roots: [SiteChannel: SiteRoot] { channels.compactMapValues(\.root) }

  /// The files of the roots, without the roots themselves, and of kept versions, with their lengths.
  var files: [SitePath: UInt64] { files(replacing: nil, by: [:]) }

  private func files(replacing channel: SiteChannel?, by files: [SitePath: UInt64]) -> [SitePath: UInt64] {
    channels.values.reduce(into: keptFiles) { all, state in
      all.merge(state.channel == channel ? files : state.files) { first, _ in first }
    }
  }

  /// The size of all files that clients may fetch.
  var byteCount: UInt64 {
    files.values.clampedSum().addingClamped(channels.values.map(\.byteCount).clampedSum())
  }

  /// Raises the highest numbers in the tables of all channels.
  mutating func raiseNumbers(to numbers: [PackID: UInt64]) {
    for channel in channels.keys { channels[channel]?.raiseNumbers(to: numbers) }
  }

  /// The highest number of each pack that any channel ever offered.
  var highestNumbers: [PackID: UInt64] {
    roots.values.reduce(into: [:]) { all, root in
      all.merge(root.highest.mapValues(\.number)) { max($0, $1) }
    }
  }

  /// Whether any channel will offer a version, including channels that the key may not sign.
  func offers(_ number: UInt64, of pack: PackID) -> Bool {
    channels.values.contains { $0.plan.offers(number, of: pack) }
  }

  /// The versions that channels offered before, after ``finish()`` has replaced their roots.
  var nextOffered: OfferHistory {
    var next = offered
    for state in channelStates {
      for pack in Set(state.plan.packs.keys).union(state.root?.packs.map(\.id) ?? []) {
        let before = state.root?.offers(of: pack).map(\.number) ?? []
        next.replace(before, by: state.plan.offers(of: pack).map(\.number), of: pack, on: state.channel, at: retiringAt)
      }
    }
    return next
  }

  /// Lists the versions that a channel's next root no longer offers. Called before the root replaces the current one.
  private mutating func listOffered(before next: SiteRoot) throws {
    guard let root = channels[next.channel]?.root else { return }
    var history = offered
    for pack in Set(root.packs.map(\.id)).union(next.packs.map(\.id)) {
      let after = next.offers(of: pack).map(\.number)
      history.replace(root.offers(of: pack).map(\.number), by: after, of: pack, on: next.channel, at: retiringAt)
    }
    let snapshot = try store.makeSnapshot()
    history.restrict { pack, number in snapshot.version(number, of: pack) != nil }
    guard history != offered else { return }
    try folder.writeOffered(history)
    offered = history
  }

  /// Changes the planned offers of a channel, and opens a closed channel. ``finish()`` applies the change.
  mutating func edit(_ channel: SiteChannel, _ body: (inout ChannelPlan) throws -> Void) rethrows {
    guard var state = channels[channel] else { return }
    channels[channel] = nil
    defer { channels[channel] = state }
    try body(&state.plan)
    if !state.plan.packs.isEmpty { state.isClosed = false }
  }

  /// Closes a channel.
  mutating func close(_ channel: SiteChannel) {
    channels[channel]?.plan = ChannelPlan()
    channels[channel]?.isClosed = true
  }

  /// Changes the site's policy. ``finish()`` writes it into the root of `live`.
  mutating func setPolicy(_ policy: RetentionPolicy?) { self.policy = policy }

  // MARK: - Roots

  /// Updates the roots to the current state of the store.
  ///
  /// - Parameter checksFiles: whether to read all files of the roots, and write damaged ones again.
  mutating func settle(checksFiles: Bool = false) throws {
    let snapshot = try findMissing()
    try folder.makeSegmentsReadable()  // an earlier publisher may have ended before this step
    guard channels.values.contains(where: { $0.root != nil }) || !snapshot.packs.isEmpty else { return }
    try describe(snapshot, renews: false, checksFiles: checksFiles)
  }

  /// Describes the committed versions according to the planned offers, and deletes files without references.
  mutating func finish() throws {
    try describe(try store.makeSnapshot(), renews: true)
    try removeUnneeded()
  }

  /// - Parameter isBuilder: whether this process has the lock of deltas.
  private func removeUnneeded(isBuilder: Bool = false) throws {
    try folder.removeAll(but: Set(files.keys).union(retired.entries.keys), isBuilder: isBuilder)
  }

  /// Finds the versions in roots that the store lacks.
  ///
  /// - Returns: the checked snapshot of the store.
  @discardableResult
  mutating func findMissing() throws -> Snapshot {
    let snapshot = try store.makeSnapshot()
    missing = []
    for pack in channelStates.compactMap(\.root).flatMap(\.packs) {
      for offer in pack.offers where snapshot.version(offer.number, of: pack.id)?.catalog != offer.catalog {
        let version = MissingVersion(pack: pack.id, number: offer.number, catalog: offer.catalog)
        if !missing.contains(version) { missing.append(version) }
      }
    }
    return snapshot
  }

  // MARK: - Dry runs

  /// A pack of the site's store, with its kept versions.
  private typealias KeptPack = (priority: Int32, versions: [PackVersion])

  /// Returns the channels whose roots ``finish()`` would replace for the planned offers, after a commit of the transaction and
  /// without the ``leaving`` versions.
  func channelsToReplace(after transaction: borrowing Transaction) -> [SiteChannel] {
    var kept: [PackID: KeptPack] = [:]
    for pack in transaction.packs { kept[pack.id] = (pack.priority, transaction.versions(of: pack.id)) }
    return channelsToReplace(kept)
  }

  /// Returns the channels whose roots ``finish()`` would replace, without a transaction.
  func channelsToReplace() throws -> [SiteChannel] {
    let snapshot = try store.makeSnapshot()
    var kept: [PackID: KeptPack] = [:]
    for pack in snapshot.packs { kept[pack.id] = (pack.priority, snapshot.versions(of: pack.id)) }
    return channelsToReplace(kept)
  }

  private func channelsToReplace(_ packs: [PackID: KeptPack]) -> [SiteChannel] {
    let kept = packs.mapValues { ($0.priority, $0.versions.filter { !leaving.contains($0) }) }
    return channelStates.filter { state in
      guard state.isOwn else { return false }
      guard let root = state.root else {
        return !state.plan.packs.isEmpty || roots.isEmpty || isMadeAgain(state)
      }
      return !says(root, state, kept) || renewsByItself(state, root)
    }.map(\.channel)
  }

  /// Whether a root's entries for packs equal the planned entries.
  private func says(
    _ root: SiteRoot, _ state: ChannelState, _ kept: [PackID: KeptPack]
  ) -> Bool {
    let plan = ChannelPlan(root)
    guard state.isClosed == root.isClosed, state.plan.saysTheSame(as: plan), hasPolicy(root) else { return false }
    return root.packs.allSatisfy { pack in
      guard let now = kept[pack.id], now.priority == pack.priority else { return false }
      let areKept = pack.offers.allSatisfy { offer in
        now.versions.contains { $0.number == offer.number && $0.catalog == offer.catalog }
      }
      return areKept && Set(named(in: pack, state, kept: now.versions)) == Set(pack.deltas)
    }
  }

  /// Whether a root contains the policy that the next root of its channel will contain.
  private func hasPolicy(_ root: SiteRoot) -> Bool {
    root.channel != .live || ((try? root.retentionPolicy()) ?? nil) == policy
  }

  /// Returns the deltas that a channel's next root lists for unchanged offers.
  private func named(in pack: SiteRoot.Pack, _ state: ChannelState, kept: [PackVersion]) -> [SiteRoot.Delta] {
    let selection = DeltaSelection(
      for: pack.offers, kept: Set(kept.map(\.catalog)), trustsRoot: folder.isServedCopy, after: pack,
      withdrawing: state.plan.withdrawn[pack.id] ?? [])
    return selection.choose(from: deltas.of(pack.id).filter(selection.isCandidate))
  }

  /// Returns the shortest delta routes to a version, once a channel offers it.
  func routes(to version: PackVersion, on channel: SiteChannel?) -> DeltaRoutes {
    let state = channel.flatMap { channels[$0] }
    let current = state?.root?.packs.first { $0.id == version.pack }
    let gone = state?.plan.withdrawn[version.pack] ?? []
    let offers = current?.offers.filter { gone.contains($0.number) }.map(\.catalog) ?? []
    let rows = deltas.of(version.pack).filter { delta in
      guard delta.row.to != version.catalog else { return delta.numbers.contains(version.number) }
      return current?.deltas.contains(delta.row) ?? false && !offers.contains(delta.row.to)
    }
    return DeltaRoutes(to: version.catalog, by: rows.map(\.row))
  }

  /// Whether a publication to the channel signs a new root in any case.
  private func renewsByItself(_ state: ChannelState, _ root: SiteRoot) -> Bool {
    guard targets.contains(state.channel) else { return false }
    let after = expiresAfter(state)
    let language = options.primaryLanguage ?? root.primaryLanguage
    return after != nil || after != root.expiresAfter || language != root.primaryLanguage || state.hasNewAuthority
  }

  // MARK: - Contents of new roots

  /// The root whose settings a new channel uses: the root of `live`, or of any other channel.
  private var model: SiteRoot? { channels[.live]?.root ?? channelStates.compactMap(\.root).first }

  /// Returns the time for which each new root of the channel is valid, in nanoseconds; `nil` for no limit.
  private func expiresAfter(_ state: ChannelState) -> Int64? {
    switch options.expiry {
    case .asBefore: (state.root ?? model)?.expiresAfter
    case .never: nil
    case .after(let duration): max(1, duration.nanoseconds)
    }
  }

  /// - Throws: `invalidArgument` if the next root of a target channel would have rollout steps and never expire. Clients would
  ///   refuse it.
  func requireExpiry() throws {
    for channel in targets.sorted() {
      guard let state = channels[channel], expiresAfter(state) == nil,
        state.plan.packs.values.joined().contains(where: { $0.rollout?.steps.isEmpty == false })
      else { continue }
      throw PackStoreError(
        .invalidArgument, "a root with rollout steps must expire", about: .channel(channel),
        detail: .noExpiry, remedy: "set an expiry, or end the rollouts of the channel")
    }
  }

  /// Returns the date of a new root: the current time, but not before the previous root's date. Clients refuse a root dated more
  /// than a day ahead; such a date came from a wrong clock, and the next root gets the correct date.
  private func madeAt(_ state: ChannelState) -> Int64 {
    let last = state.root?.madeAt ?? 0
    return last > now.addingClamped(SiteRoot.clockTolerance) ? now : max(now, last)
  }

  /// Returns the roots of all channels that the key may sign, with new dates, sequence numbers and expiry times.
  func renewedRoots() throws -> [SiteRoot] {
    let snapshot = try store.makeSnapshot()
    return try channelStates.filter(\.isOwn).compactMap { state in
      guard var next = state.root else { return nil }
      next.sequence = state.nextSequence(at: madeAt(state))
      next.expiresAfter = expiresAfter(state)
      next.madeAt = madeAt(state)
      if state.hasUnknownEpochs {
        (next.packs, next.highest) = try epochs(of: state, next.sequence, in: snapshot).stamp(next.packs)
      }
      try next.requireValidRollouts()
      return next
    }
  }

  /// The effect of signing roots again on their statement of a move.
  enum MoveChange {
    case keeping
    case stating(SiteMove)
    case removingMove
  }

  /// Signs and writes these roots.
  mutating func renew(_ moveChange: MoveChange = .keeping) throws {
    // A run that continues a signing request has the date of the roots that earlier runs wrote.
    for var next in try renewedRoots() where key.signingTime == nil || channels[next.channel]?.root?.madeAt != now {
      switch moveChange {
      case .keeping: break
      case .stating(let move): next.setMove(move)
      case .removingMove: next.setMove(nil)
      }
      try write(next, files: channels[next.channel]?.files ?? [:])
    }
  }

  /// Writes roots that describe a generation of the store, unless they exist already. Retires files without references.
  ///
  /// - Parameter renews: whether to postpone the expiry of the target channels, if they have one.
  private mutating func describe(
    _ snapshot: Snapshot, renews: Bool, checksFiles: Bool = false
  ) throws {
    var description = try SiteDescription(
      of: snapshot, leaving: leaving, in: folder, known: known, roots: channelStates.compactMap(\.root),
      checksFiles: checksFiles
    ) { [progress] done, total in
      progress?(.describe(byteCount: Int(clamping: done), totalByteCount: Int(clamping: total)))
    }
    var contents: [(channel: SiteChannel, contents: SiteDescription.Contents)] = []
    for state in channelStates where state.isOwn && (!state.isNew || isMadeAgain(state)) {
      let plan = state.plan.restricted(to: snapshot)
      contents.append((state.channel, try description.contents(of: plan, current: state.root, deltas: deltas)))
    }
    known = description.known
    newFileByteCount = newFileByteCount.addingClamped(description.newByteCount)
    try folder.syncNames()
    for (channel, contents) in contents {
      try update(channel, contents, description.files, in: snapshot, renews: renews)
    }
    try keep(description.files)
  }

  /// Whether to write a root without offers, because the channel had a root.
  private func isMadeAgain(_ state: ChannelState) -> Bool { rebuildsRoot || (hasLostLive && state.channel == .live) }

  /// Replaces the root of a channel, unless it is up to date.
  private mutating func update(
    _ channel: SiteChannel, _ contents: SiteDescription.Contents, _ kept: [SitePath: UInt64], in snapshot: Snapshot,
    renews: Bool
  ) throws {
    guard let state = channels[channel] else { return }
    let renews = renews && targets.contains(channel)
    let root = state.root
    let next = try makeRoot(of: state, contents, in: snapshot, renews: renews || root == nil)
    let isDue = renews && next.expiresAfter != nil && root?.madeAt != next.madeAt
    let isAhead = (root?.madeAt ?? 0) > next.madeAt
    // Clients must learn a new delegation, even if nothing else changed.
    let isReplaced = renews && state.hasNewAuthority
    let saysTheSame = root.map(next.saysTheSame(as:)) ?? false
    // Files of newly kept versions must not be retired.
    let files = files(replacing: channel, by: contents.files).merging(kept) { first, _ in first }
    try retire(for: files)
    guard !saysTheSame || isDue || isAhead || isReplaced else { return }
    try write(next, files: contents.files)
  }

  /// - Parameter renews: whether to use the expiry and the language of the options.
  private func makeRoot(
    of state: ChannelState, _ contents: SiteDescription.Contents, in snapshot: Snapshot, renews: Bool
  ) throws -> SiteRoot {
    let madeAt = madeAt(state), sequence = state.nextSequence(at: madeAt)
    let (packs, highest) = try epochs(of: state, sequence, in: snapshot).stamp(contents.packs)
    var root = SiteRoot(
      sequence: sequence, madeAt: madeAt,
      expiresAfter: renews ? expiresAfter(state) : state.root?.expiresAfter, site: siteID, product: product,
      channel: state.channel, isClosed: state.isClosed,
      primaryLanguage: (renews ? options.primaryLanguage : nil) ?? (state.root ?? model)?.primaryLanguage,
      sheets: contents.sheets, packs: packs, highest: highest)
    if root.hasRollouts { root.horizon = renews ? horizon(state) : state.root?.horizon }
    if state.channel == .live { root.setRetentionPolicy(policy) }
    return root
  }

  /// Returns how long steps of rollouts count after a new root's date, in nanoseconds; `nil`: without limit.
  private func horizon(_ state: ChannelState) -> Int64? {
    switch options.rolloutHorizon {
    case .asBefore: state.root?.horizon
    case .unlimited: nil
    case .after(let duration): max(1, duration.nanoseconds)
    }
  }

  /// Returns the time at which an edit changes the rollouts of a channel.
  func rolloutMoment(on channel: SiteChannel) -> RolloutMoment {
    guard let state = channels[channel] else { return RolloutMoment(time: now, end: .max) }
    return RolloutMoment(time: madeAt(state), end: state.root?.horizonEnd ?? .max)
  }

  private func epochs(of state: ChannelState, _ sequence: UInt64, in snapshot: Snapshot) throws -> OfferEpochs {
    let isUnknown = state.hasUnknownEpochs || (state.root == nil && isMadeAgain(state))
    let known = isUnknown ? snapshot.packs.map { ($0.id, $0.highestVersion) } : []
    let numbers = state.isOfPreviousDraft ? state.root?.highest.mapValues(\.number) ?? [:] : [:]
    return OfferEpochs(
      current: state.hasUnknownEpochs ? nil : state.root,
      known: numbers.merging(known) { max($0, $1) }, sequence: sequence, date: madeAt(state)
    ) { pack, number in
      snapshot.version(number, of: pack).flatMap { version in try? snapshot.attributes(of: version).platforms }
    }
  }

  private var product: Store.Product {
    channels.values.lazy.compactMap(\.root).first?.product ?? options.product ?? .standard
  }

  // MARK: - Retired files

  /// Sets the files of the kept versions.
  private mutating func keep(_ files: [SitePath: UInt64]) throws {
    let before = self.files
    keptFiles = files
    try retire(before, for: self.files)
  }

  /// Records the files of the next root, and forgets expired retired files. Called before the root is written.
  private mutating func retire(for next: [SitePath: UInt64]) throws { try retire(files, for: next) }

  private mutating func retire(_ present: [SitePath: UInt64], for next: [SitePath: UInt64]) throws {
    retired.replace(present.filter { next[$0.key] == nil }, by: next, now: retiringAt)
    retired.dropDue(now: now, latest: retiringAt, grace: grace.nanoseconds)
    guard retired != writtenRetired else { return }
    try folder.writeRetired(retired)
    writtenRetired = retired
  }

  /// Replaces a root. Everything it refers to is durable.
  private mutating func write(_ next: SiteRoot, files: [SitePath: UInt64]) throws {
    let next = try folder.addToHistory(next, signedBy: key)
    let bytes = try next.encode(signedBy: key)
    progress?(.commit)
    try listOffered(before: next)
    try folder.announcing(next.channel, bytes)
    try folder.writeRoot(bytes, of: next.channel)
    channels[next.channel]?.take(next, byteCount: UInt64(bytes.count), files: files)
    newRootByteCounts[next.channel] = UInt64(bytes.count)
  }

  /// Reads the site again, because other publishers may have changed it since the lock was released.
  mutating func reread() throws {
    var next = try SiteChange(
      of: store, named: siteID, channels: targets, in: folder, signedBy: key, options: options, now: now,
      rebuildsRoot: rebuildsRoot, progress: progress)
    next.newFileByteCount = newFileByteCount
    next.newRootByteCounts = newRootByteCounts
    next.missing = missing
    self = next
  }

  /// Lists new deltas in the roots that offer their target versions. Deltas to withdrawn versions are retired.
  mutating func name(_ made: [DeltaFile.Info]) throws {
    guard !made.isEmpty else { return }
    for delta in made {
      deltas.add(delta)
      keptFiles[.delta(delta.headerDigest)] = UInt64(delta.byteCount)
      newFileByteCount = newFileByteCount.addingClamped(UInt64(delta.byteCount))
    }
    try describe(try store.makeSnapshot(), renews: false)
    // Deletes deltas that are not on a shortest route any more.
    try removeUnneeded(isBuilder: true)
  }

  // MARK: - Store

  /// Returns a transaction of the site's store, for ``commit(_:)``.
  func makeTransaction() throws -> Transaction {
    // The caller decides which versions to drop.
    var transactionOptions = Transaction.Options(
      waitsForWriters: options.waitsForOthers, keptVersionCount: Int(Int32.max))
    transactionOptions.isPublication = true
    return try store.makeTransaction(options: transactionOptions)
  }

  /// Commits a transaction, and keeps the segments that clients may be fetching.
  mutating func commit(_ transaction: consuming Transaction) throws {
    for file in Set(files.keys).union(retired.entries.keys) {
      if case .segment(let id) = file { try transaction.keep(id) }
    }
    if roots.isEmpty { try writeFirstRoot() }
    try listNumbers(leavingBy: transaction)
    progress?(.commit)
    try folder.checkpoint("commit")
    try transaction.commit()
    try folder.makeSegmentsReadable()
    try folder.checkpoint("committed")
  }

  /// Lists the numbers of versions that a transaction drops, before they leave the store.
  private func listNumbers(leavingBy transaction: borrowing Transaction) throws {
    let before = try store.makeSnapshot().keptVersions
    var kept: Set<PackVersion.Name> = []
    for pack in transaction.packs { kept.formUnion(transaction.versions(of: pack.id).map(\.name)) }
    let leaving = before.filter { !kept.contains($0.name) }
    guard !leaving.isEmpty else { return }
    let written = try folder.readNumbers()
    var numbers = written
    for version in leaving { numbers.add(version) }
    if numbers != written { try folder.writeNumbers(numbers) }
  }

  /// Writes roots without packs, which record the site's product. A key that may sign `live` also writes the root of `live`: a
  /// missing root of `live` is then a lost root.
  private mutating func writeFirstRoot() throws {
    for state in channelStates where state.isOwn {
      try write(makeRoot(of: state, .init(), in: store.makeSnapshot(), renews: true), files: [:])
    }
  }

  /// Makes commits without changes, so that the store deletes unneeded segments. The store deletes a segment only if no reader and
  /// no generation that it may fall back to needs the segment.
  mutating func collect() throws {
    try removeUnneeded()
    for _ in 0..<2 {
      guard try hasStraySegments() else { return }
      try folder.checkpoint("collect")
      var transaction = try makeTransaction()
      transaction.collect()
      try commit(transaction)
    }
  }

  /// Whether segments exist that are needed neither by roots, nor by kept versions, nor by clients in the middle of a download.
  private func hasStraySegments() throws -> Bool {
    let files = files
    return try folder.segments().contains { files[$0] == nil && !retired.contains($0) }
  }
}

extension PackVersion {
  /// The pack and the number, which identify one content permanently.
  fileprivate struct Name: Hashable {
    let pack: PackID
    let number: UInt64
  }

  fileprivate var name: Name { Name(pack: pack, number: number) }
}

extension Snapshot {
  /// The kept versions of all packs.
  var keptVersions: [PackVersion] { packs.flatMap { versions(of: $0.id) } }
}

extension SiteRoot {
  /// Whether both roots are equal for clients, regardless of their dates and their place in the history.
  fileprivate func saysTheSame(as other: SiteRoot) -> Bool {
    var own = self, other = other
    (other.sequence, other.madeAt, other.site) = (sequence, madeAt, site)
    own.setHistoryHead(nil)
    other.setHistoryHead(nil)
    return own == other
  }
}
