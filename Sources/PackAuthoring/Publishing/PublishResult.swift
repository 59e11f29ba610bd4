import PackFormats
public import PackStore

extension Site {
  /// The result of a publication.
  public struct PublishResult: Hashable, Codable, Sendable {
    /// The channel that offers the published versions; `nil` if no channel offers them yet.
    public let channel: SiteChannel?

    /// The number of the channel's root, which increases with each root; 0 without a channel.
    public let sequence: UInt64

    /// Whether the site was already up to date, and nothing was written.
    public let isUnchanged: Bool

    /// The channels whose roots were replaced, or would be, in order.
    public let changedChannels: [SiteChannel]

    /// The root key that clients must trust.
    public let publicKey: SitePublicKey

    /// The time after which clients refuse the root; `nil` if it does not expire.
    public let expiresAt: Date?

    /// The requested packs, in their order.
    public let packs: [Pack]

    /// Versions that left the site.
    public let droppedVersions: [PackVersion]

    /// Packs that were withdrawn from the channel, or would be, because the source lacks them.
    public let prunedPacks: [PackID]

    /// Packs that the channel offers and the source lacks, and that were kept. Empty if the source is a manifest, which covers only
    /// its own pack, or if packs were named.
    public let extraPacks: [PackID]

    /// Versions that the site's store had lost, and that were copied again.
    public let restoredVersions: [PackVersion]

    /// Versions that the site's store had lost, and that the source also lacks: the site no longer offers them.
    public let lostVersions: [LostVersion]

    /// The size of files that left the site and can still be fetched until their grace period is over, in bytes.
    public let retiredByteCount: Int

    /// The time after which a later publication may delete the first of these files; `nil` if no such file exists.
    public let retiredUntil: Date?

    /// Deltas that were built.
    public private(set) var deltas: [DeltaFile.Info]

    /// Deltas that could not be built. The versions are published anyway.
    public private(set) var missingDeltas: [MissingDelta]

    /// The size of the files that are new on the site: segments, frame tables, manifests, deltas and the root.
    public let newByteCount: Int

    /// The size of all files that clients may fetch from the site.
    public let byteCount: Int

    /// For a dry run: the downloads of devices with a currently offered version.
    public internal(set) var updates: [Update] = []

    /// For packs that one channel withdrew: the other channels that still offer them.
    public internal(set) var remainingOffers: [PackID: [SiteChannel]] = [:]

    /// Adds deltas that were built after the publication.
    package mutating func add(_ made: [DeltaFile.Info], _ missing: [MissingDelta]) {
      deltas += made
      missingDeltas += missing
    }

    public struct LostVersion: Hashable, Codable, Sendable, CustomStringConvertible {
      public let pack: PackID
      public let number: UInt64

      /// `Tutorial@3`.
      public var description: String { "\(pack)@\(number)" }
    }

    public struct MissingDelta: Hashable, Codable, Sendable {
      /// The target version.
      public let version: PackVersion

      /// The number of the source version.
      public let from: UInt64

      /// The reason why the delta is missing, as a sentence.
      public let reason: String
    }

    public struct Pack: Hashable, Codable, Sendable {
      /// The current version on the site.
      public let version: PackVersion

      /// The previous version; `nil` if the pack is new on the site.
      public let previous: PackVersion?

      /// Whether the version was already current on the site.
      public let isUnchanged: Bool

      /// The number of bytes of assets that the site lacked.
      public let newByteCount: Int

      /// The number of bytes written to the site's segments for the version.
      public let newStoredByteCount: Int

      /// Whether an older version is current again.
      public var isWithdrawal: Bool { previous.map { $0.number > version.number } ?? false }
    }
  }
}

extension Site.PublishResult {
  init(
    _ change: SiteChange, isUnchanged: Bool, changedChannels: [SiteChannel], packs: [Pack],
    droppedVersions: [PackVersion], prunedPacks: [PackID] = [], extraPacks: [PackID] = [],
    restoredVersions: [PackVersion] = [], deltas: [DeltaFile.Info] = [], missingDeltas: [MissingDelta] = [],
    newByteCount: UInt64
  ) {
    let restored = Set(restoredVersions.map { LostVersion(pack: $0.pack, number: $0.number) })
    self.init(
      channel: change.target, sequence: change.root?.sequence ?? 0, isUnchanged: isUnchanged,
      changedChannels: changedChannels, publicKey: change.key.rootKey,
      expiresAt: change.root?.expiresAt.map(Date.init(nanosecondsSince1970:)), packs: packs,
      droppedVersions: droppedVersions, prunedPacks: prunedPacks, extraPacks: extraPacks,
      restoredVersions: restoredVersions,
      lostVersions: change.missing.map { LostVersion(pack: $0.pack, number: $0.number) }
        .filter { !restored.contains($0) },
      retiredByteCount: Int(clamping: change.retired.byteCount),
      retiredUntil: change.retired.firstEnd(grace: change.grace.nanoseconds).map(
        Date.init(nanosecondsSince1970:)), deltas: deltas,
      missingDeltas: missingDeltas, newByteCount: Int(clamping: newByteCount),
      byteCount: Int(clamping: change.byteCount))
  }
}

extension Site.PublishResult.Pack {
  init(_ result: Store.InstallResult, previous: PackVersion?, isUnchanged: Bool) {
    self.init(
      version: result.version, previous: previous, isUnchanged: isUnchanged, newByteCount: result.newByteCount,
      newStoredByteCount: result.newStoredByteCount)
  }
}

extension Date {
  init(nanosecondsSince1970 nanoseconds: Int64) { self.init(timeIntervalSince1970: Double(nanoseconds) / 1e9) }
}

extension Site.PublishResult: CustomStringConvertible {
  /// A text such as `Tutorial@3, Level1@2: 81920 new bytes`.
  public var description: String {
    isUnchanged ? "nothing new" : packs.map { "\($0.version)" }.joined(separator: ", ") + ": \(newByteCount) new bytes"
  }
}
