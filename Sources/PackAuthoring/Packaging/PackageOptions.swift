public import PackStore

extension Manifest {
  /// How an archive is made of a manifest.
  public struct PackageOptions: Hashable, Sendable {
    /// The version's number; nil: one more than that of ``previous``, or 1.
    public var version: UInt64?

    /// The version's label; nil: what the manifest says.
    public var label: VersionLabel?

    /// What is noted of the version, where ``publishesNotes`` says so; nil: what the manifest notes.
    public var note: VersionNote?

    /// Makes a note a part of the version, which everybody can read. An archive has no other place for it.
    public var publishesNotes = false

    /// The archive, or the site in a folder, of the version before: what it has is not stored again, and its segments stay
    /// as they are, so that an upload moves new ones only.
    public var previous: FilePath?

    /// What is known of versions before on a site that is elsewhere, with ``previous`` nil: the new version's number follows
    /// theirs, and content with attributes that the last one has is no new version. All that the pack has is stored.
    public var knownVersions: KnownVersions?

    /// What the pack belongs to; nil: what the previous archive says, or `Store.Product.standard`.
    public var product: Store.Product?

    /// The `Store.CompressionLevel`; nil: what the manifest says, or ``standardLevel``.
    public var level: Int32?

    /// How apps will read the assets; nil: as the manifest says.
    public var layout: Store.InstallOptions.Layout?

    /// The one date in the archive, in seconds since 1970. Archives of equal input are equal if their dates are.
    public var date: Int64 = 0

    /// An archive takes the place of the file that is there.
    public var replaces = false

    /// Everything is made, and nothing is kept.
    public var isDryRun = false

    /// Finds out how long a delta from the previous version would be, which takes as long as making it.
    public var estimatesDelta = false

    /// How many threads work; nil: one for each processor. The result does not depend on it.
    public var threadCount: Int?

    /// It is paid once, and saved with every download.
    public static let standardLevel = Site.PublishOptions.standardLevel

    public init() {}
  }

  /// What packaging came to.
  public struct PackageResult: Hashable, Sendable {
    public var outcome: Outcome
    public var version: PackVersion

    /// The number of the version before.
    public var previous: UInt64?

    /// What clients are told to trust.
    public var publicKey: SitePublicKey

    /// Of the archive.
    public var byteCount: Int

    /// The largest files first, ten at most.
    public var largestAssets: [Asset]

    /// Chunks of the version, and those of them that the previous version has not.
    public var chunkCount: Int
    public var newChunkCount: Int

    /// Bytes of the new chunks.
    public var newByteCount: Int

    /// Of the archive's segments that the previous archive has not, in bytes: what is to be uploaded beside small files.
    public var newSegmentByteCount: Int

    /// What a client of the previous version fetches, by ranges; nil without one.
    public var updateByteCount: Int?

    /// The same by a delta; nil unless that was asked for.
    public var deltaByteCount: Int?

    /// That compressed what is new, and that which compressed the previous archive, as far as it says so.
    public var zstdVersion: String
    public var previousZstdVersion: String?

    /// What was left out or looks like trouble.
    public var notices: [Store.InstallNotice]

    public enum Outcome: String, Codable, Sendable {
      case written
      /// A dry run: it would be written.
      case planned
      /// The file is an archive of this version with the same content and attributes. It stays as it is.
      case alreadyHere = "already_here"
      /// The previous version has the same content and attributes: there is no version to make.
      case unchanged
    }

    public struct Asset: Hashable, Codable, Sendable {
      public let path: String
      public let byteCount: UInt64
    }
  }
}
