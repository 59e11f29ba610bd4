import CPackStore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Reading. A checksum verifies every byte before it is returned; damage is `corrupt`, with its location.
extension Snapshot.Asset {
  /// Borrows the whole file without a copy: memory mapped from the store, readable until the snapshot ends.
  ///
  /// The first access verifies the whole file, once per process. If another process truncates the store's files, reading the span
  /// raises SIGBUS, as with any mapped file. If untrusted users can write to the store, use ``contents()`` or
  /// ``read(into:range:)-(UnsafeMutableRawBufferPointer,_)``.
  ///
  /// - Throws: `notContiguous` unless ``isContiguous``; `wrongKind`, `corrupt`, `purged`, `ioError`.
  @_lifetime(copy self)
  public func bytes() throws -> RawSpan {
    let span = RawSpan(_unsafeBytes: try borrow())
    return _overrideLifetime(span, copying: self)
  }

  /// Reads a range of the file, or all of it, to the beginning of `buffer`.
  ///
  /// Compressed frames that fit are decoded directly into the buffer. Reads of 256 KiB and more can be cancelled within one frame.
  /// The store's idle threads share them; for assets stored raw in one piece, reads of 2 MiB and more. Shorter reads stay on this
  /// thread. After a few reads, nothing is allocated.
  ///
  /// - Throws: `invalidArgument` if the range exceeds the file or the buffer; `wrongKind`, `corrupt`, `purged`, `ioError`,
  ///   `outOfMemory`, `CancellationError`. The buffer's bytes are then unspecified.
  /// - Returns: the number of bytes read, which is the length of the range.
  @discardableResult
  public func read(into buffer: inout MutableRawSpan, range: Range<Int>? = nil) throws -> Int {
    try buffer.withUnsafeMutableBytes { bytes in try read(into: bytes, range: range) }
  }

  /// Reads a range of the file, or all of it, and appends it to `buffer`, which has room for it.
  ///
  /// - Throws: as ``read(into:range:)-(UnsafeMutableRawBufferPointer,_)``. The contents of the buffer are then unchanged.
  public func read(appendingTo buffer: inout OutputRawSpan, range: Range<Int>? = nil) throws {
    try buffer.withUnsafeMutableBytes { bytes, initializedCount in
      initializedCount += try read(
        into: UnsafeMutableRawBufferPointer(rebasing: bytes[initializedCount...]), range: range)
    }
  }

  /// Reads a range of the file, or all of it, and appends it to `buffer`, which has room for it.
  ///
  /// - Throws: as ``read(into:range:)-(UnsafeMutableRawBufferPointer,_)``. The contents of the buffer are then unchanged.
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

  /// Returns the whole file, as data that outlives the snapshot and the store.
  ///
  /// Assets of 64 KiB and more that are stored raw in one piece are mapped, not copied. Other assets of 1 MiB and more are mapped
  /// from the store's cache, which the first call fills (see ``Store/Options/cache``). Without a cache, and for smaller assets, the
  /// data is decoded into memory. If another process truncates a mapped file, reading its bytes raises SIGBUS. If untrusted users
  /// can write to the store, use ``read(into:range:)-(UnsafeMutableRawBufferPointer,_)``.
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

  /// Returns a copy of a range of the file.
  ///
  /// - Throws: `invalidArgument` if the range exceeds the file; `wrongKind`, `corrupt`, `purged`, `ioError`, `outOfMemory`,
  ///   `CancellationError`.
  public func contents(range: Range<Int>) throws -> Data {
    try checkFits(range)
    return try Data(count: range.count) { memory in
      try read(UInt64(bitPattern: Int64(range.lowerBound)), range.count, into: memory)
    }
  }

  /// Opens a plain file with exactly the asset's bytes, for APIs that need a descriptor. The caller closes it; it outlives the
  /// snapshot.
  ///
  /// For assets of 1 MiB and more it is a file of the store's cache, which the first call creates. Otherwise, or if the cache is
  /// busy or too small, it is a sealed file in memory of at most 64 MiB.
  ///
  /// - Throws: `wrongKind`, `corrupt`, `purged`, `ioError`, `outOfMemory`; `noSpace` if neither is possible.
  public func openDescriptor() throws -> FileDescriptor {
    var descriptor: CInt = -1
    try check { error in withCore { pks_asset_open_file(&descriptor, $0, error) } }
    return FileDescriptor(rawValue: descriptor)
  }

  /// Returns the target of a link: any text, whether or not the target exists. Bytes that are not UTF-8 are replaced by U+FFFD
  /// here, but stored and extracted unchanged.
  ///
  /// - Throws: `wrongKind` for a file or folder.
  public func linkTarget() throws -> String { String(decoding: try linkTargetBytes(), as: UTF8.self) }

  /// Returns the target of a link as stored.
  ///
  /// - Throws: `wrongKind` for a file or folder.
  package func linkTargetBytes() throws -> [UInt8] {
    var target = pks_bytes()
    try check { error in withCore { pks_asset_link_target(&target, $0, error) } }
    return Array(UnsafeRawBufferPointer(start: target.bytes, count: target.count))
  }

  /// Checks a range before it is counted or memory is allocated: the bounds may overflow, or exceed the memory.
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

/// Reads of at least this length check for cancellation; shorter reads finish before it matters.
private let cancellableByteCount = 256 * 1024

/// Reads a range. A long read stops if the surrounding task, if any, is cancelled.
func readWhileWanted(
  _ asset: UnsafePointer<pks_asset>, _ offset: UInt64, _ memory: UnsafeMutableRawPointer?, _ count: Int,
  _ error: UnsafeMutablePointer<pks_error>
) -> pks_status {
  guard count >= cancellableByteCount else { return pks_asset_read(asset, offset, memory, count, error) }
  return pks_asset_read_while(asset, offset, memory, count, { _ in !Task.isCancelled }, nil, error)
}

extension Data {
  /// Creates data of `count` bytes that `fill` writes; the memory is not zeroed before.
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
