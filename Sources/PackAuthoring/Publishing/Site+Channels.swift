public import PackFormats
public import PackStore

extension Site {
  /// The result of a change of a channel.
  public struct ChannelResult: Hashable, Codable, Sendable {
    public let channel: SiteChannel

    /// The number of the channel's root; 0 if it has no root yet.
    public let sequence: UInt64

    /// Whether the channel already had these offers, and nothing was written.
    public let isUnchanged: Bool

    /// Whether the channel was created, or opened again.
    public let isNew: Bool

    /// The time after which clients refuse the root; `nil` if it does not expire.
    public let expiresAt: Date?

    /// The offers after the change, in the order in which clients try them.
    public let offers: [PackID: [Offer]]

    /// The size of the written files in bytes.
    public let newByteCount: Int

    /// For a dry run of a promotion: the downloads of devices with a version that the channel offers now.
    public internal(set) var updates: [Update] = []

    public struct Offer: Hashable, Codable, Sendable {
      public let version: UInt64
      /// The share now.
      public let share: DeviceShare

      /// The steps and the state of a release in steps; `nil` if the share is fixed.
      public let rollout: RolloutDescription?

      /// The app versions that the offer is for; `nil` for all.
      public let appVersions: AppVersionRange?

      /// The release that the offer is a member of; `nil` if none.
      public let release: PackRelease?
    }
  }

  /// The app versions that a promotion is for.
  public enum AppVersionScope: Hashable, Sendable {
    /// The versions in the existing offer; for a new offer, the versions in the attributes.
    case asBefore
    case all
    case range(AppVersionRange)
  }
}

