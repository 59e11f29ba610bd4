import PackFormats
import PackStore

/// One pull: root, trust, versions, a delivery for each pack, one commit.
///
/// Runs on a thread that may block. Data passed to the store stays there even if the pull fails, and the next pull reuses it.
/// Therefore the pull simply starts again if the site or the store changes.
final class Puller {
  private let store: Store
  private let source: any SiteSource
  private let packs: [PackID]?
  private let options: Store.PullOptions
  private let isPlan: Bool
  private let report: (@Sendable (Store.PullProgress) -> Void)?
  private let reader: SiteReader

  /// The origin for which packs are changed, once the root is known.
  private var provenance = Provenance(.unknown, .root, serial: 0, sequence: 0)
  private var result = Store.PullResult()
  private var progress = Store.PullProgress(phase: .connect)
  private var pinnedKey: SitePublicKey?
  private var rate = RateMeter()
  private var costs: [PackID: PackCost] = [:]
  private var round = 0

  /// The channel to follow from now on.
  private var channel = SiteChannel.live
  private var followed = SiteChannel.live
  /// Whether it differs from the channel followed so far.
  private var changesChannel = false
  /// The date of the newest root accepted at the place, in nanoseconds since 1970.
  private var acceptedAt: Int64 = 0
  private var selectionTime = SelectionTime(acceptedAt: 0, clock: 0, answeredAt: nil)
  /// Deltas that are unavailable, invalid, or not applicable to the store's version, and all deltas of their chains. Deltas save
  /// bytes, but frames always work too.
  private var refusedDeltas: Set<Digest256> = []

  /// The error for a pack whose number the site reused; `nil` if none is.
  private var reusedNumber: PackStoreError?
  /// A file that the site really lacks, of a pack in the present round; `nil` if it lacks none.
  private var missingFile: DeliveryError?

  /// Packs of releases that turned out to be impossible to install.
  private var unable: [PackID: PackIsUnable] = [:]
  /// The releases that the store has, for the round of the pull; `nil` if the source's releases do not matter.
  private var installedReleases: InstalledReleases?

  /// Packs with such a change list: pages are used instead.
  private var packsWithoutLists: Set<PackID> = []
  /// Whether the root was read again: a missing file is then really missing, not a sign of a newer root.
  private var hasReadRootAgain = false

  /// The move that led to this place; `nil`: none.
  private let arrival: Arrival?
  private let followsMoves: Bool
  /// Whether a root of the place was accepted.
  private(set) var hasAcceptedRoot = false

  init(
    into store: Store, from source: any SiteSource, root: WholeFile? = nil, counting tally: WireTally = WireTally(),
    packs: [PackID]?, options: Store.PullOptions, isPlan: Bool, arrival: Arrival? = nil, followsMoves: Bool = false,
    report: (@Sendable (Store.PullProgress) -> Void)?
  ) {
    self.arrival = arrival
    self.followsMoves = followsMoves
    reader = SiteReader(
      source, root: root, counting: tally, within: MetadataBudget(of: options, for: source),
      memory: RememberedSites(inStore: store.path))
    self.store = store
    self.source = source
    self.packs = packs
    self.options = options
    self.isPlan = isPlan
    self.report = report
  }

  /// Pulls, and reads the root again if the site has changed since.
  func run() async throws -> Store.PullResult {
    // The commit would be refused. Failing first leaves no trace of another site in the folder.
    guard try isPlan || !store.makeSnapshot().isSite else {
      throw PackStoreError(.isSite, "a site's store, which only publications change", about: .store(store.path.string))
    }
    try chooseChannel()
    var result = try await pullFromRoot()
    result.wireByteCount += reader.tally.byteCount
    result.requestCount += reader.tally.requestCount
    if !isPlan, !result.isStale, !source.isArchive { try noteChannel() }
    return result
  }

  private func pullFromRoot() async throws -> Store.PullResult {
    try await source.readFromRoot(readRoot) { root, isAgain in
      hasReadRootAgain = isAgain
      return try await pull(root)
    }
  }

  // MARK: - Channel

  private func chooseChannel() throws {
    guard !source.isArchive else { return }
    let book = try TrustFile(inStore: store.path).read()
    followed = book.channel(at: source.location)
    channel = options.channel ?? followed
    changesChannel = book.changes(to: channel, at: source.location)
    try requireAllPacks()
    result.channel = channel
  }

  /// An unsigned site is not in the book of trusted places: its origin in the store shows that it was pulled from.
  private func recognizeUnsigned(_ root: SignedSiteRoot) throws {
    guard root.authority == nil, channel != followed, !changesChannel else { return }
    let origin = Store.Origin(of: root, unsigned: options.unsignedProduct)
    changesChannel = try store.read { snapshot in snapshot.origins.contains(origin) }
    try requireAllPacks()
  }

