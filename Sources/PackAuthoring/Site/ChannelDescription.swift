public import PackFormats
public import PackStore

extension Site {
  /// The offers of a channel.
  public struct ChannelDescription: Hashable, Codable, Sendable {
    public let channel: SiteChannel

    /// The number of the channel's root, which increases with each root.
    public let sequence: UInt64

    public let madeAt: Date

    /// The time after which clients refuse the root; `nil` if it does not expire.
    public let expiresAt: Date?

    /// Whether the channel was closed: clients keep their packs.
    public let isClosed: Bool

    /// The packs, in order of their names.
    public let packs: [Pack]

    public struct Pack: Hashable, Codable, Sendable {
      public let pack: PackID
      public let priority: Int32

      /// The offers, in the order in which clients try them.
      public let offers: [Offer]

      /// The number of deltas to these offers, including deltas to intermediate versions.
      public let deltaCount: Int
    }

    /// A version, and the devices that it is for.
    public struct Offer: Hashable, Codable, Sendable {
      public let version: UInt64

      /// The share at the time of the description.
      public let share: DeviceShare

      /// The steps and the state of a release in steps; `nil` if the share is fixed.
      public let rollout: RolloutDescription?

      /// The app versions that the offer is for; `nil` for all.
      public let appVersions: AppVersionRange?

      /// The release that the offer is a member of; `nil` if none.
      public let release: PackRelease?

      /// The version's download size for an empty store.
      public let downloadByteCount: Int
    }
  }

  /// Returns the channels of the site by name, including closed ones.
  ///
  /// - Throws: `corrupt`, `untrusted` if a root is damaged; `ioError`.
  public func channels() throws -> [ChannelDescription] {
    try folder.channels().compactMap { try folder.readRoot(of: $0, acceptsDamage: false)?.root }.map(
      { ChannelDescription($0) })
  }
}

extension Site.ChannelDescription {
  /// - Parameter now: the time whose shares to describe, in nanoseconds since 1970.
  package init(_ root: SiteRoot, at now: Int64 = nanosecondsSince1970()) {
    channel = root.channel
    sequence = root.sequence
    madeAt = Date(nanosecondsSince1970: root.madeAt)
    expiresAt = root.expiresAt.map(Date.init(nanosecondsSince1970:))
    isClosed = root.isClosed
    packs = root.packs.map { pack in
      Pack(
        pack: pack.id, priority: pack.priority,
        offers: pack.offers.map { Offer($0, in: root, at: max(now, root.madeAt)) },
        deltaCount: pack.deltas.count)
    }
  }
}

extension Site.ChannelDescription.Offer {
  fileprivate init(_ offer: SiteRoot.Offer, in root: SiteRoot, at now: Int64) {
    version = offer.number
    share = (try? DeviceShare(tenThousandths: root.share(of: offer, at: now))) ?? .none
    rollout = RolloutDescription(
      offer.rollout, base: offer.share, horizonEnd: root.horizon.map { _ in root.horizonEnd })
    appVersions = offer.appVersions
    release = offer.release
    downloadByteCount = Int(clamping: offer.downloadByteCount)
  }
}

extension Site {
  /// Returns the channels with a root, in order of their names.
  package func channelNames() throws -> [SiteChannel] { try folder.channels() }

  /// The product in the site's roots; `nil` if it has no root yet.
  package var product: Store.Product? {
    get throws {
      for channel in try folder.channels() {
        if let signed = try folder.readRoot(of: channel) { return signed.root.product }
      }
      return nil
    }
  }
}
