extension Store {
  /// Where the data of purgeable packs lies: a folder in which the store has one of its own. Whatever lies there may vanish at any
  /// moment, by another program's hand too, and is fetched again.
  public struct CacheFolder: Hashable, Codable, Sendable {
    /// An absolute path. It may be on another file system than the store.
    public let path: FilePath

    /// How many bytes the store's files there may take; nil: as many as they need.
    public let byteBudget: Int?

    public init(path: FilePath, byteBudget: Int? = nil) {
      self.path = path
      self.byteBudget = byteBudget
    }
  }
}