  /// A change of channel applies to all packs.
  private func requireAllPacks() throws {
    guard changesChannel, packs != nil else { return }
    var error = DeliveryError(
      .invalidLocation,
      channel == followed
        ? "a change to the channel '\(channel)' is incomplete"
        : "the store follows the channel '\(followed)', not '\(channel)'", at: source.location)
    error.specificRemedy = "pull without naming packs: the channel changes for all packs"
    throw error
  }

  /// Records that the coming commit is from another channel, so that after a crash the next pull knows that packs and floors may be
  /// from either channel.
  private func beginChannel() throws {
    guard changesChannel else { return }
    try TrustFile(inStore: store.path).update(waits: options.waitsForWriters) { $0.begin(channel, at: source.location) }
  }

  /// Records the channel as followed.
  private func noteChannel() throws {
    let file = TrustFile(inStore: store.path)
    guard try changesChannel || file.read().channel(at: source.location) != channel else { return }
    // The committed packs are from this channel: this record must not be lost.
    try file.update { $0.follow(channel, at: source.location) }
  }

  // MARK: - Root and trust

  private func readRoot() async throws -> SignedSiteRoot {
    show(.connect)
    let (root, verdict) = try await reader.readRoot(of: channel, admit: admit)
    selectionTime = SelectionTime(acceptedAt: acceptedAt, clock: options.now, answeredAt: reader.answeredAt)
    if verdict == .pinned, !isPlan {
      pinnedKey = root.rootKey
      show(.connect)  // reported even if the pull fails
    }
    result.key = root.rootKey
    result.isFirstContact = try result.isFirstContact || verdict == .pinned || isUntried(root)
    result.isStale = if case .stale = verdict { true } else { false }
    hasAcceptedRoot = true
    result.movedTo = arrival.map { _ in source.location }
    if followsMoves, !result.isStale, !changesChannel, let move = root.move {
      throw SiteHasMoved(move: move, channel: channel)
    }
    if !result.isStale { try source.requireOpen(root.root) }
    result.rootNumber = RootNumber(root)
    result.madeAt = Date(timeIntervalSince1970: Double(root.root.madeAt) / 1e9)
    result.age = .seconds(-result.madeAt.timeIntervalSinceNow)
    result.expiresAt = root.root.expiresAt.map { Date(timeIntervalSince1970: Double($0) / 1e9) }
    return root
  }

  /// Whether the store never accepted anything from the root's origin, and the caller does not vouch for its key. An archive pins
  /// nothing, and a pull that pinned a place may have been interrupted before it could report it.
  private func isUntried(_ root: SignedSiteRoot) throws -> Bool {
    guard root.authority != nil, options.trustedKey == nil else { return false }
    let origin = Store.Origin(of: root, unsigned: options.unsignedProduct)
    return try !store.read { snapshot in snapshot.origins.contains(origin) }
  }

  /// Judges a root. A plan uses the same rules, but pins nothing.
  private func admit(_ claims: RootClaims) throws -> TrustBook.Verdict {
    let file = TrustFile(inStore: store.path)
    let place = source.rootPlace(of: channel), policy = TrustPolicy(options), now = options.now
    func admit(_ book: inout TrustBook) throws -> TrustBook.Verdict {
      if let arrival { try book.move(channel, from: arrival.former, to: arrival.move, claims) }
      let verdict = try book.admit(claims, at: place, policy, now: now)
      acceptedAt = max(claims.madeAt, book.newestDate(at: place) ?? claims.madeAt)
      // At first contact, before anything is installed: a pull that resumes an interrupted one follows the same channel.
      if claims.signer != nil, !source.isArchive, !changesChannel { book.follow(channel, at: source.location) }
      return verdict
    }
    guard isPlan else { return try file.update(waits: options.waitsForWriters, admit) }
    var book = try file.read()
    return try admit(&book)
  }

  // MARK: - Packs

  /// Pulls the packs of a root in one commit. Starts again while other processes interfere.
  private func pull(_ root: SignedSiteRoot) async throws -> Store.PullResult {
    unable = [:]
    let chosen = try choose(root)
    if result.isStale { return try leaveAlone(chosen) }
    try recognizeUnsigned(root)
    if !source.isArchive {
      result.siteOfSameKey = try SharedKey(store: store.path).otherSite(than: root, at: source.location)
    }
    let origin = Store.Origin(of: root, unsigned: options.unsignedProduct)
    result.origin = origin
    let isNamed = packs != nil || source.isArchive
    provenance = Provenance(
      origin, source.isArchive ? .archive : .root, serial: root.authority?.delegation.serial ?? 0,
      sequence: root.root.sequence, adopts: isNamed && options.adopts,
      allowsDowngrade: isNamed && options.allowsDowngrade)
    // Only the root of a followed channel voids floors: it also restarts the channel's sequences.
    if !source.isArchive { provenance.revokedBelow = root.authority?.delegation.revokedBelow ?? 0 }
    try await readAttributes(of: chosen, in: root.root)
    if !isPlan { try reader.remember(root, waits: options.waitsForWriters) }
    var conflictCount = 0
    var waiting = Wait(options.clock)
    while true {
      round += 1
      do {
        return try await pullOnce(chosen)
      } catch let fault as PackIsUnable {
        // The next round leaves its releases out. It finds the data that this round received.
        unable[fault.result.pack] = fault
      } catch is VersionIsBusy {
        guard options.waitsForWriters else {
          throw PackStoreError(
            .busy, "another process is fetching the same version", about: .store(store.path.string), detail: .otherFetch
          )
        }
        show(.wait)
        LockWait.note()
        try await waiting.next()
      } catch let error as PackStoreError where error.code == .conflict {
        conflictCount += 1
        guard conflictCount < Store.changeRoundCount else { throw error }
      }
    }
  }

