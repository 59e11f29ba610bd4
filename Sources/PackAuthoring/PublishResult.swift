public import PackStore

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// What a publication did.
public struct PublishResult: Hashable, Sendable {
  /// The number of the site's root; it rises with each.
  public let sequence: UInt64

  /// The site was as it should be, and nothing was written.
  public let isUnchanged: Bool

  /// What clients are told to trust.
  public let publicKey: SitePublicKey

  /// When clients begin to refuse the root; nil: never.
  public let expiresAt: Date?

  /// What was to be published, in that order.
  public let packs: [Pack]

  /// Versions that the site had and has no longer.
  public let droppedVersions: [PackVersion]

  /// Deltas that were made.
  public let deltas: [DeltaInfo]

  /// Deltas that could not be made. The versions are published all the same.
  public let missingDeltas: [MissingDelta]

  /// Bytes of the files that are new on the site: segments, frame tables, manifests, deltas, the root.
  public let newByteCount: Int

  /// Bytes of all files that clients may fetch from the site.
  public let byteCount: Int

  public struct MissingDelta: Hashable, Sendable {
    /// To which it would lead.
    public let version: PackVersion

    /// The number of the version that it would begin with.
    public let from: UInt64

    /// Why there is none, as a sentence.
    public let reason: String
  }

  public struct Pack: Hashable, Sendable {
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
