public import PackFormats
public import PackStore

extension Site {
  /// The state of a site for its operator, computed without a key.
  ///
  /// A member is `nil` if the place of the site does not show it: a web server has no list of kept and retired files.
  public struct Status: Hashable, Sendable {
    /// The product of the roots; `nil` if no root is readable.
    public var product: Store.Product?

    /// The channels in order of their names.
    public var channels: [Channel] = []

    /// The release keys of the roots, each once.
    public var keys: [ReleaseKey] = []

    /// When the newest root was signed; `nil` if no root is readable.
    public var lastPublicationAt: Date?

    /// The site's retention policy; `nil` if it has none.
    public var policy: RetentionPolicy?

    /// The files of the site by their use.
    public var space: Space?

    /// Deltas that the next `deltas` command would build for the offered versions.
    public var missingDeltas: [MissingDelta]?

    /// The files whose existence was checked; `nil` if the check was not requested.
    public var objects: ObjectCheck?

    /// In order of their codes, the urgent ones first.
    public var alarms: [Alarm] = []

    /// Whether an alarm is urgent.
    public var isUrgent: Bool { alarms.contains(where: \.isUrgent) }

    public struct Channel: Hashable, Sendable {
      public let channel: SiteChannel

      /// The number of the root.
      public let sequence: UInt64
      public let madeAt: Date

      /// When clients begin to refuse the root; `nil`: never.
      public let expiresAt: Date?
      public let isClosed: Bool

      /// The key that signed the root; `nil` for an unsigned root.
      public let releaseKey: SitePublicKey?

      /// The number of changes in the history of the channel, up to this root; `nil` if the root has no history.
      public let changeCount: UInt64?

      /// In order of the packs, then in the order in which clients try them.
      public let offers: [Offer]
    }

    public struct Offer: Hashable, Sendable {
      public let pack: PackID
      public let version: UInt64
      public let label: VersionLabel?

      /// The share at the time of the status: 0 for a halted version.
      public let share: DeviceShare

      /// The steps and the state of a release in steps; `nil` if the share is fixed.
      public let rollout: RolloutDescription?

      /// The release that the offer is a member of; `nil` if none.
      public let release: PackRelease?

      /// `nil`: all.
      public let appVersions: AppVersionRange?

      /// The download size for an empty store.
      public let downloadByteCount: Int
    }

    public struct ReleaseKey: Hashable, Codable, Sendable {
      public let releaseKey: SitePublicKey
      public let rootKey: SitePublicKey
      public let serial: UInt64

      /// The channels that it may sign; empty: all.
      public let channels: [SiteChannel]

      /// When it may no longer sign; `nil`: without limit.
      public let endsAt: Date?
    }

    /// Bytes of a site's files, each file counted once: by the first of these uses that applies.
    public struct Space: Hashable, Codable, Sendable {
      /// Files that roots refer to, the roots, and the records of their history.
      public let neededByteCount: Int

      /// Files of versions that the site keeps and no channel offers; `nil` if unknown.
      public var keptByteCount: Int?

      /// Files that left the roots, in order of the end of their grace periods; `nil` if unknown.
      public var retired: [RetiredGroup]?

      /// Files that nothing needs: their grace period is over, or a publisher left them. `nil` if unknown.
      public var deadByteCount: Int?

      package init(neededByteCount: Int) { self.neededByteCount = neededByteCount }
    }

    public struct RetiredGroup: Hashable, Codable, Sendable {
      /// When the files may be deleted.
      public let until: Date
      public let fileCount: Int
      public let byteCount: Int
    }

    public struct MissingDelta: Hashable, Codable, Sendable {
      public let pack: PackID
      public let from: UInt64
      public let to: UInt64

      /// Bytes that devices fetch by ranges without the delta, about: an upper bound of its benefit. `nil` if unknown.
      public let rangeByteCount: Int?
    }

    public struct ObjectCheck: Hashable, Codable, Sendable {
      public let checkedCount: Int

      /// In order of their paths.
      public let faults: [ObjectFault]

      package init(checkedCount: Int, faults: [ObjectFault]) {
        self.checkedCount = checkedCount
        self.faults = faults
      }
    }