  /// Returns the result for a root older than one already seen.
  private func leaveAlone(_ chosen: [ChosenPack]) throws -> Store.PullResult {
    var result = self.result
    result.packs = try chosen.filter { !$0.isImplied }.map {
      var skipped = Store.PullResult.Pack(
        $0.pack, .stale, from: try version(of: $0.pack)?.number, to: $0.entry?.offers[0].number)
      skipped.withhold(newest: $0.root.highest[$0.pack]?.number)
      return skipped
    }
    return result
  }

  /// Returns the requested packs.
  private func choose(_ signed: SignedSiteRoot) throws -> [ChosenPack] {
    let root = signed.root
    func chosen(_ pack: PackID, _ entry: SiteRoot.Pack?, isImplied: Bool = false) -> ChosenPack {
      ChosenPack(pack: pack, entry: entry, root: root, firstKey: signed.authority?.firstKey, isImplied: isImplied)
    }
    func withRelatives(of packs: [ChosenPack]) throws -> [ChosenPack] {
      let implied = try relatives(of: Set(packs.map(\.pack)), in: root).map { chosen($0.id, $0, isImplied: true) }
      return implied.isEmpty ? packs : (packs + implied).sorted { $0.pack < $1.pack }
    }
    guard let packs else {
      let entries = try takesAll(of: signed) ? root.packs : root.packs.filter { try version(of: $0.id) != nil }
      let taken = Set(entries.map(\.id))
      result.otherPacks = root.packs.map(\.id).filter { !taken.contains($0) }
      return try withRelatives(of: entries.map { chosen($0.id, $0) })
    }
    let named = try Set(packs).sorted().map { pack in
      let entry = root.packs.first { $0.id == pack }
      guard try entry != nil || version(of: pack) != nil else {
        throw DeliveryError(noPack: pack, in: root, at: source.location)
      }
      return chosen(pack, entry)
    }
    return try withRelatives(of: named)
  }

  /// Whether the releases of a root matter. A version that the caller names is installed by itself.
  private func followsReleases(of root: SiteRoot) -> Bool {
    root.hasReleases && !source.isArchive && options.wantedVersion == nil
  }

  /// Returns the installed and wanted packs that share releases with packs, directly or through other packs. The pull includes those
  /// that the selected releases concern.
  private func relatives(of packs: Set<PackID>, in root: SiteRoot) throws -> [SiteRoot.Pack] {
    guard followsReleases(of: root) else { return [] }
    let related = root.packs(relatedTo: packs)
    return try root.packs.filter { entry in
      guard related.contains(entry.id), !packs.contains(entry.id) else { return false }
      return try options.wantedPacks.contains(entry.id) || version(of: entry.id) != nil
    }
  }

  /// Whether a pull without named packs also installs packs that the store lacks.
  private func takesAll(of root: SignedSiteRoot) throws -> Bool {
    switch options.unnamedPacks {
    case .all: return true
    case .installed: return false
    case .installedUnlessNone:
      let origin = Store.Origin(of: root, unsigned: options.unsignedProduct), snapshot = try store.makeSnapshot()
      return source.isArchive || !(snapshot.packs + snapshot.removedPacks).contains { $0.origin == origin }
    }
  }

  /// Reads the attributes with the versions' platforms, if platforms matter.
  private func readAttributes(of chosen: [ChosenPack], in root: SiteRoot) async throws {
    guard options.platform != nil else { return }
    try await reader.readAttributes(chosen.flatMap { $0.entry?.offers ?? [] }.compactMap(\.attributes), in: root)
  }

  /// Returns the version that the site offers to this client, and the newest version if it is another one.
  private func offer(
    of chosen: ChosenPack, _ entry: SiteRoot.Pack, current: PackVersion?
  ) throws -> (offer: SiteRoot.Offer?, withheld: WithheldVersion?, selection: OfferSelection?) {
    if let wanted = options.wantedVersion {
      if let offer = entry.offers.first(where: { $0.number == wanted.number }) { return (offer, nil, nil) }
      throw DeliveryError(
        notOffered: chosen.pack, wanted.number, but: entry.offers.map(\.number), by: source.isArchive ? nil : channel,
        at: source.location)
    }
    let selection = try finder(for: chosen).find(in: entry, current: current, storeDevice: storeDevice)
    let newest = chosen.root.highest[chosen.pack]?.number
    return (selection.offer, source.isArchive ? nil : newest.flatMap(selection.withheld), selection)
  }

