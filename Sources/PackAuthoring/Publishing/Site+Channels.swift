public import PackFormats
public import PackStore

extension Site {
  /// What a change of a channel did.
  public struct ChannelResult: Hashable, Codable, Sendable {
    public let channel: SiteChannel

    /// The number of its root; 0 where there is none yet.
    public let sequence: UInt64

    /// It offered this already, and nothing was written.
    public let isUnchanged: Bool

    /// It was made, or opened again.
    public let isNew: Bool

    /// When clients begin to refuse the root; nil: never.
    public let expiresAt: Date?

    /// What is offered now, or would be after a dry run: in the order in which clients try it.
    public let offers: [PackID: [Offer]]

    /// Bytes of the files that were written.
    public let newByteCount: Int

    /// Of a dry run of a promotion: what devices would fetch that have a version which the channel offers until now.
    public internal(set) var updates: [Update] = []

    public struct Offer: Hashable, Codable, Sendable {
      public let version: UInt64
      public let share: DeviceShare

      /// Nil: all.
      public let appVersions: AppVersionRange?
    }
  }

  /// The versions of the app that a promotion is for.
  public enum AppVersionScope: Hashable, Sendable {
    /// Those that the offer of the version names; for a new one, those that its attributes name.
    case asBefore
    case all
    case range(AppVersionRange)
  }
}

extension Site.ChannelResult {
  init(_ change: SiteChange, _ channel: SiteChannel, before: SiteRoot?, isDryRun: Bool) {
    let state = change[channel], root = state?.root
    var offers: [PackID: [Offer]] = [:]
    for (pack, planned) in state?.plan.packs ?? [:] {
      offers[pack] = planned.map {
        Offer(
          version: $0.number, share: (try? DeviceShare(tenThousandths: $0.share)) ?? .none, appVersions: $0.appVersions)
      }
    }
    self.init(
      channel: channel, sequence: root?.sequence ?? 0,
      isUnchanged: isDryRun ? before.map { state?.says($0) ?? false } ?? false : root == before,
      isNew: before.map { $0.isClosed && state?.isClosed == false } ?? true,
      expiresAt: root?.expiresAt.map(Date.init(nanosecondsSince1970:)), offers: offers,
      newByteCount: isDryRun ? 0 : Int(clamping: change.newByteCount))
  }
}

extension Site {
  /// Offers a version that the site keeps on a channel, which is made if there is none.
  ///
  /// An offer for all devices comes first, and takes the place of those that it covers; one for a share of devices leaves the
  /// others behind it, for the other devices. So a release in phases is a share that rises; with no share it halts, and
  /// those that have it keep it; and an older version that is promoted takes the newer one back.
  ///
  /// - Parameters:
  ///   - pack: a pack of the site.
  ///   - version: the number of a version that the site keeps.
  ///   - channel: the one that is to offer it.
  ///   - appVersions: the versions of the app that it is for.
  ///   - share: of devices.
  ///   - key: one that may sign the channel.
  ///   - options: of these, expiry, grace period, primary language, and whether to wait.
  ///   - isDryRun: changes nothing, and says what would be.
  /// - Throws: `notFound` when the site keeps no such version; `untrusted` when the key may not sign the channel; `busy`;
  ///   `noSpace`, `ioError`, `outOfMemory`, `corrupt`.
  @discardableResult
  public func promote(
    _ pack: PackID, version: UInt64, to channel: SiteChannel, appVersions: AppVersionScope = .asBefore,
    share: DeviceShare = .all, signedBy key: SiteKey, options: PublishOptions = .init(), isDryRun: Bool = false
  ) async throws -> ChannelResult {
    try await BlockingExecutor.run {
      try ChannelEdit(of: channel, of: self, signedBy: key, options: options, isDryRun: isDryRun)
        .promote(pack, version, appVersions, share)
    }
  }

  /// Takes a version off a channel: clients that it was for take the next offer that fits them.
  ///
  /// - Parameters:
  ///   - pack: a pack of the site.
  ///   - version: the number of a version that the channel offers.
  ///   - channel: the one that is to offer it no more.
  ///   - key: one that may sign the channel.
  ///   - options: of these, expiry, grace period, and whether to wait.
  ///   - isDryRun: changes nothing, and says what would be.
  /// - Throws: `notFound` when the channel does not offer the version; `invalidArgument` when it offers no other one of the
  ///   pack; `untrusted` when the key may not sign the channel; `busy`; `noSpace`, `ioError`, `outOfMemory`, `corrupt`.
  @discardableResult
  public func demote(
    _ pack: PackID, version: UInt64, from channel: SiteChannel, signedBy key: SiteKey,
    options: PublishOptions = .init(),
    isDryRun: Bool = false
  ) async throws -> ChannelResult {
    try await BlockingExecutor.run {
      try ChannelEdit(of: channel, of: self, signedBy: key, options: options, isDryRun: isDryRun).demote(pack, version)
    }
  }

