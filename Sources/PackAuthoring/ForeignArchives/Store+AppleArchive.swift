import PackArchives
public import PackStore

extension Store {
  /// The result of an export to an Apple Archive.
  public struct AppleArchiveResult: Hashable, Sendable {
    public let version: PackVersion

    /// The size of the file.
    public let byteCount: Int
  }

  /// Writes one version of a pack as an asset pack in an Apple Archive: `Manifest.json`, and the assets below `Contents`.
  ///
  /// Equal versions give equal bytes. The archive is not signed. `Docs/ForeignArchives.md` describes the format; the output has not
  /// been tested with Apple's tools.
  ///
  /// - Parameters:
  ///   - pack: the version.
  ///   - file: the path of the archive. The complete file is written last; until then a draft with `.partial` in its name exists
  ///     next to it.
  ///   - coding: the encoding of blocks.
  ///   - modifiedAt: the time of all entries, in seconds since 1970.
  ///   - replacing: whether to replace an existing file. If false, an existing file is an error, `exists`.
  ///   - isDryRun: whether to encode everything and keep nothing. An older version is still copied temporarily next to `file`.
  ///   - progress: the processed and the total bytes of assets; called on a thread that may block.
  /// - Throws: `notFound` if the pack or version does not exist; `exists`; `refused` for a path that these archives cannot contain;
  ///   `CancellationError`; `noSpace`, `ioError`, `outOfMemory`, `corrupt`, `purged`.
  public func exportAppleArchive(
    _ pack: Site.PublishedPack, to file: FilePath, coding: AppleArchiveWriter.Coding = .deflate,
    modifiedAt: UInt64 = 0, replacing: Bool = false, isDryRun: Bool = false,
    progress: (@Sendable (_ byteCount: Int, _ totalByteCount: Int) -> Void)? = nil
  ) async throws -> AppleArchiveResult {
    try await BlockingExecutor.run {
      let writer = try AppleArchiveWriter(file, coding: coding, modifiedAt: modifiedAt, isDryRun: isDryRun)
      return try self.withCurrent(pack, beside: file) { snapshot, version in
        try AppleArchiveContents(of: version, in: snapshot, writer: writer).write { progress?($0, version.byteCount) }
        return AppleArchiveResult(version: version, byteCount: Int(clamping: try writer.finish(replacing: replacing)))
      }
    }
  }

  /// Calls `body` with a snapshot in which a version is current. The snapshot belongs to this store or, for an older version, to a
  /// temporary store next to `file` with a copy of the version.
  private func withCurrent<Result>(
    _ pack: Site.PublishedPack, beside file: FilePath, _ body: (Snapshot, PackVersion) throws -> Result
  ) throws -> Result {
    let snapshot = try makeSnapshot()
    if let current = snapshot.pack(pack.pack)?.version, current.number == pack.version ?? current.number {
      return try body(snapshot, current)
    }
    let work = draftPath(nextTo: file, ending: ".partial")
    try makeFolder(work)
    defer { removeTree(work) }
    let store = try Store(at: work.appending("store"))
    var transactionOptions = Transaction.Options(durability: .atomic)
    transactionOptions.followsPlacement = false
    var transaction = try store.makeTransaction(options: transactionOptions)
    var copyOptions = CopyOptions()
    copyOptions.isOwn = true
    let version = try transaction.copy(pack.pack, version: pack.version, from: snapshot, options: copyOptions).version
    try transaction.commit()
    return try body(try store.makeSnapshot(), version)
  }
}