  private func storeDevice() throws -> DeviceID { try DeviceFile(inStore: store.path).readOrMake() }

  private func finder(for chosen: ChosenPack) -> OfferFinder {
    OfferFinder(
      client: SiteClient(options), root: chosen.root, firstKey: chosen.firstKey, attributes: reader.attributes,
      time: selectionTime.nanoseconds, installed: installedReleases)
  }

  /// The provenance of an offer: by which rules the store accepts it.
  ///
  /// - Parameter kept: the kept versions of the pack that are of the root's origin.
  private func provenance(
    of offer: SiteRoot.Offer, _ chosen: ChosenPack, kept: [PackVersion], in transaction: borrowing Transaction
  ) -> Provenance {
    guard !source.isArchive else { return provenance }
    var offered = provenance
    offered.epoch = offer.epoch
    offered.highest = chosen.root.highest[chosen.pack]?.number ?? 0
    // The app may have gone back more than once, or the pack was removed: only the version accepted last counts.
    guard let entry = chosen.entry,
      let accepted = transaction.acceptedVersion(of: chosen.pack, from: provenance.origin)
    else { return offered }
    let version = kept.first { $0.number == accepted }
    if finder(for: chosen).excludes(accepted, kept: version, in: entry) { offered.excluded = accepted }
    return offered
  }

  /// Checks whether the store may accept an offer of a root, and stages its epoch if nothing else is new.
  ///
  /// - Returns: the outcome of a pack that is skipped; `nil` if the offer is acceptable.
  private func refusal(
    of offer: SiteRoot.Offer, of pack: PackID, by provenance: Provenance, in transaction: borrowing Transaction
  ) throws -> Store.PullResult.Pack.Outcome? {
    guard !source.isArchive else { return nil }
    do {
      try transaction.accept(offer.number, of: pack, by: provenance)
      return nil
    } catch let error as PackStoreError where error.code == .stale {
      return .stale
    } catch let error as PackStoreError where error.code == .downgrade {
      return .publisherOutOfDate
    }
  }

  private func version(of pack: PackID) throws -> PackVersion? {
    try store.read { snapshot in snapshot.pack(pack)?.version }
  }

  private var transactionOptions: Transaction.Options {
    var options = Transaction.Options(
      durability: options.durability, waitsForWriters: options.waitsForWriters,
      keptVersionCount: options.keptVersionCount)
    options.keepsGeneration = self.options.keepsGeneration
    options.collectionPercent = self.options.collectionPercent
    options.cacheFolder = self.options.cacheFolder
    return options
  }

  /// Returns how much of the pack's current version is available, considering lost files of the store and data missing from the
  /// cache folder or the base. `nil` if the pack has no current version.
  private func availability(of pack: Store.Pack?) throws -> Store.Availability? {
    guard let pack, !pack.isRemoved else { return nil }
    return try store.read { snapshot in
      // If another version was committed since then, the commit finds the conflict.
      guard let version = snapshot.version(pack.version.number, of: pack.id) else { return nil }
      if options.refetches { try snapshot.checkCachedData(of: version) }
      return try snapshot.availability(of: version)
    }
  }

  /// Whether missing data of the pack was purged, and the options do not request it. An update to a release includes such packs.
  private func isLeftPurged(_ chosen: ChosenPack, isCurrent: Bool) -> Bool {
    guard packs == nil || chosen.isImplied, !source.isArchive, !options.refetches else { return false }
    let isOfRelease = followsReleases(of: chosen.root) && chosen.entry?.offers.contains { $0.release != nil } ?? false
    return (isCurrent || !isOfRelease) && store.isPurged(chosen.pack)
  }

  /// One transaction: all packs or none.
  private func pullOnce(_ chosen: [ChosenPack]) async throws -> Store.PullResult {
    var transaction = try store.makeTransaction(options: transactionOptions)
    let heldAt = options.wantedVersion.flatMap { wanted in
      wanted.isHeld ? chosen.first.map { ($0.pack, wanted.number) } : nil
    }
    if let heldAt { try transaction.release(heldAt.0) }
    // Channels are counted separately, including packs that this one does not offer now.
    if changesChannel, transaction.origins.contains(provenance.origin) { try transaction.restart(provenance.origin) }
    var deliveries: [Delivery] = []
    // Closed before the transaction ends without a commit.
    defer { for delivery in deliveries { delivery.close(discarding: false) } }
    let packs = try await pullAll(chosen, into: transaction, &deliveries)
    try requireAny(packs)
    if let heldAt { try transaction.rollBack(heldAt.0, toVersion: heldAt.1) }
    if !isPlan { try beginChannel() }
    show(.commit)
    if !isPlan {
      try transaction.commit()
      for delivery in deliveries { delivery.close(discarding: true) }
    }
    var result = self.result
    result.packs = packs
    return result
  }

