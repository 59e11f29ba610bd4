import CPackStore

/// A directory that contains asset packs.
///
/// A pack is a named, versioned set of assets: the files of a folder. Each pack adds its paths to one merged namespace, in which
/// the pack with the highest priority wins. Data that packs and versions have in common is stored once.
///
///     let store = try Store(at: "Packs")
///     try await store.install(folder: "Assets/Tutorial", as: "Tutorial")
///     let intro = try await store.read("Videos/Introduction.m4v")
///
/// - Any number of threads and processes may use a store at once.
/// - Readers never wait for writers: a ``Snapshot`` shows one generation, even if other writers commit.
/// - A write of any number of packs is atomic: after a crash the store shows all of it or nothing.
/// - A forked child must open the store again: any call on the inherited one is `forked`.
/// - A store can be opened on top of a read-only one: ``init(at:base:options:)``.
public final class Store: Sendable {
  nonisolated(unsafe) let pointer: OpaquePointer

  /// The directory, as passed by the caller.
  public let path: FilePath

  /// Whether large assets are kept decoded.
  package let hasCache: Bool

  /// Retained because the core calls it until the store is closed.
  private let spaceOwner: SpaceOwner?

  /// The version of this library.
  public static let libraryVersion = "0.2.0"

  /// The version of the linked libzstd. Compressed bytes are reproducible only with the same version.
  public static let zstdVersion = String(cString: pks_zstd_version())

  /// Opens the store in the directory `path`, or creates one there.
  ///
  /// - Throws: `notAStore` if the directory contains other files, or if no store exists and the options do not create one;
  ///   `newerFormat`, `corrupt`, `ioError`, `noSpace`, `outOfMemory`.
  /// - Complexity: O(1) in assets and stored bytes.
  public convenience init(at path: FilePath, options: Options = .createIfMissing) throws {
    try self.init(openingAt: path, base: nil, options: options)
  }

  init(openingAt path: FilePath, base: FilePath?, options: Options) throws {
    pointer = try naming(path) {
      try opened { pointer, error in
        path.withPlatformString { path in
          guard let base else { return options.withCore { pks_store_open(pointer, path, $0, error) } }
          return base.withPlatformString { base in
            options.withCore(base: base) { pks_store_open(pointer, path, $0, error) }
          }
        }
      }
    }
    self.path = path
    hasCache = options.cache != nil
    spaceOwner = options.spaceOwner
  }

  /// Checks whether damage of the control file may hide a commit. Call it after opening a store, and report the result to the user.
  ///
  /// Such a store shows the newest generation it can find, which may not be the newest committed one. It refuses commits until
  /// ``repair(at:from:isDryRun:waitsForWriters:progress:)``, because a commit would make the loss permanent. Damage that hides
  /// nothing, or only data found elsewhere, is not an error here: ``verify(deep:progress:)`` reports it.
  ///
  /// - Throws: `corrupt` if a commit may be hidden; `ioError`, `outOfMemory`.
  public func checkControl() throws { try check { pks_store_check_control(pointer, $0) } }

  /// Whether the store's file system does not support locks, such as NFS without its lock service.
  ///
  /// Reading then works, but does not protect files from collection by another process: a deleted file is reported as `corrupt` or
  /// `purged`, never read as other bytes. Writing fails with `ioError`.
  public var lacksLocks: Bool { pks_store_lacks_locks(pointer) }

  deinit {
    pks_store_close(pointer)
    GenerationNotifier.shared.ring()
  }
}

extension Store {
  /// How to open a store.
  public struct Options: Hashable, Sendable {
    /// Writes are refused with `readOnly`, and nothing in the directory changes.
    public var isReadOnly = false

    /// Whether to create an empty store if none exists. The directory may exist and be empty.
    public var createsIfMissing = true

    /// The average chunk size of a new store in bytes, a power of two from 1,024 to 1,048,576. By default 8,192.
    ///
    /// Smaller chunks deduplicate better, and cost more memory and time to install.
    public var averageChunkByteCount: Int?

    /// Whether to wait for a process that is creating the store, rather than fail with `busy`.
    public var waitsForWriters = true

    /// The number of threads for installing and large reads. By default one per processor.
    public var threadCount: Int?

    /// For reading and writing; creates an empty store if none exists.
    public static var createIfMissing: Self { Self() }

    /// For reading and writing an existing store.
    public static var existing: Self {
      var options = Self()
      options.createsIfMissing = false
      return options
    }

    /// For reading an existing store, also on read-only media.
    public static var readOnly: Self {
      var options = existing
      options.isReadOnly = true
      return options
    }

    /// The folder for decoded copies of large assets that are not stored raw in one piece, so that ``Snapshot/Asset/contents()``
    /// maps them and ``Snapshot/Asset/openDescriptor()`` opens them as plain files. By default none.
    public var cache: Cache?

