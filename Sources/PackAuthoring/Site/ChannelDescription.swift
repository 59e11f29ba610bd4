package import PackFormats
public import PackStore

extension Site {
  /// What a channel of a site offers.
  public struct ChannelDescription: Hashable, Codable, Sendable {
    public let channel: SiteChannel

    /// The number of its root, which rises with each.
    public let sequence: UInt64

    public let madeAt: Date

    /// When clients begin to refuse the root; nil: never.
    public let expiresAt: Date?

    /// It was removed: clients keep what they have.
    public let isClosed: Bool

    /// In order of their names.
    public let packs: [Pack]

    public struct Pack: Hashable, Codable, Sendable {
      public let pack: PackID
      public let priority: Int32

      /// In the order in which clients try them.
      public let offers: [Offer]

      /// How many deltas lead to these, by way of other versions too.
      public let deltaCount: Int
    }

    /// A version, and which devices it is for.
    public struct Offer: Hashable, Codable, Sendable {
      public let version: UInt64
      public let share: DeviceShare

      /// Nil: all.
      public let appVersions: AppVersionRange?

      /// What a device without anything fetches for it.
      public let downloadByteCount: Int
    }
  }

  /// The channels of the site, by their names; those that were closed among them.
  ///
  /// - Throws: `corrupt`, `untrusted` when a root is damaged; `ioError`.
  public func channels() throws -> [ChannelDescription] {
    try folder.channels().compactMap { try folder.readRoot(of: $0, acceptsDamage: false)?.root }.map(
      ChannelDescription.init)
  }
}

extension Site.ChannelDescription {
  package init(_ root: SiteRoot) {
    channel = root.channel
    sequence = root.sequence
    madeAt = Date(nanosecondsSince1970: root.madeAt)
    expiresAt = root.expiresAt.map(Date.init(nanosecondsSince1970:))
    isClosed = root.isClosed
    packs = root.packs.map { pack in
      Pack(
        pack: pack.id, priority: pack.priority, offers: pack.offers.map(Offer.init), deltaCount: pack.deltas.count)
    }
  }
}

extension Site.ChannelDescription.Offer {
  fileprivate init(_ offer: SiteRoot.Offer) {
    version = offer.number
    share = (try? DeviceShare(tenThousandths: offer.share)) ?? .none
    appVersions = offer.appVersions
    downloadByteCount = Int(clamping: offer.downloadByteCount)
  }
}

extension Site {
  /// What its roots say that it is of; nil: it has none yet.
  package var product: Store.Product? {
    get throws {
      for channel in try folder.channels() {
        if let signed = try folder.readRoot(of: channel) { return signed.root.product }
      }
      return nil
    }
  }
}