  /// Stages the offers of all packs that are able to be installed.
  private func pullAll(
    _ chosen: [ChosenPack], into transaction: borrowing Transaction, _ deliveries: inout [Delivery]
  ) async throws -> [Store.PullResult.Pack] {
    installedReleases = installedReleases(of: chosen, in: transaction)
    missingFile = nil
    var assessed: [AssessedPack] = []
    for pack in chosen { assessed.append(try assess(pack, in: transaction)) }
    let releases = try PulledReleases(of: assessed, follows: installedReleases != nil) { pack, entry, offer in
      try finder(for: pack.chosen).applies(offer, in: entry, current: pack.current, storeDevice: storeDevice)
    }
    var results: [Store.PullResult.Pack] = []
    for pack in assessed where releases.includes(pack.id) {
      var pulled: Store.PullResult.Pack
      if let blocked = releases.blocked(pack) {
        pulled = blocked
      } else {
        pulled = try await pull(pack, releases, into: transaction, &deliveries)
      }
      pulled.take(costs[pack.id])
      pulled.withhold(newest: pack.chosen.root.highest[pack.id]?.number)
      results.append(pulled)
    }
    return results
  }

  /// Stages the offer of a pack. Ends the round if the pack cannot be installed and releases depend on it.
  private func pull(
    _ pack: AssessedPack, _ releases: PulledReleases, into transaction: borrowing Transaction,
    _ deliveries: inout [Delivery]
  ) async throws -> Store.PullResult.Pack {
    guard let installation = pack.installation else { return pack.result }
    let deliveryCount = deliveries.count
    do {
      let pulled = try await install(installation, of: pack, into: transaction, &deliveries)
      guard pulled.isUnable, releases.areBlocked(by: pack.id) else { return pulled }
      throw PackIsUnable(result: pulled, error: nil)
    } catch let error where releases.change(pack.id) && isFault(ofPack: error) {
      var result = pack.result
      if case SourceFault.siteChanged = error {
        result.outcome = .missingFiles
      } else {
        (result.outcome, result.blockingPack) = (.releaseIncomplete, pack.id)
      }
      throw PackIsUnable(result: result, error: error)
    } catch SourceFault.siteChanged(let error) where hasReadRootAgain && !changesChannel {
      // The file is really missing. Other packs are installed.
      for delivery in deliveries[deliveryCount...] { delivery.close(discarding: false) }
      deliveries.removeSubrange(deliveryCount...)
      missingFile = missingFile ?? error
      var result = pack.result
      result.outcome = .missingFiles
      return result
    }
  }

  /// Whether an error is a fault of one pack of the site, or a lack of space for it, rather than of the network or the store.
  private func isFault(ofPack error: any Error) -> Bool {
    switch error {
    case SourceFault.siteChanged: hasReadRootAgain
    case let error as DeliveryError: [.corrupt, .badResponse, .siteChanged].contains(error.code)
    case let error as PackStoreError: [.corrupt, .noSpace].contains(error.code)
    default: false
    }
  }

  /// - Throws: the error of a pack, if no other pack was updated.
  private func requireAny(_ packs: [Store.PullResult.Pack]) throws {
    if let reusedNumber, packs.allSatisfy({ [.reusedNumber, .releaseIncomplete].contains($0.outcome) }) {
      throw reusedNumber
    }
    if let missingFile, packs.allSatisfy({ $0.outcome == .missingFiles }) { throw SourceFault.siteChanged(missingFile) }
    guard !packs.contains(where: { [.updated, .healed].contains($0.outcome) }) else { return }
    let errors = unable.sorted { $0.key < $1.key }.compactMap(\.value.error)
    if let error = errors.first { throw error }
  }

  /// Returns the releases that the store has of the root; `nil` if releases do not matter.
  private func installedReleases(
    of chosen: [ChosenPack], in transaction: borrowing Transaction
  ) -> InstalledReleases? {
    guard let root = chosen.first?.root, followsReleases(of: root) else { return nil }
    var current: [PackID: PackVersion] = [:]
    for pack in transaction.packs where !pack.isRemoved && pack.origin == provenance.origin {
      current[pack.id] = pack.version
    }
    return InstalledReleases(in: root, isInstalled: { current[$0] != nil }) { pack, offer in
      offer.describes(current[pack.id])
    }
  }

