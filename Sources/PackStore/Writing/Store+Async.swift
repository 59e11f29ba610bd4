// Asynchronous forms of calls that block: for the main actor, and for code on the concurrency pool.

extension Store {
  /// Opens the store in the directory `path`, or creates one there, on a thread that may block, because another process may be
  /// creating it.
  ///
  /// - Throws: the errors of ``init(at:options:)-(FilePath,_)``.
  public static func open(at path: FilePath, options: Options = .createIfMissing) async throws -> Store {
    try await BlockingExecutor.run { try Store(at: path, options: options) }
  }

  /// Returns the bytes of a file, or of a range of it, read on a thread that may block. See ``Snapshot/read(_:pack:range:)``.
  public func read(_ path: String, pack: PackID? = nil, range: Range<Int>? = nil) async throws -> Data {
    try await withSnapshot { try $0.readBlocking(path, pack, range) }
  }

  /// Reads from one generation on a thread that may block: for long reads, such as listings and comparisons.
  ///
  ///     let entries = try await store.withSnapshot { try $0.entries(in: "Levels", depth: .descendants) }
  ///
  /// Assets and spans cannot leave `body`; the compiler ensures it. Return copies.
  public func withSnapshot<Result: Sendable>(
    _ body: @Sendable (Snapshot) throws -> Result
  ) async throws -> Result {
    try await BlockingExecutor.run {
      try Task.checkCancellation()
      return try self.read(body)
    }
  }
}

extension Snapshot {
  /// Returns the bytes of a file, or of a range of it, read on a thread that may block.
  ///
  /// A whole file is mapped if ``Asset/contents()`` maps it. Cancelling the task ends the call within one frame, with
  /// `CancellationError`, unless the file is being written to the store's cache.
  ///
  /// - Throws: `notFound`; `wrongKind` for a link or folder; `invalidArgument` if the range exceeds the file; `corrupt`, `purged`,
  ///   `ioError`, `outOfMemory`; `CancellationError`.
  public func read(_ path: String, pack: PackID? = nil, range: Range<Int>? = nil) async throws -> Data {
    try await BlockingExecutor.run { try readBlocking(path, pack, range) }
  }

  fileprivate func readBlocking(_ path: String, _ pack: PackID?, _ range: Range<Int>?) throws -> Data {
    try Task.checkCancellation()
    let asset = try asset(path, pack: pack)
    // Mapped files take no time; otherwise only reads of ranges can be cancelled.
    let isMapped = range == nil && (asset.isContiguous || hold.store.hasCache)
    return isMapped ? try asset.contents() : try asset.contents(range: range ?? 0..<asset.byteCount)
  }
}
