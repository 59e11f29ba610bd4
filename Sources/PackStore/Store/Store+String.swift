// The same calls with paths as strings, for paths that a program computes.

extension FilePath {
  /// The path in `string`.
  ///
  /// - Throws: `invalidArgument` if it is empty or contains a zero byte, which no path can.
  init(checking string: String) throws {
    guard !string.isEmpty, !string.utf8.contains(0) else {
      throw PackStoreError(.invalidArgument, "no file can have the path", file: string)
    }
    self.init(string)
  }
}

extension Store {
  /// Opens the store in the directory at `path`, or creates one there. See ``init(at:options:)-(FilePath,_)``.
  public convenience init(at path: String, options: Options = .createIfMissing) throws {
    try self.init(at: FilePath(checking: path), options: options)
  }

  /// Opens the store in the directory at `path`, or creates one there, on a thread that may block. See
  /// ``open(at:options:)-(FilePath,_)``.
  public static func open(at path: String, options: Options = .createIfMissing) async throws -> Store {
    try await open(at: FilePath(checking: path), options: options)
  }

  /// Installs a folder as the next version of a pack. See
  /// ``install(folder:as:options:durability:progress:)-(FilePath,_,_,_,_)``.
  @discardableResult
  public func install(
    folder path: String, as pack: PackID, options: InstallOptions = .init(), durability: Durability = .durable,
    progress: (@Sendable (InstallProgress) -> Void)? = nil
  ) async throws -> InstallResult {
    try await install(
      folder: FilePath(checking: path), as: pack, options: options, durability: durability, progress: progress)
  }

  /// Writes the assets below `folder` to disk. See ``extract(_:pack:to:options:progress:)-(_,_,FilePath,_,_)``.
  @discardableResult
  public func extract(
    _ folder: String = "", pack: PackID? = nil, to path: String, options: ExtractOptions = .init(),
    progress: (@Sendable (ExtractProgress) -> Void)? = nil
  ) async throws -> ExtractResult {
    try await extract(folder, pack: pack, to: FilePath(checking: path), options: options, progress: progress)
  }
}