  /// Decides whether to install the site's offer for a pack, from the state of the store and the root.
  private func assess(_ chosen: ChosenPack, in transaction: borrowing Transaction) throws -> AssessedPack {
    let pack = chosen.pack
    let before = transaction.packs.first { $0.id == pack }
    let current = before.flatMap { $0.isRemoved ? nil : $0.version }
    var pulled = Store.PullResult.Pack(pack, .absent, from: current?.number, to: nil)
    guard let entry = chosen.entry else { return AssessedPack(chosen, pulled) }
    let isOwn = before?.origin == provenance.origin
    let (offered, withheld, selection) = try offer(of: chosen, entry, current: isOwn ? current : nil)
    pulled.outcome = offered == nil ? .notOffered : .unchanged
    pulled.to = offered?.number
    pulled.withheld = withheld
    var assessed = AssessedPack(chosen, pulled, selection, current: isOwn ? current : nil)
    guard let version = offered else { return assessed }
    if let fault = unable[pack] {
      assessed.result = fault.result
      return assessed
    }
    let isCurrent = version.describes(current) && isOwn
    let isHeld = before?.isHeld == true || options.heldPacks.contains(pack)
    let kept = transaction.versions(of: pack)
    let provenance = provenance(of: version, chosen, kept: isOwn ? kept : [], in: transaction)
    if before == nil || isOwn, !isHeld,
      let refusal = try refusal(of: version, of: pack, by: provenance, in: transaction)
    {
      assessed.result.outcome = refusal
      return assessed
    }
    let availability = try availability(of: before), isWhole = availability?.isWhole ?? true
    assessed.result.missingByteCount = availability?.missingByteCount ?? 0
    if isCurrent, isWhole { return assessed }
    if !isWhole, isLeftPurged(chosen, isCurrent: isCurrent) {
      assessed.result.outcome = .purged
      return assessed
    }
    // The core would refuse it too, but only after the manifest was fetched.
    if let before, before.origin != provenance.origin, !provenance.adopts {
      guard packs == nil || chosen.isImplied, !source.isArchive else {
        throw transaction.explain(
          PackStoreError(.otherOrigin, "belongs to another origin", about: .pack(pack)), of: pack)
      }
      assessed.result.outcome = .otherOrigin
      return assessed
    }
    if isHeld, !isCurrent {
      assessed.result.outcome = .held
      return assessed
    }
    assessed.installation = Installation(
      version: version, entry: entry, before: before, current: current, isCurrent: isCurrent, kept: kept,
      provenance: provenance)
    return assessed
  }

  /// Stages the site's offer for a pack. The caller closes the delivery, if any.
  private func install(
    _ installation: Installation, of assessed: AssessedPack, into transaction: borrowing Transaction,
    _ deliveries: inout [Delivery]
  ) async throws -> Store.PullResult.Pack {
    let pack = assessed.id, chosen = assessed.chosen, entry = installation.entry, version = installation.version
    let kept = installation.kept, provenance = installation.provenance
    var pulled = assessed.result
    let manifest = try await reader.readManifest(of: version, pack)
    try await reader.readAttributes([version.attributes].compactMap { $0 }, in: chosen.root)
    let placement = version.attributes == nil ? Placement.durable : reader.attributes(of: version)?.placement
    while true {
      let opened: Delivery?
      do {
        opened = try open(manifest, priority: entry.priority, placement, by: provenance, in: transaction)
      } catch let error as PackStoreError where error.code == .stale {
        pulled.outcome = .stale
        return pulled
      } catch let error as PackStoreError where error.code == .downgrade && !source.isArchive {
        pulled.outcome = .publisherOutOfDate
        return pulled
      } catch let error as PackStoreError
        where error.code == .otherOrigin && (packs == nil || chosen.isImplied) && !source.isArchive
      {
        pulled.outcome = .otherOrigin
        return pulled
      } catch let error as PackStoreError where error.code == .exists && !source.isArchive {
        pulled.outcome = .reusedNumber
        reusedNumber = Self.reusedNumberError(pack, version.number, error)
        return pulled
      }
      reader.didUseManifest(of: version)
      guard let delivery = opened else {
        if installation.before?.origin != provenance.origin { pulled.outcome = .updated }  // adopted without a change
        return pulled
      }
      deliveries.append(delivery)
      try checkStillWanted(version, of: pack, installation.current, &deliveries)
      do {
        let route = DeltaRoute(
          to: version, of: entry, from: options.usesDeltas ? kept : [], but: refusedDeltas)
        let usesList = !source.isArchive && !packsWithoutLists.contains(pack)
        let list = usesList ? manifest.changeList(from: kept) : nil
        let isShared = try useShared(manifest, delivery)
        try await fetch(manifest, delivery, route, list, isShared: isShared, &pulled)
        if !isPlan { try stage(delivery, route, &pulled, in: transaction) }
        pulled.outcome = installation.isCurrent ? .healed : .updated
        return pulled
      } catch let refusal as RouteIsRefused {
        refusedDeltas.formUnion(refusal.route.deltas.map(\.header))
        pulled.deltaFrom = nil
        pulled.deltaCount = 0
        deliveries.removeLast().close(discarding: false)
      } catch is ChangeListIsRefused {
        packsWithoutLists.insert(pack)
        deliveries.removeLast().close(discarding: false)
      }
    }
  }

  private static func reusedNumberError(_ pack: PackID, _ number: UInt64, _ cause: PackStoreError) -> PackStoreError {
    var error = cause
    error.reason = "the site offers other content or attributes than this store has"
    error.specificRemedy = "ask the publisher for a higher version number, or remove the pack and pull it again"
    error.subject = .version(pack, number)
    return error
  }