    package init() {}
  }

  /// A file of a site that is not as its roots and manifests record.
  public struct ObjectFault: Hashable, Codable, Sendable {
    /// Relative to the site.
    public let path: String

    /// The recorded length.
    public let byteCount: UInt64

    /// The length that was found; `nil` if no file with the recorded length exists.
    public let foundByteCount: UInt64?

    package init(path: String, byteCount: UInt64, foundByteCount: UInt64?) {
      self.path = path
      self.byteCount = byteCount
      self.foundByteCount = foundByteCount
    }
  }
}

extension Site.Status {
  /// The state as shown by roots.
  ///
  /// - Parameters:
  ///   - roots: readable roots, each of another channel.
  ///   - labels: the labels of attributes, by their SHA-256.
  ///   - now: in nanoseconds since 1970.
  package init(_ roots: [SignedSiteRoot], labels: [Digest256: VersionLabel], now: Int64) {
    self.init()
    let roots = roots.sorted { $0.root.channel < $1.root.channel }
    product = roots.first?.root.product
    channels = roots.map { Channel($0, labels, at: now) }
    lastPublicationAt = roots.map(\.root.madeAt).max().map(Date.init(nanosecondsSince1970:))
    var seen: Set<SitePublicKey> = []
    for delegation in roots.compactMap({ $0.authority?.delegation }) where seen.insert(delegation.releaseKey).inserted {
      keys.append(ReleaseKey(delegation))
      Site.Alarm.ending(delegation, now: now).map { add($0) }
    }
    for signed in roots {
      Site.Alarm.dates(of: signed.root, now: now).forEach { add($0) }
      Site.Alarm.stoppingRollouts(of: signed, now: now).map { add($0) }
    }
  }

  /// Adds an alarm, and keeps the order.
  package mutating func add(_ alarm: Site.Alarm) {
    alarms.append(alarm)
    alarms.sort {
      let left = ($0.isUrgent ? 0 : 1, $0.code.rawValue, $0.channel?.name ?? "")
      return left < ($1.isUrgent ? 0 : 1, $1.code.rawValue, $1.channel?.name ?? "")
    }
  }

  /// Records the check of the site's files.
  package mutating func record(_ check: ObjectCheck) {
    objects = check
    if !check.faults.isEmpty { add(.init(.missingObject, count: check.faults.count)) }
  }
}

extension Site.Status.Channel {
  fileprivate init(_ signed: SignedSiteRoot, _ labels: [Digest256: VersionLabel], at now: Int64) {
    let root = signed.root, time = max(now, root.madeAt)
    channel = root.channel
    sequence = root.sequence
    madeAt = Date(nanosecondsSince1970: root.madeAt)
    expiresAt = root.expiresAt.map(Date.init(nanosecondsSince1970:))
    isClosed = root.isClosed
    releaseKey = signed.authority?.releaseKey
    changeCount = (try? root.historyHead())?.number
    offers = root.packs.flatMap { pack in
      pack.offers.map { offer in
        Site.Status.Offer(
          pack: pack.id, version: offer.number, label: offer.attributes.flatMap { labels[$0] },
          share: (try? DeviceShare(tenThousandths: root.share(of: offer, at: time))) ?? .none,
          rollout: RolloutDescription(
            offer.rollout, base: offer.share, horizonEnd: root.horizon.map { _ in root.horizonEnd }),
          release: offer.release, appVersions: offer.appVersions,
          downloadByteCount: Int(clamping: offer.downloadByteCount))
      }
    }
  }
}

extension Site.Status.ReleaseKey {
  fileprivate init(_ delegation: KeyDelegation) {
    releaseKey = delegation.releaseKey
    rootKey = delegation.rootKey
    serial = delegation.serial
    channels = delegation.channels
    endsAt = delegation.endsAt.map(Date.init(nanosecondsSince1970:))
  }
}

extension AttributeSheet {
  /// The labels of its entries. Entries that cannot be decoded have none.
  package var labels: [Digest256: VersionLabel] {
    digests.reduce(into: [:]) { labels, digest in labels[digest] = (try? attributes(digest))?.label }
  }
}
