// The same calls by URLs of files and folders.

extension FilePath {
  /// Converts a `file:` URL to its path.
  ///
  /// - Throws: `invalidArgument` for any other URL.
  public init(fileURL url: URL) throws {
    guard url.isFileURL, !url.path.isEmpty else {
      throw PackStoreError(.invalidArgument, "not a URL of a file on this machine", about: .value(url.absoluteString))
    }
    self.init(url.path)
  }
}

extension Store {
  /// Opens the store in the directory at `url`, or creates one there. See ``init(at:options:)-(FilePath,_)``.
  public convenience init(at url: URL, options: Options = .createIfMissing) throws {
    try self.init(at: FilePath(fileURL: url), options: options)
  }

  /// Installs a folder as the next version of a pack. See
  /// ``install(folder:as:options:durability:progress:)-(FilePath,_,_,_,_)``.
  @discardableResult
  public func install(
    folder url: URL, as pack: PackID, options: InstallOptions = .init(), durability: Durability = .durable,
    progress: (@Sendable (InstallProgress) -> Void)? = nil
  ) async throws -> InstallResult {
    try await install(
      folder: FilePath(fileURL: url), as: pack, options: options, durability: durability, progress: progress)
  }

  /// Writes the assets below `folder` to disk. See ``extract(_:pack:to:options:progress:)-(_,_,FilePath,_,_)``.
  @discardableResult
  public func extract(
    _ folder: String = "", pack: PackID? = nil, to url: URL, options: ExtractOptions = .init(),
    progress: (@Sendable (ExtractProgress) -> Void)? = nil
  ) async throws -> ExtractResult {
    try await extract(folder, pack: pack, to: FilePath(fileURL: url), options: options, progress: progress)
  }
}
