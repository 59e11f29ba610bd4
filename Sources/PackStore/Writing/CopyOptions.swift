extension Store {
  /// How to store a version of another store, or the version that a delta leads to.
  public struct CopyOptions: Hashable, Sendable {
    /// The pack's priority: if several packs have the same path, the highest priority wins. By default a pack keeps its priority in
    /// this store, and a new pack gets 0.
    public var priority: Int32?

    /// Whether to take over a pack of another origin, which deletes the pack's history.
    public var adopts = false

    /// Whether to accept a version below the last accepted version.
    public var allowsDowngrade = false

    /// Whether to make the pack local, regardless of its origin. Publishers use it for the packs that they publish.
    package var isOwn = false

    /// The number of the copy; `nil` for the number in the source. Equal content under another number is another version.
    package var number: UInt64?

    /// Whether to restore missing data of the pack's current version and keep the pack's origin. `notFound` if the source has other
    /// content under that version number.
    package var heals = false

    /// Segments whose data the copy does not reuse: it is stored again elsewhere.
    package var avoidedSegments: Set<SegmentID> = []

    /// The ``Store/CompressionLevel`` of new chunks. `nil`: 3, 4 with the sequential layout, 6 with the compact layout.
    public var level: Int32?

    /// The expected access pattern of new chunks.
    public var layout: InstallOptions.Layout = .random

    /// As ``InstallOptions/rowLimit``, for each version that a delta leads to. A copy has no limit.
    public var rowLimit: Int?

    public init(
      priority: Int32? = nil, adopts: Bool = false, allowsDowngrade: Bool = false, level: Int32? = nil,
      layout: InstallOptions.Layout = .random, rowLimit: Int? = nil
    ) {
      self.priority = priority
      self.adopts = adopts
      self.allowsDowngrade = allowsDowngrade
      self.level = level
      self.layout = layout
      self.rowLimit = rowLimit
    }
  }

  /// How to store the version that a delta leads to.
  public typealias ApplyOptions = CopyOptions
}
