import PackFormats
public import PackStore

extension Site {
  /// What a publication did.
  public struct PublishResult: Hashable, Codable, Sendable {
    /// The channel that offers what was published; nil: none does yet.
    public let channel: SiteChannel?

    /// The number of the channel's root, which rises with each; 0 where no channel was meant.
    public let sequence: UInt64

    /// The site was as it should be, and nothing was written.
    public let isUnchanged: Bool

    /// The channels whose roots were replaced, or would be, in order.
    public let changedChannels: [SiteChannel]

    /// What clients are told to trust.
    public let publicKey: SitePublicKey

    /// When clients begin to refuse the root; nil: never.
    public let expiresAt: Date?

    /// What was to be published, in that order.
    public let packs: [Pack]

    /// Versions that the site had and has no longer.
    public let droppedVersions: [PackVersion]

    /// Packs that were withdrawn from the channel, or would be, because the source does not have them.
    public let prunedPacks: [PackID]

    /// Packs that the channel offers and the source does not have, and that were left there. None where the source is a manifest,
    /// which speaks of its own pack alone, or where packs were named.
    public let extraPacks: [PackID]

    /// Versions that the site's store had lost, and that were copied once more.
    public let restoredVersions: [PackVersion]

    /// Versions that the site's store had lost, and that the source does not keep either: the site does not offer them
    /// any more.
    public let lostVersions: [LostVersion]

    /// Bytes of files that left the site and can still be fetched, until their grace period is over.
    public let retiredByteCount: Int

    /// When the first of them may go; a publication after that removes them. Nil when there are none.
    public let retiredUntil: Date?

    /// Deltas that were made.
    public private(set) var deltas: [DeltaFile.Info]

    /// Deltas that could not be made. The versions are published all the same.
    public private(set) var missingDeltas: [MissingDelta]

    /// Bytes of the files that are new on the site: segments, frame tables, manifests, deltas, the root.
    public let newByteCount: Int

    /// Bytes of all files that clients may fetch from the site.
    public let byteCount: Int

    /// Of a dry run: what devices would fetch that have a version which is offered until now.
    public internal(set) var updates: [Update] = []

    /// Adds deltas that were made after the publication.
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
      /// To which it would lead.
      public let version: PackVersion

      /// The number of the version that it would begin with.
      public let from: UInt64

      /// Why there is none, as a sentence.
      public let reason: String
    }

    public struct Pack: Hashable, Codable, Sendable {
      /// The version that is current on the site now.
      public let version: PackVersion

      /// The one that was; nil when the pack is new there.
      public let previous: PackVersion?

      /// The site had this version as the current one.
      public let isUnchanged: Bool

      /// Bytes of assets that the site did not have.
      public let newByteCount: Int

      /// Bytes that were written to the site's segments for it.
      public let newStoredByteCount: Int

      /// An older version is current again.
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
      retiredUntil: change.retired.firstEnd(grace: change.options.gracePeriod.nanoseconds).map(
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
  /// `Tutorial@3, Level1@2: 81920 new bytes`.
  public var description: String {
    isUnchanged ? "nothing new" : packs.map { "\($0.version)" }.joined(separator: ", ") + ": \(newByteCount) new bytes"
  }
}
