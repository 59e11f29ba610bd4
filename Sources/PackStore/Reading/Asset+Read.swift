import CPackStore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Reading. Every byte is verified by a checksum before it is handed out; what fails is `corrupt` and says where.
extension Snapshot.Asset {
  /// The whole file without a copy: memory mapped from the store, readable until the snapshot ends.
  ///
  /// The first access verifies the whole file, once per process. If another process truncates the store's files,
  /// touching the span raises SIGBUS, as with any mapped file: use ``contents()`` or ``read(into:range:)-(UnsafeMutableRawBufferPointer,_)`` where
  /// untrusted users can write.
  ///
  /// - Throws: `notContiguous` unless ``isContiguous``; `wrongKind`, `corrupt`, `purged`, `ioError`.
  @_lifetime(copy self)
  public func bytes() throws -> RawSpan {
    let span = RawSpan(_unsafeBytes: try borrow())
    return _overrideLifetime(span, copying: self)
  }

  /// Reads a range of the file, or all of it, to the beginning of `buffer`.
  ///
  /// Compressed data is decoded straight into the buffer where it fits whole. Ranges of 256 KiB and more stop within
  /// one frame when the surrounding task is cancelled, and are shared with the store's idle threads, those of assets
  /// that lie raw in one piece from 2 MiB on; shorter ones stay on this thread. Nothing is allocated once a few reads
  /// were made.
  ///
  /// - Throws: `invalidArgument` when the range leaves the file or does not fit the buffer; `wrongKind`, `corrupt`,
  ///   `purged`, `ioError`, `outOfMemory`, `CancellationError`. The buffer's bytes are then unspecified.
  /// - Returns: the number of bytes read, which is the length of the range.
  @discardableResult
  public func read(into buffer: inout MutableRawSpan, range: Range<Int>? = nil) throws -> Int {
    try buffer.withUnsafeMutableBytes { bytes in try read(into: bytes, range: range) }
  }

  /// Reads a range of the file, or all of it, and appends it to `buffer`, which has room for it.
  ///
  /// - Throws: as ``read(into:range:)-(UnsafeMutableRawBufferPointer,_)``. The buffer then holds what it held.
  public func read(appendingTo buffer: inout OutputRawSpan, range: Range<Int>? = nil) throws {
    try buffer.withUnsafeMutableBytes { bytes, initializedCount in
      initializedCount += try read(
        into: UnsafeMutableRawBufferPointer(rebasing: bytes[initializedCount...]), range: range)
    }
  }

