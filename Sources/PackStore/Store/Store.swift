import CPackStore

/// A directory that holds asset packs.
///
/// A pack is a named, versioned set of assets: the files of a folder. Every pack contributes its paths to one merged
/// namespace, in which the pack of highest priority wins. What packs and versions have in common is stored once.
///
///     let store = try Store(at: "Packs")
///     try await store.install(folder: "Assets/Tutorial", as: "Tutorial")
///     let intro = try await store.read("Videos/Introduction.m4v")
///
/// - Any number of threads may use a store at once, and any number of processes.
/// - Readers never wait for writers: a ``Snapshot`` shows one generation, whatever is committed meanwhile.
/// - A write of any number of packs is one atomic switch: after a crash the store shows all of it or nothing.
/// - A forked child opens the store again: whatever it does with this one is `forked`.
/// - A store may lie over another one that is never written: ``init(at:base:options:)``.
public final class Store: Sendable {
  nonisolated(unsafe) let pointer: OpaquePointer

  /// The directory, as it was given.
  public let path: FilePath

  /// Whether large assets are kept decoded.
  package let hasCache: Bool

  /// The core asks it for as long as the store is open.
  private let spaceOwner: SpaceOwner?

  /// The version of this library.
  public static let libraryVersion = "0.2.0"

  /// The version of libzstd that compresses. The same input becomes the same bytes with the same version alone.
  public static let zstdVersion = String(cString: pks_zstd_version())

  /// Opens the store in the directory `path`, or makes one there.
  ///
  /// - Throws: `notAStore` when the directory holds something else, or when there is none and the options do not make
  ///   one; `newerFormat`, `corrupt`, `ioError`, `noSpace`, `outOfMemory`.
  /// - Complexity: O(1) in assets and bytes stored.
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

  /// Sees whether damage of the control file may hide a commit. Ask after opening a store, and tell people.
  ///
  /// Such a store shows the newest generation that can be found, which need not be the newest there was. It takes no
  /// commits, which would make the loss final, until ``repair(at:from:isDryRun:waitsForWriters:progress:)`` has
  /// settled what there is. Damage that hides nothing, or nothing that could not be found elsewhere, is no error here:
  /// ``verify(deep:progress:)`` reports it.
  ///
  /// - Throws: `corrupt` when a commit may be hidden; `ioError`, `outOfMemory`.
  public func checkControl() throws { try check { pks_store_check_control(pointer, $0) } }

  /// Whether the store's file system has no locks, such as NFS without its lock service.
  ///
  /// Reading works then, but does not keep files from a collection by another process: a deleted file is reported as `corrupt` or
  /// `purged`, never as other bytes. Writing fails with `ioError`.
  public var lacksLocks: Bool { pks_store_lacks_locks(pointer) }

  deinit {
    pks_store_close(pointer)
    GenerationBell.shared.ring()
  }
}

extension Store {
  /// How a store is opened.
  public struct Options: Hashable, Sendable {
    /// Writes are refused with `readOnly`, and nothing in the directory changes.
    public var isReadOnly = false

    /// Makes an empty store where there is none. The directory may exist and be empty.
    public var createsIfMissing = true

    /// For a store made now: the average length of a chunk in bytes, a power of two from 1,024 to 1,048,576. By default
    /// 8,192.
    ///
    /// Smaller chunks find more of what versions have in common, and cost more memory and time to install.
    public var averageChunkByteCount: Int?

    /// Whether to wait for a process that is just making the store, or to fail with `busy`.
    public var waitsForWriters = true

    /// How many threads installing and large reads may use. By default one per processor.
    public var threadCount: Int?

    /// For reading and writing; makes an empty store where there is none.
    public static var createIfMissing: Self { Self() }

    /// For reading and writing a store that is there.
    public static var existing: Self {
      var options = Self()
      options.createsIfMissing = false
      return options
    }

    /// For reading a store that is there, perhaps on a medium that cannot be written.
    public static var readOnly: Self {
      var options = existing
      options.isReadOnly = true
      return options
    }

    /// Where large assets that do not lie raw in one piece are kept as plain files, so that
    /// ``Snapshot/Asset/contents()`` and ``Snapshot/Asset/openDescriptor()`` are mapped and opened like any file. None
    /// by default.
    public var cache: Cache?

    /// Who is asked before something fails with `noSpace`. None by default: then nothing is purged, and it fails.
    public var spaceOwner: SpaceOwner?

    /// Asks for the mapped mode, for a store that only this user writes to: what does not compress is checked once per process
    /// and copied from mapped files from then on, without a system call and without another checksum.
    ///
    /// All else is read as ever: first reads, compressed data, purgeable data in the cache folder, and a base's. The mode is
    /// granted if only this user and the administrator can write to the store's folder and to all folders above it, and it
    /// lies on a disk of this machine; otherwise the store reads as without the mode, and ``Store/mappedMode`` says why.
    ///
    /// What is given up: when a file of the store is cut short while it is mapped, by a program of this user's that damages
    /// the store, or a disk fails to deliver a page, reading ends the process with SIGBUS in place of an error; and damage to
    /// bytes that were checked before goes unseen until the process ends.
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

    /// Lends the core's form.
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
  /// Who decides what becomes of purgeable data when the disk is full.
  ///
  /// Before a call fails with `noSpace` for want of room on the disk, the owner is asked once, with the bytes that are wanted at
  /// least. It may remove files elsewhere, and answers whether to go on: then the store purges as much of its own, as
  /// ``Store/purge(bytes:)`` does, and tries once more. Without purgeable data or decoded copies that can only help if the
  /// owner made room. A failed sync is not tried again.
  ///
  /// Asked on the thread that writes, one thread at a time, while a transaction is under way: it must not use the store. Equal
  /// to itself alone.
  public final class SpaceOwner: Hashable, Sendable {
    let makeRoom: @Sendable (_ byteCount: Int) -> Bool

    public init(makeRoom: @escaping @Sendable (_ byteCount: Int) -> Bool) { self.makeRoom = makeRoom }

    public static func == (one: SpaceOwner, other: SpaceOwner) -> Bool { one === other }

    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
  }
}

extension Store {
  /// A folder for files that may be deleted at any moment: all that is lost is time.
  ///
  /// Processes and stores may share it; each store has its own folder there, and its own budget. What was used longest
  /// ago goes first, before something new is written.
  public struct Cache: Hashable, Sendable {
    /// Made when it is missing. Best an absolute path that only this user can write to: it is looked up again each time,
    /// and what lies there is checked against rot, not against people.
    public var folder: FilePath

    /// What this store's files there may take, in bytes. With 0 none are made. Data of purgeable packs that lies in the same
    /// folder counts: decoded copies go before it.
    public var byteBudget: Int

    public init(folder: FilePath, byteBudget: Int) {
      self.folder = folder
      self.byteBudget = byteBudget
    }
  }
}