  /// Closes a channel: its root is empty and says so, and its clients keep what they have. What it offered stays on the site
  /// as other channels and the number of versions to keep will have it.
  ///
  /// - Parameters:
  ///   - channel: a channel of the site.
  ///   - key: one that may sign the channel.
  ///   - options: of these, expiry, grace period, and whether to wait.
  ///   - isDryRun: changes nothing, and says what would be.
  /// - Throws: `invalidArgument` for `live`; `notFound`; `untrusted` when the key may not sign the channel; `busy`;
  ///   `noSpace`, `ioError`, `outOfMemory`, `corrupt`.
  @discardableResult
  public func close(
    _ channel: SiteChannel, signedBy key: SiteKey, options: PublishOptions = .init(), isDryRun: Bool = false
  ) async throws -> ChannelResult {
    try await BlockingExecutor.run {
      try ChannelEdit(of: channel, of: self, signedBy: key, options: options, isDryRun: isDryRun).close()
    }
  }

  /// Makes deltas that channels lack to the versions that they offer: those that most clients can use first.
  ///
  /// - Parameters:
  ///   - channel: nil: all that the key may sign.
  ///   - packs: nil: all packs.
  ///   - key: one that may sign the channel.
  ///   - options: how many deltas for each version, how small they are, and whether to wait.
  ///   - progress: called on a thread that may block.
  /// - Throws: `notFound` when there is no such channel; `untrusted`; `busy`; `CancellationError`, and what was done stays;
  ///   `noSpace`, `ioError`, `outOfMemory`, `corrupt`.
  @discardableResult
  public func makeDeltas(
    for channel: SiteChannel? = nil, of packs: Set<PackID>? = nil, signedBy key: SiteKey,
    options: PublishOptions = .init(), progress: (@Sendable (PublishProgress) -> Void)? = nil
  ) async throws -> (made: [DeltaFile.Info], missing: [PublishResult.MissingDelta]) {
    try await BlockingExecutor.run {
      var change = try self.folder.withLock(waits: options.waitsForOthers) {
        var change = try self.change(forDeltasTo: channel, key, options, progress)
        try change.settle()
        return change
      }
      let work = self.deltaWork(change, progress)
      let outcome = try work.run(in: &change) { self.wanted(for: channel, packs, $1, in: $0) }
      return (outcome.made, outcome.missing)
    }
  }

  /// The pairs of versions between which ``makeDeltas(for:of:signedBy:options:progress:)`` would make deltas, in that order.
  ///
  /// - Parameters:
  ///   - channel: nil: all that the key may sign.
  ///   - packs: nil: all packs.
  ///   - key: one that may sign the channel.
  ///   - options: how many deltas for each version.
  /// - Throws: `notFound` when there is no such channel; `untrusted`; `ioError`, `outOfMemory`, `corrupt`.
  public func planDeltas(
    for channel: SiteChannel? = nil, of packs: Set<PackID>? = nil, signedBy key: SiteKey,
    options: PublishOptions = .init()
  ) async throws -> [(from: PackVersion, to: PackVersion)] {
    try await BlockingExecutor.run {
      let change = try self.change(forDeltasTo: channel, key, options, nil)
      let snapshot = try self.store.makeSnapshot()
      let wanted = self.wanted(for: channel, packs, change, in: snapshot)
      return self.deltaWork(change, nil).pairs(wanted, change.deltas, in: snapshot)
    }
  }

  private func change(
    forDeltasTo channel: SiteChannel?, _ key: SiteKey, _ options: PublishOptions,
    _ progress: (@Sendable (PublishProgress) -> Void)?
  ) throws -> SiteChange {
    if let channel { try folder.require(channel) }
    return try SiteChange(
      of: store, named: store.id, channel: channel, in: folder, signedBy: key, options: options,
      now: nanosecondsSince1970(), progress: progress)
  }

  private func deltaWork(_ change: SiteChange, _ progress: (@Sendable (PublishProgress) -> Void)?) -> DeltaWork {
    DeltaWork(
      store, folder: folder, deltaCount: change.options.deltaCount, level: change.options.deltaOptions.level,
      progress: progress)
  }

  /// The versions to which deltas are wanted.
  private func wanted(
    for channel: SiteChannel?, _ packs: Set<PackID>?, _ change: SiteChange, in snapshot: Snapshot
  ) -> DeltaWork.Wanted {
    let states = change.channelStates.filter { $0.isOwn && (channel == nil || $0.channel == channel) }
    let offered = snapshot.offered(by: states, among: change.channelStates)
    return offered.filter { packs?.contains($0.version.pack) ?? true }
  }
}

extension Snapshot {
  /// The versions that channels offer, `live` first, and what clients of any channel may have of the same packs.
  fileprivate func offered(
    by states: [ChannelState], among all: [ChannelState]
  ) -> [(version: PackVersion, sources: [PackVersion])] {
    var seen: Set<PackVersion> = []
    let ordered = states.filter { $0.channel == .live } + states.filter { $0.channel != .live }
    return ordered.flatMap { state in
      state.plan.packs.sorted { $0.key < $1.key }.flatMap { pack, offers in
        offers.compactMap { version($0.number, of: pack) }.filter { seen.insert($0).inserted }.map { version in
          let others = all.flatMap { $0.plan.offers(of: pack) }.compactMap { self.version($0.number, of: pack) }
          return (version: version, sources: others)
        }
      }
    }
  }
}
