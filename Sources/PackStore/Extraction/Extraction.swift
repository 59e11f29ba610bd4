import CPackStore
import Dispatch

extension Store {
  /// How to write assets to disk.
  public struct ExtractOptions: Hashable, Sendable {
    /// Whether to replace existing files and links. Each is replaced after its asset was written completely, so a damaged asset or
    /// a cancelled extraction leaves the old file. A file never replaces a folder, and a folder never replaces a file or link. On
    /// disks that ignore case or normal forms, a file of the same extraction is never replaced.
    public var overwrites = false

    /// Whether to create links that lead out of the target.
    public var createsUnsafeLinks = false

    /// Whether to continue if an asset cannot be read because the store is damaged, and list it in ``Store/ExtractResult/damaged``.
    /// Otherwise the first one is an error.
    public var continuesAfterDamage = false

    /// The number of threads. By default one per processor, at most 8.
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
  /// The progress of an extraction; numbers never decrease.
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
  /// The result of an extraction.
  public struct ExtractResult: Hashable, Codable, Sendable {
    public internal(set) var fileCount = 0
    public internal(set) var linkCount = 0

    /// Folders that were created; existing folders do not count.
    public internal(set) var folderCount = 0

    /// The bytes of the written files.
    public internal(set) var byteCount = 0

    /// Assets that could not be read, with ``Store/ExtractOptions/continuesAfterDamage``, in no particular order. Nothing is
    /// written or replaced for them.
    public internal(set) var damaged: [DamagedAsset] = []

    public struct DamagedAsset: Hashable, Codable, Sendable {
      /// The path relative to the target.
      public let path: String

      /// The fault, and its location in the store.
      public let error: PackStoreError
    }

    /// Links that were not created because they lead out of the target, in no particular order.
    public internal(set) var refusedLinks: [RefusedLink] = []

    public struct RefusedLink: Hashable, Codable, Sendable {
      /// The path relative to the target.
      public let path: String

      /// The target of the link.
      public let target: String
    }
  }
}

extension Snapshot {
  /// Writes the assets below a folder of the merged namespace, or of one pack, to the folder `target`, which is created if
  /// necessary.
  ///
  /// - Files get mode 0644, or 0755 if executable, minus the umask. Existing folders are merged.
  /// - Nothing is written through an existing symbolic link: it is an error.
  /// - A link leads out of the target if it is absolute, if its leading `..` parts go above the target, or if a `..` follows any
  ///   other part, which another link could redirect. Such links are listed, not created.
  /// - Two assets whose names are equal on the disk, because it ignores case or normal forms, are an error.
  /// - An asset that is damaged in the store is an error, or listed: ``Store/ExtractOptions/continuesAfterDamage``.
  /// - After an error or a cancellation, complete files stay and incomplete files are deleted; a file that was to be replaced is
  ///   unchanged. (A killed process leaves its incomplete file; when replacing a file, it is next to that file, named `.packstore-`
  ///   and a number.)
  ///
  /// - Parameters:
  ///   - folder: the folder to extract; its own path does not appear below `target`.
  ///   - pack: the pack to extract from; by default all packs.
  ///   - target: the folder to write to.
  ///   - options: overwriting, links, damaged assets, threads.
  ///   - progress: called on several threads, one at a time.
  /// - Throws: `invalidArgument` if `target` is empty; `notFound` if the folder does not exist; `exists` for an existing file,
  ///   unless the options overwrite, and for two names that are equal on the disk; `wrongKind` for a link or file in place of a
  ///   folder, or a folder in place of a file; `CancellationError` if the surrounding task is cancelled; `noSpace`, `ioError`,
  ///   `corrupt`, `purged`, `outOfMemory`.
  /// - Complexity: O(*n*) in bytes; memory is 4 MiB per thread, and about 60 bytes for each file of the largest folder. Blocks this
  ///   thread.
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