  /// Checks again: another process may have installed the version after the transaction began and before the delivery began, which
  /// excludes other processes.
  private func checkStillWanted(
    _ version: SiteRoot.Offer, of pack: PackID, _ current: PackVersion?, _ deliveries: inout [Delivery]
  ) throws {
    let now = try self.version(of: pack)
    guard now?.number != current?.number || now?.catalog != current?.catalog else { return }
    deliveries.removeLast().close(discarding: version.describes(now))
    throw PackStoreError(.conflict, "changed by another process since the pull began", about: .pack(pack))
  }

  private func open(
    _ manifest: VersionManifest, priority: Int32, _ placement: Placement?, by provenance: Provenance,
    in transaction: borrowing Transaction
  ) throws -> Delivery? {
    do {
      return try Delivery.open(
        manifest, priority: priority, placement: placement, by: provenance, withoutFrames: options.leavesOutFrames,
        rowLimit: options.rowLimit, in: transaction)
    } catch let error as PackStoreError where error.code == .busy {
      throw VersionIsBusy()
    }
  }

  // MARK: - Bytes

  /// Links the segments of another store that contain the version, or an earlier one.
  ///
  /// - Returns: whether the version itself was linked.
  private func useShared(_ manifest: VersionManifest, _ delivery: Delivery) throws -> Bool {
    guard !options.leavesOutFrames, let shared = options.findShared?(manifest.pack, manifest.catalog) else {
      return false
    }
    var isLinked = false
    for segment in shared.segments where try delivery.use(segment) { isLinked = true }
    return isLinked && shared.isWholeVersion
  }

  /// Fetches the data of a version in the cheapest way.
  private func fetch(
    _ manifest: VersionManifest, _ delivery: Delivery, _ route: DeltaRoute?, _ list: VersionManifest.ChangeList?,
    isShared: Bool, _ pulled: inout Store.PullResult.Pack
  ) async throws {
    rate = RateMeter()
    progress.pack = manifest.pack
    // Linked frames cost nothing, but may turn out to be invalid: the cost of the frames decides.
    var takesRoute = !isShared && route?.isCheapInAnyCase ?? false
    if !takesRoute {
      let crossroads = FrameCostProbe(delivery) { [isPlan] totals in
        takesRoute = route?.isCheaper(than: totals) ?? false
        return !takesRoute && !isPlan
      }
      if let list { try await fetch(list, delivery, of: manifest.pack) }
      do {
        try await fetch(
          crossroads, delivery, manifest.segments.lazy.map(SegmentFiles.init), of: manifest.pack,
          metadataByteLimit: metadataByteLimit(of: manifest))
      } catch let error where list != nil && Self.saysCorrupt(error) {
        throw ChangeListIsRefused()  // the list itself may be the cause
      }
    }
    if takesRoute, let route {
      try await fetch(route, delivery, of: manifest.pack)
      pulled.deltaFrom = route.from
      pulled.deltaCount = route.deltas.count
    }
    let totals = delivery.totals
    pulled.totalByteCount = totals.totalByteCount
    pulled.newChunkCount = totals.totalChunkCount
    pulled.remainingByteCount = totals.totalByteCount - totals.byteCount
  }

  /// A folder on this machine has no limit.
  private func metadataByteLimit(of manifest: VersionManifest) -> Int {
    source.isLocal ? .max : options.limits.metadataByteLimit(versionByteCount: manifest.byteCount)
  }

  /// Whether published data is invalid, or the received bytes are not the published ones.
  private static func saysCorrupt(_ error: any Error) -> Bool {
    (error as? PackStoreError)?.code == .corrupt || (error as? DeliveryError)?.code == .corrupt
  }

  /// Fetches a change list, in place of pages.
  private func fetch(_ list: VersionManifest.ChangeList, _ delivery: Delivery, of pack: PackID) async throws {
    do {
      guard try delivery.use(list) else { return }
      try await fetch(ChangeListPart(delivery), delivery, [SegmentFiles(list)], of: pack)
    } catch SourceFault.siteChanged {
      throw ChangeListIsRefused()
    } catch let error as DeliveryError where error.code != .unreachable {
      throw ChangeListIsRefused()
    }
  }

  /// Fetches deltas; for a plan, only determines how much of them is present.
  private func fetch(_ route: DeltaRoute, _ delivery: Delivery, of pack: PackID) async throws {
    do {
      try delivery.use(route.deltas.map(\.reference)) { self.show($0, pack) }
      guard !isPlan else {
        _ = try delivery.next()  // checks the data of an interrupted pull
        return pay(FetchTally(), for: pack, resumed: delivery.totals.resumedByteCount)
      }
      try await fetch(delivery, delivery, route.deltas.map(SegmentFiles.init), of: pack)
    } catch SourceFault.siteChanged(let error) {
      throw hasReadRootAgain ? RouteIsRefused(route: route) : SourceFault.siteChanged(error)
    } catch let error as DeliveryError where error.code != .unreachable {
      throw RouteIsRefused(route: route)
    } catch let error as PackStoreError where Self.isOfDelta(error) {
      throw RouteIsRefused(route: route)
    }
  }

