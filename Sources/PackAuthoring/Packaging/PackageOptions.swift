public import PackStore

extension Manifest {
  /// The options for creating an archive from a manifest.
  public struct PackageOptions: Hashable, Sendable {
    /// The version's number; `nil` for one more than the number of ``previous``, or 1.
    public var version: UInt64?

    /// The version's label; `nil` for the label in the manifest.
    public var label: VersionLabel?

    /// The note about the version, if ``publishesNotes`` is set; `nil` for the note in the manifest.
    public var note: VersionNote?

    /// Whether to include the note in the version, where everyone can read it. An archive has no other place for it.
    public var publishesNotes = false

    /// The archive, or the site in a folder, with the previous version. Its data is not stored again, and its segments stay
    /// unchanged, so that only new segments must be uploaded.
    public var previous: FilePath?

    /// The earlier versions on a site that is not available here, if ``previous`` is `nil`. The new version's number follows
    /// theirs. If the content and attributes equal the last version, no version is created. All data of the pack is stored.
    public var knownVersions: PublishedVersionIndex?

    /// The product; `nil` for the product of the previous archive, or `Store.Product.standard`.
    public var product: Store.Product?

    /// The `Store.CompressionLevel`; `nil` for the manifest's level, or ``standardLevel``.
    public var level: Int32?

    /// The expected access pattern of the assets; `nil` for the manifest's layout.
    public var layout: Store.InstallOptions.Layout?

    /// The only date in the archive, in seconds since 1970. Archives with equal input and date are equal.
    public var date: Int64 = 0

    /// Whether the archive may replace an existing file.
    public var replaces = false

    /// Whether to create everything, and keep nothing.
    public var isDryRun = false

    /// Like `Store.InstallOptions.rowLimit`.
    public var rowLimit: Int?

    /// Whether to determine the length of a delta from the previous version, which takes as long as building it.
    public var estimatesDelta = false

    /// The number of threads; `nil` for one per processor. The result does not depend on it.
    public var threadCount: Int?

    /// The default level: packing costs time once, and every download becomes smaller.
    public static let standardLevel = Site.PublishOptions.standardLevel

    public init() {}
  }

  /// The result of packaging.
  public struct PackageResult: Hashable, Sendable {
    public var outcome: Outcome
    public var version: PackVersion

    /// The number of the previous version.
    public var previous: UInt64?

    /// The root key that clients must trust.
    public var publicKey: SitePublicKey

    /// The size of the archive.
    public var byteCount: Int

    /// The largest files first, at most ten.
    public var largestAssets: [Asset]

    /// The number of chunks in the version, and the number of chunks that the previous version lacks.
    public var chunkCount: Int
    public var newChunkCount: Int

    /// The number of bytes in the new chunks.
    public var newByteCount: Int

    /// The size of the segments that the previous archive lacks: the upload size, without small files.
    public var newSegmentByteCount: Int

    /// The download size by ranges for a client with the previous version; `nil` without a previous version.
    public var updateByteCount: Int?

    /// The download size by a delta; `nil` unless requested.
    public var deltaByteCount: Int?

    /// The libzstd versions that compressed the new data and, if known, the previous archive.
    public var zstdVersion: String
    public var previousZstdVersion: String?

    /// Files that were skipped or may cause problems.
    public var notices: [Store.InstallNotice]

    public enum Outcome: String, Codable, Sendable {
      case written
      /// The archive would be written without the dry run.
      case planned
      /// The file is an archive of this version with the same content and attributes. It was not changed.
      case alreadyHere = "already_here"
      /// The previous version has the same content and attributes: no version was created.
      case unchanged
    }

    public struct Asset: Hashable, Codable, Sendable {
      public let path: String
      public let byteCount: UInt64
    }
  }
}
