extension Store {
  /// Opens a snapshot of the newest generation, which retains it.
  ///
  /// For a few reads in one place, ``read(_:)`` is simpler. Tasks may share a snapshot, or open one each.
  ///
  /// - Complexity: O(1). Snapshots without a commit between them share their data.
  public func makeSnapshot() throws -> Snapshot { Snapshot(try SnapshotHold(of: self)) }

  /// Reads from one generation: `body` does not see commits of other writers.
  ///
  /// Assets and spans cannot leave `body`; the compiler ensures it. Return copies.
  public func read<Result: ~Copyable>(_ body: (Snapshot) throws -> Result) throws -> Result {
    try body(try makeSnapshot())
  }
}

/// Single reads, each with its own snapshot. For several reads of the same generation, see ``Store/read(_:)``.
extension Store {
  /// Returns the bytes of a file, from the merged namespace or from one pack.
  ///
  /// Mapped if the asset is stored raw in one piece or is in the cache, otherwise decoded: see ``Snapshot/Asset/contents()``. For
  /// borrowed bytes, see ``Snapshot/bytes(of:pack:)``.
  ///
  /// Blocks this thread: on the main actor, and in other asynchronous code, call ``read(_:pack:range:)``.
  ///
  /// - Throws: `notFound`, `wrongKind` for a link or folder, `corrupt`, `purged`, `ioError`, `outOfMemory`.
  public func contents(of path: String, pack: PackID? = nil) throws -> Data {
    try makeSnapshot().contents(of: path, pack: pack)
  }

  /// Opens a plain file with the bytes of an asset, which the caller closes. See ``Snapshot/Asset/openDescriptor()``.
  public func openDescriptor(of path: String, pack: PackID? = nil) throws -> FileDescriptor {
    try makeSnapshot().openDescriptor(of: path, pack: pack)
  }

  /// Returns the bytes of a file, or of a range of it, as an asynchronous sequence of buffers. See ``AssetStream``.
  ///
  /// - Throws: `notFound`; `wrongKind` for a link or folder; `invalidArgument` if the range exceeds the file.
  public func stream(
    of path: String, pack: PackID? = nil, range: Range<Int>? = nil,
    bufferByteCount: Int = AssetStream.bufferByteCount
  ) throws -> AssetStream {
    try makeSnapshot().stream(of: path, pack: pack, range: range, bufferByteCount: bufferByteCount)
  }

  /// Returns the entries directly in a folder of the merged namespace, or of one pack, in bytewise order of names.
  ///
  /// - Throws: `notFound` if the folder does not exist.
  public func entries(in folder: String = "", pack: PackID? = nil) throws -> [Snapshot.Entry] {
    try makeSnapshot().entries(in: folder, pack: pack)
  }

  /// Returns the packs, in descending precedence.
  public func packs() throws -> [Pack] { try makeSnapshot().packs }

  /// Returns how much of the current version of a pack is available. See ``Snapshot/availability(of:)-(PackID)``.
  public func availability(of pack: PackID) throws -> Availability { try makeSnapshot().availability(of: pack) }

  /// Returns the kept versions of a pack, the current one first; empty if the pack does not exist.
  public func versions(of pack: PackID) throws -> [PackVersion] { try makeSnapshot().versions(of: pack) }

  /// Returns paths that several packs have: the hidden entries below `folder`, and the packs that hide them.
  public func conflicts(in folder: String = "") throws -> [Snapshot.Conflict] {
    try makeSnapshot().conflicts(in: folder)
  }
}

/// Whole-store walks, on a thread that may block. Cancelling the task ends them soon, with `CancellationError`.
extension Store {
  /// Writes the assets below `folder` to disk. See ``Snapshot/extract(_:pack:to:options:progress:)``.
  @discardableResult
  public func extract(
    _ folder: String = "", pack: PackID? = nil, to target: FilePath, options: ExtractOptions = .init(),
    progress: (@Sendable (ExtractProgress) -> Void)? = nil
  ) async throws -> ExtractResult {
    try await BlockingExecutor.run {
      try self.makeSnapshot().extract(folder, pack: pack, to: target, options: options, progress: progress)
    }
  }

  /// Checks every file of the newest generation. See ``Snapshot/verify(deep:progress:)``.
  public func verify(
    deep: Bool = false, progress: (@Sendable (VerifyProgress) -> Void)? = nil
  ) async throws -> VerifyResult {
    try await BlockingExecutor.run {
      try self.makeSnapshot().verify(deep: deep, progress: progress)
    }
  }

  /// Measures the contents of packs and their size on disk. See ``Snapshot/statistics()``.
  public func statistics() async throws -> Statistics {
    try await BlockingExecutor.run { try self.makeSnapshot().statistics() }
  }
}
