extension Store {
  /// The folder for data of purgeable packs, in which the store creates a folder of its own. Any program may delete these files at
  /// any moment; a pull restores them.
  public struct CacheFolder: Hashable, Codable, Sendable {
    /// An absolute path. It may be on another file system than the store.
    public let path: FilePath

    /// The maximum size of the store's files there, in bytes; `nil`: no limit.
    public let byteBudget: Int?

    public init(path: FilePath, byteBudget: Int? = nil) {
      self.path = path
      self.byteBudget = byteBudget
    }
  }
}
