public import PackStore

extension Store {
  /// What a pull did, or would do.
  public struct PullResult: Hashable, Codable, Sendable {
    /// In order of names.
    public internal(set) var packs: [PullResult.Pack] = []

    /// Packs that the site offers and that were left, since only those that are here were asked for, in order of names.
    public internal(set) var otherPacks: [PackID] = []

    /// Who signed the site; nil: it is unsigned.
    public internal(set) var key: SitePublicKey?

    /// The key was pinned now, or by a pull that was interrupted before anything was taken: the caller does not vouch for it.
    /// Compare it with what the publisher says.
    public internal(set) var isFirstContact = false

    /// By whose word packs were changed.
    public internal(set) var origin = Origin.local

    /// The channel that was followed; nil: the pull was from an archive.
    public internal(set) var channel: SiteChannel?

    /// When the site's root was made.
    public internal(set) var madeAt = Date(timeIntervalSince1970: 0)

    /// How old the root is; negative when it is ahead of this machine's clock.
    public internal(set) var age = Duration.zero

    /// When the root expires; nil: never.
    public internal(set) var expiresAt: Date?

    /// The root is older than one that was seen at this place: a mirror lags. Nothing was changed.
    public internal(set) var isStale = false

    /// Of the root that was followed.
    package internal(set) var rootNumber = RootNumber()

    /// What came over the wire in all, roots and manifests included, in bytes.
    public internal(set) var wireByteCount = 0

    public internal(set) var requestCount = 0
  }
}

extension Store.PullResult {
  /// What became of one pack.
  public struct Pack: Hashable, Codable, Sendable {
    public let pack: PackID

    public internal(set) var outcome: Outcome

    /// The version before; nil: the store did not have the pack.
    public internal(set) var from: UInt64?

    /// The version that shows now, or that the site offers where it was not taken; nil: the site has none.
    public internal(set) var to: UInt64?

    /// What came over the wire of tables, catalog and layout, in bytes.
    public internal(set) var metadataByteCount = 0

    /// What came over the wire of frames, in bytes.
    public internal(set) var frameByteCount = 0

    /// What came over the wire of deltas, in bytes.
    public internal(set) var deltaByteCount = 0

    /// The version here that deltas were, or would be, applied to; nil: frames were cheaper, or there is no
    /// delta that is of use.
    public internal(set) var deltaFrom: UInt64?

    /// How many deltas these were, or would be: more than one are a chain, which is applied as one commit.
    public internal(set) var deltaCount = 0

    public internal(set) var requestCount = 0

    /// Bytes of frames, or of deltas, that an interrupted pull had left.
    public internal(set) var resumedByteCount = 0

    /// Bytes of frames that were new, or of deltas: those that came and those that an interrupted pull had left. For
    /// a dry run, what would be fetched is ``remainingByteCount``.
    public internal(set) var totalByteCount = 0

    /// New chunks; for a dry run 0 where deltas would be taken.
    public internal(set) var newChunkCount = 0

    /// Bytes that were written to segments; 0 for a dry run.
    public internal(set) var newStoredByteCount = 0

    /// What a pull would fetch yet.
    public internal(set) var remainingByteCount = 0

    /// Bytes of the previous version that were missing, because files of the store or of the cache folder were lost: they were
    /// fetched again if ``outcome`` is ``Outcome/healed``. 0 if parts of the catalog or layout alone were lost.
    public internal(set) var missingByteCount = 0

    public enum Outcome: String, CaseIterable, Codable, Sendable {
      /// Another version shows now.
      case updated
      /// The store has what the site offers.
      case unchanged
      /// The store had this version, and data of it was gone, which is there again.
      case healed
      /// Data of the pack is gone since ``Store/purge(bytes:)``; the pack was left alone.
      case purged
      /// The pack is held at its version since a rollback, and was left there.
      case held
      /// The site has no such pack any more; it was left alone.
      case absent
      /// The site has the pack, and no version that is for this app, platform and device; the pack was left alone.
      case notOffered
      /// The pack is of another origin, and was left alone.
      case otherOrigin
      /// The site's publisher signed an older state again: a version, or an epoch, below the accepted one. The pack was not changed.
      /// A publication from the newest state of the site resolves this.
      case publisherOutOfDate
      /// What the site says is older than what was taken before; the pack was left alone.
      case stale
      /// The site offers other content under the number of a version that the store keeps; the pack was not changed. A higher
      /// number on the site, or removing the pack and pulling it again, resolves this.
      case reusedNumber
    }

    init(_ pack: PackID, _ outcome: Outcome, from: UInt64?, to: UInt64?) {
      self.pack = pack
      self.outcome = outcome
      self.from = from
      self.to = to
    }
  }
}

extension Store.PullResult: CustomStringConvertible {
  /// What became of each pack, and what it cost.
  public var description: String {
    let outcomes = packs.map(\.description).joined(separator: ", ")
    return "\(outcomes): \(wireByteCount) bytes in \(requestCount) requests"
  }
}

extension Store.PullResult.Pack: CustomStringConvertible {
  /// `Tutorial@3 updated`.
  public var description: String { "\(pack)" + (to.map { "@\($0)" } ?? "") + " \(outcome)" }
}
