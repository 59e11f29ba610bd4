extension Store {
  /// How a version that another store has, or that a delta leads to, becomes one of this store.
  public struct CopyOptions: Hashable, Sendable {
    /// Who wins when several packs have the same path: the higher. By default a pack keeps the priority that it has
    /// here, and a new one gets 0.
    public var priority: Int32?

    /// Takes over a pack of another origin. Its history goes then.
    public var adopts = false

    /// Takes a version that is lower than the one that was accepted last.
    public var allowsDowngrade = false

    /// The pack becomes the store's own, wherever it comes from: what a publisher publishes.
    package var isOwn = false

    /// Restores missing data of the pack's current version, and keeps the pack's origin. `notFound` if the source has other content as
    /// that version.
    package var heals = false

    /// The ``Store/CompressionLevel`` of what is new here. Nil: 3, 4 with the sequential layout, 6 with the compact one.
    public var level: Int32?

    /// How what is new here is read later.
    public var layout: InstallOptions.Layout = .random

    /// Like ``InstallOptions/rowLimit``, for each version that a delta leads to. A copy has no limit.
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

  /// How the version that a delta leads to is stored.
  public typealias ApplyOptions = CopyOptions
}
