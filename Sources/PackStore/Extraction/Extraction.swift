import CPackStore
import Dispatch

extension Store {
  /// How assets are written to disk.
  public struct ExtractOptions: Hashable, Sendable {
    /// Replaces files and links that are in the way: each when the asset is written whole, so that one that is damaged or
    /// cancelled leaves what was there. A folder is never replaced by a file, nor a link or file by a folder. A file of
    /// the same extraction is never replaced either, on disks that ignore case or normal forms.
    public var overwrites = false

    /// Creates links that lead out of the target, too.
    public var createsUnsafeLinks = false

    /// Goes on when an asset cannot be read because the store is damaged, and lists it:
    /// ``Store/ExtractResult/damaged``. Otherwise the first one is an error.
    public var continuesAfterDamage = false

    /// By default one thread per processor, at most 8.
    public var threadCount: Int?

    public init(
      overwrites: Bool = false, createsUnsafeLinks: Bool = false, continuesAfterDamage: Bool = false,
      threadCount: Int? = nil
    ) {
      self.overwrites = overwrites
      self.createsUnsafeLinks = createsUnsafeLinks
      self.continuesAfterDamage = continuesAfterDamage
      self.threadCount = threadCount
    }
  }
}

extension Store {
  /// How far an extraction has come; no number ever falls.
  public struct ExtractProgress: Hashable, Sendable {
    /// Files and links.
    public let fileCount: Int
    public let totalFileCount: Int

    public let byteCount: Int
    public let totalByteCount: Int

    /// From 0 to 1, by bytes.
    public var fraction: Double { totalByteCount == 0 ? 1 : Double(byteCount) / Double(totalByteCount) }
  }
}

extension Store {
  /// What an extraction wrote.
  public struct ExtractResult: Hashable, Codable, Sendable {
    public internal(set) var fileCount = 0
    public internal(set) var linkCount = 0

    /// Folders that were made. Those that were there already do not count.
    public internal(set) var folderCount = 0

    /// Bytes of the files.
    public internal(set) var byteCount = 0

    /// Assets that could not be read, with ``Store/ExtractOptions/continuesAfterDamage``, in no particular order. Nothing was
    /// written of them, and nothing replaced.
    public internal(set) var damaged: [DamagedAsset] = []

    public struct DamagedAsset: Hashable, Codable, Sendable {
      /// Relative to the target.
      public let path: String

      /// What is wrong, and where in the store.
      public let error: PackStoreError
    }

    /// Links that were not created because they lead out of the target, in no particular order.
    public internal(set) var refusedLinks: [RefusedLink] = []

    public struct RefusedLink: Hashable, Codable, Sendable {
      /// Relative to the target.
      public let path: String

      /// Where it points to.
      public let target: String
    }
  }
}

extension Snapshot {
  /// Writes the assets below a folder of the merged namespace, or of one pack, to the folder `target`, which is made if
  /// need be.
  ///
  /// - Files get mode 0644, or 0755 when they are executable, less the umask. Folders that are there already are merged
  ///   into.
  /// - Nothing is written through a symbolic link that is in the way: it is an error.
  /// - A link leads out of the target when it is absolute, when its leading `..` parts climb above the target, or when
  ///   a `..` comes after any other part, where another link could turn it. Such links are listed, not created.
  /// - If the disk takes the names of two assets for one, because it ignores case or normal forms, that is an error.
  /// - An asset that is damaged in the store is an error, or listed: ``Store/ExtractOptions/continuesAfterDamage``.
  /// - When it fails or is cancelled, files that are complete stay; none is left in part, and what was to be replaced is
  ///   as it was. (A process that is killed leaves what it was writing, beside a file that it replaces as `.packstore-` and
  ///   a number.)
  ///
  /// - Parameters:
  ///   - folder: what is extracted; its own path does not appear below `target`.
  ///   - pack: the pack to extract from; by default all of them.
  ///   - target: the folder to write to.
  ///   - options: overwriting, links, damaged assets, threads.
  ///   - progress: called on several threads, one at a time.
  /// - Throws: `invalidArgument` when `target` is empty; `notFound` when there is no such folder; `exists` for a file
  ///   in the way, unless the options overwrite, and for two names that the disk takes for one; `wrongKind` for a link or file in a folder's way, or a folder in a
  ///   file's; `CancellationError` when the surrounding task is; `noSpace`, `ioError`, `corrupt`, `purged`,
  ///   `outOfMemory`.
  /// - Complexity: O(*n*) in bytes; memory is 4 MiB per thread, and some 60 bytes for each file of the largest folder. Blocks this thread.
  @discardableResult
  public func extract(
    _ folder: String = "", pack: PackID? = nil, to target: FilePath, options: Store.ExtractOptions = .init(),
    progress: (@Sendable (Store.ExtractProgress) -> Void)? = nil
  ) throws -> Store.ExtractResult {
    guard !target.isEmpty else {
      throw PackStoreError(.invalidArgument, "the path of the folder to extract to is empty")
    }
    let totals = progress == nil ? (files: 0, bytes: 0) : try totals(below: folder, pack: pack)
    let walk = try AssetWalk(hold, folder, try scope(pack), PKS_DESCENDANTS)
    let queue = ExtractQueue(walk, below: folder, to: try OutputFolder(making: target), options: options) {
      files, bytes in
      progress?(
        Store.ExtractProgress(
          fileCount: files, totalFileCount: totals.files, byteCount: bytes, totalByteCount: totals.bytes))
    }
    let threadCount = options.threadCount.map { max($0, 1) } ?? min(processorCount(), 8)
    DispatchQueue.concurrentPerform(iterations: threadCount) { _ in
      var worker = ExtractWorker(queue)
      worker.run()
    }
    return try queue.finish()
  }

  private func totals(below folder: String, pack: PackID?) throws -> (files: Int, bytes: Int) {
    var cursor = try cursor(in: folder, pack: pack, depth: .descendants)
    var (files, bytes) = (0, 0)
    while let asset = try cursor.next() {
      files += asset.kind == .folder ? 0 : 1
      bytes = bytes.addingClamped(asset.kind == .file ? asset.byteCount : 0)
    }
    return (files, bytes)
  }
}

extension Store.ExtractProgress: Store.Progress {}
