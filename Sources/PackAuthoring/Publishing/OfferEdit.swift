public import PackFormats
public import PackStore

extension Site {
  /// One change of a channel's offers, for ``Site/edit(_:ifRoots:signedBy:options:isDryRun:)``.
  public struct OfferEdit: Hashable, Sendable {
    public enum Change: Hashable, Sendable {
      /// Offers a version that the site keeps: ``Site/promote(_:version:to:appVersions:share:schedule:signedBy:options:isDryRun:)``.
      /// The member of a release stays in it, and the whole release changes.
      case promote(
        PackID, version: UInt64, appVersions: AppVersionScope = .asBefore, share: DeviceShare = .all,
        schedule: RolloutSchedule? = nil)

      /// Offers versions as the members of a release, which devices install together or not at all. A version that is a member of a
      /// release of the channel already keeps that release, with its share of devices, and the others join it.
      case promoteRelease(
        PackRelease, [PackID: UInt64], appVersions: AppVersionScope = .asBefore, share: DeviceShare = .all,
        schedule: RolloutSchedule? = nil)

      /// Pauses, resumes or halts the rollout of a version: ``Site/setRollout(of:version:on:to:signedBy:options:isDryRun:)``.
      case setRollout(PackID, version: UInt64, RolloutAction)

      /// Offers to all devices what another channel offers to all devices, with the same app versions. Offers for a share of devices
      /// are not copied; packs that the other channel does not offer to all devices stay as they are.
      case copyOffers(of: SiteChannel)

      /// Withdraws a version: the channel must offer another version of the pack.
      case demote(PackID, version: UInt64)

      /// Offers exactly these versions, in the order in which devices try them.
      case replace([PackID: [PlannedOffer]])

      /// Closes the channel: clients keep their packs.
      case close
    }

    public var channel: SiteChannel
    public var change: Change

    public init(_ channel: SiteChannel, _ change: Change) {
      self.channel = channel
      self.change = change
    }
  }

  /// Changes the offers of many packs and channels. Each channel gets one new root at most, so that its clients see all changes of the
  /// channel at once. In a folder, the roots of several channels are written one after another, in order of their names; in a bucket,
  /// one commit writes all of them.
  ///
  /// Nothing is written if one edit fails, or if a condition does not hold.
  ///
  /// - Parameters:
  ///   - edits: applied in this order.
  ///   - expected: the numbers that the roots of channels must have, 0 for a channel without a root. They are compared with the
  ///     publisher's lock held, so that no other publication can come between.
  ///   - key: a key that may sign the channels.
  ///   - options: expiry, grace period, horizon, `takesBack`, `haltsPrevious`, and whether to wait; others are ignored.
  ///   - isDryRun: whether to report the result without changing anything.
  /// - Returns: one result for each channel, in the order in which the edits mention them.
  /// - Throws: `conflict` if a root has another number than expected; `invalidArgument` if a pack would go down to a lower version
  ///   without `takesBack`, for the last offer of a pack, and for closing `live`; `notFound` for an unknown version or channel;
  ///   `untrusted` if the key may not sign a channel; `busy`; `noSpace`, `ioError`, `outOfMemory`, `corrupt`.
  @discardableResult
  public func edit(
    _ edits: [OfferEdit], ifRoots expected: [SiteChannel: UInt64] = [:], signedBy key: SiteKey,
    options: PublishOptions = .init(), isDryRun: Bool = false
  ) async throws -> [ChannelResult] {
    try await BlockingExecutor.run {
      try SiteEdit(of: self, signedBy: key, options: options, isDryRun: isDryRun).run(edits, ifRoots: expected)
    }
  }
}