  /// Reads a range of the file, or all of it, and appends it to `buffer`, which has room for it.
  ///
  /// - Throws: as ``read(into:range:)-(UnsafeMutableRawBufferPointer,_)``. The buffer then holds what it held.
  public func read(appendingTo buffer: inout OutputSpan<UInt8>, range: Range<Int>? = nil) throws {
    try buffer.withUnsafeMutableBufferPointer { bytes, initializedCount in
      initializedCount += try read(
        into: UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(rebasing: bytes[initializedCount...])),
        range: range)
    }
  }

  /// Reads a range of the file, or all of it, to the beginning of `buffer`.
  ///
  /// - Throws: as ``read(into:range:)-(UnsafeMutableRawBufferPointer,_)``.
  @discardableResult
  public func read(into buffer: UnsafeMutableRawBufferPointer, range: Range<Int>? = nil) throws -> Int {
    let range = range ?? 0..<byteCount
    try checkFits(range)
    guard range.count <= buffer.count else {
      throw PackStoreError(
        .invalidArgument, "a buffer of \(buffer.count) bytes is too small for a range of \(range.count)",
        about: .path(path))
    }
    try read(UInt64(bitPattern: Int64(range.lowerBound)), range.count, into: buffer.baseAddress)
    return range.count
  }

  /// The whole file, as data that outlives the snapshot and the store.
  ///
  /// Assets from 64 KiB up that lie raw in one piece are mapped, not copied. Assets from 1 MiB up that do not are put
  /// in the store's cache by the first call (see ``Store/Options/cache``) and mapped from there; without a cache, and
  /// below that size, they are decoded into memory. If another process truncates a mapped file, touching its bytes
  /// raises SIGBUS: use ``read(into:range:)-(UnsafeMutableRawBufferPointer,_)`` where untrusted users can write.
  ///
  /// - Throws: `wrongKind` for a link or folder; `corrupt`, `purged`, `ioError`, `outOfMemory`.
  public func contents() throws -> Data {
    var contents = pks_contents()
    try check { error in withCore { pks_asset_contents(&contents, $0, error) } }
    guard let bytes = contents.bytes else { return Data() }
    let loan = contents
    return Data(
      bytesNoCopy: bytes, count: contents.count,
      deallocator: .custom { _, _ in
        var loan = loan
        pks_contents_release(&loan)
      })
  }

  /// A range of the file, as a copy.
  ///
  /// - Throws: `invalidArgument` when the range leaves the file; `wrongKind`, `corrupt`, `purged`, `ioError`,
  ///   `outOfMemory`, `CancellationError`.
  public func contents(range: Range<Int>) throws -> Data {
    try checkFits(range)
    return try Data(count: range.count) { memory in
      try read(UInt64(bitPattern: Int64(range.lowerBound)), range.count, into: memory)
    }
  }

  /// Opens a plain file that holds the asset's bytes and nothing else, for APIs that want a descriptor. The caller
  /// closes it; it outlives the snapshot.
  ///
  /// It is a file of the store's cache for assets from 1 MiB up, made by the first call and free of cost afterwards;
  /// otherwise, or when the cache is busy or too small, a sealed file in memory of at most 64 MiB.
  ///
  /// - Throws: `wrongKind`, `corrupt`, `purged`, `ioError`, `outOfMemory`; `noSpace` when there is room in neither.
  public func openDescriptor() throws -> FileDescriptor {
    var descriptor: CInt = -1
    try check { error in withCore { pks_asset_open_file(&descriptor, $0, error) } }
    return FileDescriptor(rawValue: descriptor)
  }

  /// Where a link points to: any text, perhaps of nothing that exists. What is not UTF-8 is replaced by U+FFFD here; it
  /// is stored and extracted as it was.
  ///
  /// - Throws: `wrongKind` for anything else than a link.
  public func linkTarget() throws -> String {
    var target = pks_bytes()
    try check { error in withCore { pks_asset_link_target(&target, $0, error) } }
    return String(copying: target)
  }

  /// Before a range is counted, or memory asked for: there may be neither such a number nor so much.
  private func checkFits(_ range: Range<Int>) throws {
    guard kind == .file else { throw notAFile() }
    guard range.lowerBound >= 0, range.upperBound <= byteCount else { throw outside(range) }
  }

  func notAFile() -> PackStoreError {
    PackStoreError(.wrongKind, "a \(kind.rawValue), not a file", about: .path(path))
  }

  func outside(_ range: Range<Int>) -> PackStoreError {
    PackStoreError(
      .invalidArgument, "the range \(range.lowerBound)..<\(range.upperBound) is not within its \(byteCount) bytes",
      about: .path(path))
  }

  private func read(_ offset: UInt64, _ count: Int, into memory: UnsafeMutableRawPointer?) throws {
    try check { error in withCore { readWhileWanted($0, offset, memory, count, error) } }
  }

  private func borrow() throws -> UnsafeRawBufferPointer {
    var loan = pks_bytes()
    try check { error in withCore { pks_asset_borrow(&loan, $0, error) } }
    return UnsafeRawBufferPointer(start: loan.bytes, count: loan.count)
  }
}

/// Reads from which on a task's cancellation is heeded: shorter ones are over before it matters.
private let cancellableByteCount = 256 * 1024

/// Reads a range; a long one for as long as the surrounding task, if there is one, is not cancelled.
func readWhileWanted(
  _ asset: UnsafePointer<pks_asset>, _ offset: UInt64, _ memory: UnsafeMutableRawPointer?, _ count: Int,
  _ error: UnsafeMutablePointer<pks_error>
) -> pks_status {
  guard count >= cancellableByteCount else { return pks_asset_read(asset, offset, memory, count, error) }
  return pks_asset_read_while(asset, offset, memory, count, { _ in !Task.isCancelled }, nil, error)
}

extension Data {
  /// Data of `count` bytes that `fill` writes. Not zeroed before.
  init(count: Int, filledBy fill: (UnsafeMutableRawPointer) throws -> Void) throws {
    guard let memory = malloc(Swift.max(count, 1)) else { throw PackStoreError(.outOfMemory, "out of memory") }
    do {
      try fill(memory)
    } catch {
      free(memory)
      throw error
    }
    self.init(bytesNoCopy: memory, count: count, deallocator: .free)
  }
}
