public import PackFormats
public import PackStore

extension Store {
  /// The result of a pull, or of a plan.
  public struct PullResult: Hashable, Codable, Sendable {
    /// The packs, in order of names.
    public internal(set) var packs: [PullResult.Pack] = []

    /// Packs of the site that were skipped because only installed packs were requested, in order of names.
    public internal(set) var otherPacks: [PackID] = []

    /// The root key that signed the site; `nil`: it is unsigned.
    public internal(set) var key: SitePublicKey?

    /// Whether the key was pinned now, or by an interrupted pull that installed nothing: the caller does not vouch for it. Compare
    /// it with the key that the publisher announces.
    public internal(set) var isFirstContact = false

    /// The origin for which packs were changed.
    public internal(set) var origin = Origin.local

    /// The followed channel; `nil` for an archive.
    public internal(set) var channel: SiteChannel?

    /// The date of the site's root.
    public internal(set) var madeAt = Date(timeIntervalSince1970: 0)

    /// The age of the root; negative if it is ahead of this machine's clock.
    public internal(set) var age = Duration.zero

    /// When the root expires; `nil`: never.
    public internal(set) var expiresAt: Date?

    /// Whether the root is older than one already seen at this place: the mirror is out of date, and nothing was changed.
    public internal(set) var isStale = false

    /// The location of another site that the store follows, if the same root key signs it for the same product although it is not a
    /// copy of this one; `nil` if none is known. Packs of the same name replace each other then.
    public internal(set) var siteOfSameKey: String?

    /// The URL to which the site moved, if this pull found the move and followed it; later pulls go there directly.
    public internal(set) var movedTo: String?

    /// A move of the site that this pull found and did not follow: the former place was used. `nil`: none.
    public internal(set) var refusedMove: RefusedMove?

    /// A move of a site that was not followed.
    public struct RefusedMove: Hashable, Codable, Sendable {
      /// The URL to which the site moved.
      public let location: String

      /// The fault of that place.
      public let reason: String
    }

    /// The number of the root.
    package internal(set) var rootNumber = RootNumber()

    /// Bytes received from the network in total, including roots and manifests.
    public internal(set) var wireByteCount = 0

    public internal(set) var requestCount = 0
  }
}

extension Store.PullResult {
  /// The result for one pack.
  public struct Pack: Hashable, Codable, Sendable {
    public let pack: PackID

    public internal(set) var outcome: Outcome

    /// The previous version; `nil` if the store did not have the pack.
    public internal(set) var from: UInt64?

    /// The current version now, or the version that the site offers if it was not installed; `nil` if the site offers none.
    public internal(set) var to: UInt64?

    /// Bytes received for tables, catalog and layout.
    public internal(set) var metadataByteCount = 0

    /// Bytes received for frames.
    public internal(set) var frameByteCount = 0

    /// Bytes received for deltas.
    public internal(set) var deltaByteCount = 0

    /// The installed version that deltas were, or would be, applied to; `nil` if frames were cheaper, or no suitable delta exists.
    public internal(set) var deltaFrom: UInt64?

    /// The number of these deltas; several are a chain, which is applied in one commit.
    public internal(set) var deltaCount = 0

    public internal(set) var requestCount = 0

    /// Bytes of frames or deltas that an interrupted pull left.
    public internal(set) var resumedByteCount = 0

    /// Bytes of new frames or of deltas: received bytes and those that an interrupted pull left. For a dry run, see
    /// ``remainingByteCount``.
    public internal(set) var totalByteCount = 0

    /// New chunks; 0 for a dry run with deltas.
    public internal(set) var newChunkCount = 0

    /// Bytes written to segments; 0 for a dry run.
    public internal(set) var newStoredByteCount = 0

    /// Bytes that a pull would still fetch.
    public internal(set) var remainingByteCount = 0

    /// Bytes of the previous version that were missing, because files of the store or of the cache folder were lost. They were
    /// fetched again if ``outcome`` is ``Outcome/healed``. 0 if only parts of the catalog or layout were lost.
    public internal(set) var missingByteCount = 0

    /// The newest version that the channel ever offered, and the reason why the store does not have it; `nil` if the store has it.
    public internal(set) var withheld: WithheldVersion?

    /// The pack that cannot be installed, if ``outcome`` is ``Outcome/releaseIncomplete``: another pack of the release, or this one.
    public internal(set) var blockingPack: PackID?

    public enum Outcome: String, CaseIterable, Codable, Sendable {
      /// Another version is current now.
      case updated
      /// The store already has the offered version.
      case unchanged
      /// The store had this version with missing data, which was restored.
      case healed
      /// Data of the pack was deleted by ``Store/purge(bytes:)``; the pack was skipped.
      case purged
      /// The pack is held at its version since a rollback; it was skipped.
      case held
      /// The site no longer has the pack; it was skipped.
      case absent
      /// The site has no version of the pack for this app, platform and device; the pack was skipped.
      case notOffered
      /// The pack belongs to another origin; it was skipped.
      case otherOrigin
      /// The site's publisher signed an older state again: a version, or an epoch, below the accepted one. The pack was not changed.
      /// A publication from the newest state of the site resolves this.
      case publisherOutOfDate
      /// The site's data is older than data already accepted; the pack was skipped.
      case stale
      /// The site offers other content under the number of a version that the store keeps; the pack was not changed. A higher
      /// number on the site, or removing the pack and pulling it again, resolves this.
      case reusedNumber
      /// The offered version belongs to a release, which is installed completely or not at all; ``Pack/blockingPack`` cannot be
      /// installed. The pack was not changed.
      case releaseIncomplete
      /// The site lacks files of the offered version; the pack was not changed. If the site has no other pack to install, the pull
      /// fails instead.
      case missingFiles
    }

    init(_ pack: PackID, _ outcome: Outcome, from: UInt64?, to: UInt64?) {
      self.pack = pack
      self.outcome = outcome
      self.from = from
      self.to = to
    }
  }
}

extension Store.PullResult.Pack {
  /// Sets ``withheld`` if the outcome is the reason, and clears it if the store has the newest version.
  ///
  /// - Parameter newest: the highest number that the channel ever offered; `nil` if it never offered the pack.
  mutating func withhold(newest: UInt64?) {
    guard let newest else {
      withheld = nil
      return
    }
    let reason: WithheldReason? =
      switch outcome {
      case .updated, .unchanged, .healed, .notOffered, .missingFiles: nil
      case .absent: .withdrawn
      case .held: .held
      case .otherOrigin: .otherOrigin
      case .publisherOutOfDate: .publisherOutOfDate
      case .reusedNumber: .reusedNumber
      case .purged: .purged
      case .stale: .stale
      case .releaseIncomplete: to == newest ? .releaseIncomplete : nil
      }
    if let reason {
      withheld = WithheldVersion(newest, reason, blockingPack: reason == .releaseIncomplete ? blockingPack : nil)
    }
    let mayMeanInstalled = [.unchanged, .healed, .notOffered, .absent, .held, .stale].contains(outcome)
    if mayMeanInstalled, from ?? 0 >= newest { withheld = nil }
  }
}

extension Store.PullResult: CustomStringConvertible {
  /// The result and the cost of each pack.
  public var description: String {
    let outcomes = packs.map(\.description).joined(separator: ", ")
    return "\(outcomes): \(wireByteCount) bytes in \(requestCount) requests"
  }
}

extension Store.PullResult.Pack: CustomStringConvertible {
  /// `Tutorial@3 updated`.
  public var description: String { "\(pack)" + (to.map { "@\($0)" } ?? "") + " \(outcome)" }
}