  /// Whether frames may still work: they need less space, and depend on neither the delta nor its base version.
  private static func isOfDelta(_ error: PackStoreError) -> Bool {
    [.corrupt, .newerFormat, .otherDraft, .invalidArgument, .noSpace, .purged, .notFound].contains(error.code)
  }

  private func fetch(
    _ incoming: any Incoming, _ delivery: Delivery, _ files: any RandomAccessCollection<SegmentFiles>, of pack: PackID,
    metadataByteLimit: Int = .max
  ) async throws {
    let fetcher = Fetcher(
      source: source, incoming: incoming, files: files, limits: options.fetchLimits,
      spoolFolder: "\(store.path.string)/tmp", metadataByteLimit: metadataByteLimit
    ) { self.show(delivery.totals) }
    show(delivery.totals)
    defer { pay(fetcher.tally, for: pack, resumed: delivery.totals.resumedByteCount) }
    try await fetcher.run()
  }

  private func stage(
    _ delivery: Delivery, _ route: DeltaRoute?, _ pulled: inout Store.PullResult.Pack,
    in transaction: borrowing Transaction
  ) throws {
    do {
      let staged = try delivery.stage()
      pulled.newChunkCount = staged.newChunkCount
      pulled.newStoredByteCount = staged.newStoredByteCount
      // An inspected version is not installed.
      guard !options.leavesOutFrames else { return }
      transaction.note(
        staged.version,
        from: .init(
          location: withoutSecrets(source.location), channel: source.isArchive ? nil : channel,
          key: result.key))
    } catch let error as PackStoreError where Self.isOfDelta(error) {
      guard pulled.deltaFrom != nil, let route else { throw error }
      throw RouteIsRefused(route: route)
    }
  }

  private func pay(_ tally: FetchTally, for pack: PackID, resumed: Int) {
    result.wireByteCount += tally.metadataByteCount + tally.frameByteCount + tally.deltaByteCount
    result.requestCount += tally.requestCount
    costs[pack, default: PackCost(firstRound: round)].tally += tally
    if costs[pack]!.firstRound == round { costs[pack]!.resumedByteCount = resumed }
  }

  // MARK: - Progress

  private func show(_ phase: Store.PullProgress.Phase) {
    progress = Store.PullProgress(phase: phase)
    progress.pinnedKey = pinnedKey
    report?(progress)
  }

  private func show(_ totals: DeliveryTotals) {
    if totals.isPlanned { rate.record(totals.byteCount, at: options.clock.now()) }
    progress.phase = totals.isPlanned ? .fetch : .plan
    progress.byteCount = totals.byteCount
    progress.totalByteCount = totals.isPlanned ? totals.totalByteCount : 0
    progress.chunkCount = totals.chunkCount
    progress.totalChunkCount = totals.isPlanned ? totals.totalChunkCount : 0
    progress.bytesPerSecond = rate.bytesPerSecond
    report?(progress)
  }

  /// Reports the progress of applying deltas.
  private func show(_ applied: Store.InstallProgress, _ pack: PackID) {
    progress = Store.PullProgress(phase: .apply)
    progress.pinnedKey = pinnedKey
    progress.pack = pack
    progress.byteCount = applied.byteCount
    progress.totalByteCount = applied.totalByteCount
    report?(progress)
  }
}

/// The cost of a pack, over all rounds.
private struct PackCost {
  var tally = FetchTally()

  /// As found in the first round: later rounds find data that this pull itself has fetched.
  var resumedByteCount = 0
  let firstRound: Int

  init(firstRound: Int) { self.firstRound = firstRound }
}

extension Store.PullResult.Pack {
  fileprivate mutating func take(_ cost: PackCost?) {
    guard let cost else { return }
    metadataByteCount = cost.tally.metadataByteCount
    frameByteCount = cost.tally.frameByteCount
    deltaByteCount = cost.tally.deltaByteCount
    requestCount = cost.tally.requestCount
    resumedByteCount = cost.resumedByteCount
  }
}

/// A pack cannot be installed, and releases depend on it.
private struct PackIsUnable: Error {
  let result: Store.PullResult.Pack
  /// `nil` if the store refused the version.
  let error: (any Error)?
}

/// Another process is fetching the same version.
private struct VersionIsBusy: Error {}

/// Deltas turned out to be unusable: continue without them.
private struct RouteIsRefused: Error {
  let route: DeltaRoute
}

/// A change list turned out to be unusable: continue with pages.
private struct ChangeListIsRefused: Error {}

/// Waits between checks of another process: longer each time, up to two seconds.
private struct Wait {
  private let clock: TransferClock
  private var delay: Duration = .milliseconds(50)

  init(_ clock: TransferClock) { self.clock = clock }

  mutating func next() async throws {
    try await clock.sleep(delay * (1 + clock.random()) / 2)
    delay = min(delay * 2, .seconds(2))
  }
}