extension Site.ChannelResult {
  init(_ change: SiteChange, _ channel: SiteChannel, before: SiteRoot?, isDryRun: Bool) {
    let state = change[channel], root = state?.root, moment = change.rolloutMoment(on: channel)
    // A dry run has no new root yet.
    let horizonEnd = root?.horizon.flatMap { _ in root?.horizonEnd }
    var offers: [PackID: [Offer]] = [:]
    for (pack, planned) in state?.plan.packs ?? [:] {
      offers[pack] = planned.map {
        Offer(
          version: $0.number, share: (try? DeviceShare(tenThousandths: moment.share(of: $0))) ?? .none,
          rollout: RolloutDescription($0.rollout, base: $0.share, horizonEnd: isDryRun ? nil : horizonEnd),
          appVersions: $0.appVersions, release: $0.release)
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
  /// Offers a version that the site keeps on a channel, which is created if necessary.
  ///
  /// An offer for all devices comes first, and replaces the offers it covers. An offer for a share of devices leaves the offers
  /// after it for the other devices. A phased release is therefore a rising share. A share of 0 halts it, and devices with the
  /// version keep it. Promoting an older version withdraws the newer one.
  ///
  /// - Parameters:
  ///   - pack: a pack of the site.
  ///   - version: the number of a version that the site keeps.
  ///   - channel: the channel to offer it.
  ///   - appVersions: the app versions that the offer is for.
  ///   - share: the share of devices, if `schedule` is `nil`.
  ///   - schedule: the steps of a release in steps. Its channel must have an expiry. A rollout of a lower version of the pack to the
  ///     same app versions ends at the share that it reached: ``PublishOptions/haltsPrevious``.
  ///   - key: a key that may sign the channel.
  ///   - options: expiry, grace period, primary language, and whether to wait; others are ignored.
  ///   - isDryRun: whether to report the result without changing anything.
  /// - Throws: `notFound` if the site does not keep the version; `invalidArgument` for a lower version, or for a schedule below the
  ///   share that the version has, without ``PublishOptions/takesBack``, and for a schedule on a channel that never expires;
  ///   `untrusted` if the key may not sign the channel; `busy`; `noSpace`, `ioError`, `outOfMemory`, `corrupt`.
  @discardableResult
  public func promote(
    _ pack: PackID, version: UInt64, to channel: SiteChannel, appVersions: AppVersionScope = .asBefore,
    share: DeviceShare = .all, schedule: RolloutSchedule? = nil, signedBy key: SiteKey,
    options: PublishOptions = .init(), isDryRun: Bool = false
  ) async throws -> ChannelResult {
    try await BlockingExecutor.run {
      try ChannelEdit(of: channel, of: self, signedBy: key, options: options, isDryRun: isDryRun)
        .promote(pack, version, appVersions, share, schedule)
    }
  }

  /// Pauses, resumes or halts the release of a version in steps. Nothing is written if the release is in that state already.
  ///
  /// - Parameters:
  ///   - pack: a pack of the site.
  ///   - version: the number of a version that the channel offers.
  ///   - channel: the channel.
  ///   - action: the change. Halting also applies to a version with a fixed share.
  ///   - key: a key that may sign the channel.
  ///   - options: expiry, horizon, grace period, and whether to wait; others are ignored.
  ///   - isDryRun: whether to report the result without changing anything.
  /// - Throws: `notFound` if the channel does not offer the version; `invalidArgument` if a release to pause is finished, halted or
  ///   has a fixed share, or if a version to resume has a fixed share of 0; `untrusted` if the key may not sign the channel; `busy`;
  ///   `noSpace`, `ioError`, `outOfMemory`, `corrupt`.
  @discardableResult
  public func setRollout(
    of pack: PackID, version: UInt64, on channel: SiteChannel, to action: RolloutAction, signedBy key: SiteKey,
    options: PublishOptions = .init(), isDryRun: Bool = false
  ) async throws -> ChannelResult {
    try await BlockingExecutor.run {
      try ChannelEdit(of: channel, of: self, signedBy: key, options: options, isDryRun: isDryRun)
        .setRollout(of: pack, version, to: action)
    }
  }

  /// Withdraws a version from a channel. Its clients use the next offer that fits.
  ///
  /// - Parameters:
  ///   - pack: a pack of the site.
  ///   - version: the number of a version that the channel offers.
  ///   - channel: the channel.
  ///   - key: a key that may sign the channel.
  ///   - options: expiry, grace period, and whether to wait; others are ignored.
  ///   - isDryRun: whether to report the result without changing anything.
  /// - Throws: `notFound` if the channel does not offer the version; `invalidArgument` if it offers no other version of the pack;
  ///   `untrusted` if the key may not sign the channel; `busy`; `noSpace`, `ioError`, `outOfMemory`, `corrupt`.
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

  /// Closes a channel: its root is empty and marked as closed, and its clients keep their packs. Its versions stay on the site if
  /// other channels offer them or they are among the versions to keep.
  ///
  /// - Parameters:
  ///   - channel: a channel of the site.
  ///   - key: a key that may sign the channel.
  ///   - options: expiry, grace period, and whether to wait; others are ignored.
  ///   - isDryRun: whether to report the result without changing anything.
  /// - Throws: `invalidArgument` for `live`; `notFound`; `untrusted` if the key may not sign the channel; `busy`; `noSpace`,
  ///   `ioError`, `outOfMemory`, `corrupt`.
  @discardableResult
  public func close(
    _ channel: SiteChannel, signedBy key: SiteKey, options: PublishOptions = .init(), isDryRun: Bool = false
  ) async throws -> ChannelResult {
    try await BlockingExecutor.run {
      try ChannelEdit(of: channel, of: self, signedBy: key, options: options, isDryRun: isDryRun).close()
    }
  }

  /// Builds missing deltas to the offered versions of channels, beginning with the deltas that most clients can use.
  ///
  /// - Parameters:
  ///   - channel: the channel; `nil` for all channels that the key may sign.
  ///   - packs: the packs; `nil` for all.
  ///   - key: a key that may sign the channel.
  ///   - options: the number of deltas for each version, their level, and whether to wait.
  ///   - progress: called on a thread that may block.
  /// - Throws: `notFound` if the channel does not exist; `untrusted`; `busy`; `CancellationError`, and finished deltas stay;
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

  /// Returns the pairs of versions for which ``makeDeltas(for:of:signedBy:options:progress:)`` would build deltas, in that order.
  ///
  /// - Parameters:
  ///   - channel: the channel; `nil` for all channels that the key may sign.
  ///   - packs: the packs; `nil` for all.
  ///   - key: a key that may sign the channel.
  ///   - options: the number of deltas for each version.
  /// - Throws: `notFound` if the channel does not exist; `untrusted`; `ioError`, `outOfMemory`, `corrupt`.
  public func planDeltas(
    for channel: SiteChannel? = nil, of packs: Set<PackID>? = nil, signedBy key: SiteKey,
    options: PublishOptions = .init()
  ) async throws -> [(from: PackVersion, to: PackVersion)] {
    try await BlockingExecutor.run {
      let change = try self.change(forDeltasTo: channel, key, options, nil)
      let snapshot = try self.store.makeSnapshot()
      let wanted = self.wanted(for: channel, packs, change, in: snapshot)
      let halted = change.channelStates.haltedVersions(in: snapshot)
      return self.deltaWork(change, nil).pairs(wanted, change.deltas, in: snapshot, without: halted)
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

  /// Returns the versions that need deltas.
  private func wanted(
    for channel: SiteChannel?, _ packs: Set<PackID>?, _ change: SiteChange, in snapshot: Snapshot
  ) -> DeltaWork.Wanted {
    let states = change.channelStates.filter { $0.isOwn && (channel == nil || $0.channel == channel) }
    let offered = snapshot.offered(by: states, among: change.channelStates)
    return offered.filter { packs?.contains($0.version.pack) ?? true }
  }
}

extension Snapshot {
  /// Returns the versions that channels offer, `live` first, and the versions of the same packs that clients of any channel may
  /// have. Halted versions are omitted, because no device updates to them.
  func offered(
    by states: [ChannelState], among all: [ChannelState]
  ) -> [(version: PackVersion, sources: [PackVersion])] {
    var seen: Set<PackVersion> = []
    let ordered = states.filter { $0.channel == .live } + states.filter { $0.channel != .live }
    return ordered.flatMap { state in
      state.plan.packs.sorted { $0.key < $1.key }.flatMap { pack, offers in
        let sources = all.flatMap { $0.plan.offers(of: pack) }.compactMap { version($0.number, of: pack) }
        return offers.filter { !$0.isHalted }.compactMap { version($0.number, of: pack) }
          .filter { seen.insert($0).inserted }.map { (version: $0, sources: sources) }
      }
    }
  }
}

extension [ChannelState] {
  /// Returns the versions that channels offer only as halted ones. Devices that have one keep it, so that they need no delta from it.
  func haltedVersions(in snapshot: Snapshot) -> Set<PackVersion> {
    var halted: Set<PackVersion> = [], others: Set<PackVersion> = []
    for (pack, offers) in flatMap(\.plan.packs) {
      for offer in offers {
        guard let version = snapshot.version(offer.number, of: pack) else { continue }
        if offer.isHalted { halted.insert(version) } else { others.insert(version) }
      }
    }
    return halted.subtracting(others)
  }
}