    /// The owner that is called before an operation fails with `noSpace`. By default none: nothing is purged, and the operation
    /// fails.
    public var spaceOwner: SpaceOwner?

    /// Whether to request the mapped mode, for a store that only this user writes to: uncompressed data is checked once per
    /// process, and then copied from mapped files without a system call or another checksum.
    ///
    /// First reads, compressed data, purgeable data in the cache folder and data of a base are read as usual. The mode requires
    /// that only this user and the administrator can write to the store's folder and all folders above it, and that the store is on
    /// a disk of this machine. Otherwise it has no effect, and ``Store/mappedMode`` returns the reason.
    ///
    /// Risks: if another program truncates a mapped file of the store, or the disk fails to deliver a page, reading ends the
    /// process with SIGBUS instead of returning an error. Damage to bytes that were already checked is not detected until the
    /// process ends.
    public var usesMappedMode = false

    public init(
      isReadOnly: Bool = false, createsIfMissing: Bool = true, averageChunkByteCount: Int? = nil,
      waitsForWriters: Bool = true, threadCount: Int? = nil, cache: Cache? = nil, spaceOwner: SpaceOwner? = nil,
      usesMappedMode: Bool = false
    ) {
      self.usesMappedMode = usesMappedMode
      self.spaceOwner = spaceOwner
      self.isReadOnly = isReadOnly
      self.createsIfMissing = createsIfMissing
      self.averageChunkByteCount = averageChunkByteCount
      self.waitsForWriters = waitsForWriters
      self.threadCount = threadCount
      self.cache = cache
    }

    /// Calls `body` with the core's options.
    func withCore<Result>(
      base: UnsafePointer<CChar>? = nil, _ body: (UnsafePointer<pks_options>) -> Result
    ) -> Result {
      var options = pks_options(
        sha256: sha256,
        sha256_many: sha256Many,
        read_only: isReadOnly,
        create: createsIfMissing && !isReadOnly,
        chunk_average: averageChunkByteCount.map(coreSize) ?? 0,
        thread_count: threadCount.map { UInt32(clamping: max($0, 1)) } ?? 0,
        cache: nil,
        cache_bytes: 0,
        base: base,
        vfs: nil,
        no_wait: !waitsForWriters,
        wait_context: nil,
        keep_waiting: { _ in LockWait.goesOn() },
        low_space_context: nil,
        low_space: nil,
        mapped_mode: usesMappedMode
      )
      if let spaceOwner {
        options.low_space_context = Unmanaged.passUnretained(spaceOwner).toOpaque()
        options.low_space = { context, byteCount in
          guard let context else { return false }
          return Unmanaged<SpaceOwner>.fromOpaque(context).takeUnretainedValue().makeRoom(Int(clamping: byteCount))
        }
      }
      guard let cache else { return body(&options) }
      return cache.folder.withPlatformString { folder in
        options.cache = folder
        options.cache_bytes = UInt64(clamping: cache.byteBudget)
        return body(&options)
      }
    }
  }
}

extension Store {
  /// Decides whether to purge data when the disk is full.
  ///
  /// Before a call fails with `noSpace` because the disk is full, the owner is called once, with the minimum number of bytes
  /// needed. It may delete files elsewhere, and returns whether to continue. If it does, the store purges about as much of its own
  /// data, as ``Store/purge(bytes:)`` does, and tries the operation once more. Without purgeable data or decoded copies, this helps
  /// only if the owner freed space. A failed sync is not tried again.
  ///
  /// Called on the writing thread, one thread at a time, during a transaction: it must not use the store. An owner is equal only to
  /// itself.
  public final class SpaceOwner: Hashable, Sendable {
    let makeRoom: @Sendable (_ byteCount: Int) -> Bool

    public init(makeRoom: @escaping @Sendable (_ byteCount: Int) -> Bool) { self.makeRoom = makeRoom }

    public static func == (one: SpaceOwner, other: SpaceOwner) -> Bool { one === other }

    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
  }
}

extension Store {
  /// A folder for files that may be deleted at any moment, at the cost of time only.
  ///
  /// Processes and stores may share it; each store has its own folder and budget there. Before a new file is written, the files
  /// used longest ago are deleted.
  public struct Cache: Hashable, Sendable {
    /// The folder, created if missing. The path should be absolute, because it is looked up again each time, and only this user
    /// should have write access: checksums there detect corruption, not tampering.
    public var folder: FilePath

    /// The maximum size of this store's files there, in bytes; 0: no files are created. Data of purgeable packs in the same folder
    /// counts; decoded copies are deleted before it.
    public var byteBudget: Int

    public init(folder: FilePath, byteBudget: Int) {
      self.folder = folder
      self.byteBudget = byteBudget
    }
  }
}
