import CPackStore

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Reading. Every byte is verified by a checksum before it is handed out; what fails is `corrupt` and says where.
extension Asset {
  /// The whole file without a copy: memory mapped from the store, readable until the snapshot ends.
  ///
  /// The first access verifies the whole file, once per process. If another process truncates the store's files,
  /// touching the span raises SIGBUS, as with any mapped file: use ``contents`` or ``read(into:range:)`` where
  /// untrusted users can write.
  ///
  /// - Throws: `notContiguous` unless ``isContiguous``; `wrongKind`, `corrupt`, `purged`, `ioError`.
  public var bytes: RawSpan {
    @_lifetime(copy self)
    get throws(PackStoreError) {
      let span = RawSpan(_unsafeBytes: try borrow())
      return _overrideLifetime(span, copying: self)
    }
  }

  /// Reads a range of the file, or all of it, to the beginning of `buffer`.
  ///
  /// Compressed data is decoded straight into the buffer where it fits whole; large ranges are decoded by several
  /// threads.
  ///
  /// - Throws: `invalidArgument` when the range leaves the file or does not fit the buffer; `wrongKind`, `corrupt`,
  ///   `purged`, `ioError`, `outOfMemory`. The buffer's bytes are then unspecified.
  /// - Returns: the number of bytes read, which is the length of the range.
  @discardableResult
  public func read(into buffer: inout MutableRawSpan, range: Range<Int>? = nil) throws(PackStoreError) -> Int {
    try buffer.withUnsafeMutableBytes { bytes throws(PackStoreError) in try read(into: bytes, range: range) }
  }

  /// Reads a range of the file, or all of it, and appends it to `buffer`, which has room for it.
  ///
  /// - Throws: as ``read(into:range:)``. The buffer then holds what it held.
  public func read(appendingTo buffer: inout OutputRawSpan, range: Range<Int>? = nil) throws(PackStoreError) {
    try buffer.withUnsafeMutableBytes { bytes, initializedCount throws(PackStoreError) in
      initializedCount += try read(
        into: UnsafeMutableRawBufferPointer(rebasing: bytes[initializedCount...]), range: range)
    }
  }

  /// Reads a range of the file, or all of it, to the beginning of `buffer`.
  ///
  /// - Throws: as ``read(into:range:)``.
  @discardableResult
  public func read(into buffer: UnsafeMutableRawBufferPointer, range: Range<Int>? = nil) throws(PackStoreError) -> Int {
    let range = range ?? 0..<byteCount
    guard range.count <= buffer.count else {
      throw PackStoreError(
        .invalidArgument, "a buffer of \(buffer.count) bytes is too small for \(range.count)", file: path)
    }
    try read(UInt64(bitPattern: Int64(range.lowerBound)), range.count, into: buffer.baseAddress)
    return range.count
  }

  /// The whole file, as a copy that outlives the snapshot.
  ///
  /// - Throws: `wrongKind` for a link or folder; `corrupt`, `purged`, `ioError`, `outOfMemory`.
  public var contents: Data {
    get throws(PackStoreError) { try contents(in: 0..<byteCount) }
  }

  /// A range of the file, as a copy.
  ///
  /// - Throws: `invalidArgument` when the range leaves the file; `wrongKind`, `corrupt`, `purged`, `ioError`,
  ///   `outOfMemory`.
  public func contents(in range: Range<Int>) throws(PackStoreError) -> Data {
    guard let memory = malloc(max(range.count, 1)) else {
      throw PackStoreError(.outOfMemory, "out of memory", file: path)
    }
    do {
      try read(UInt64(bitPattern: Int64(range.lowerBound)), range.count, into: memory)
      return Data(bytesNoCopy: memory, count: range.count, deallocator: .free)
    } catch {
      free(memory)
      throw error
    }
  }

  /// Where a link points to, as it is stored: any text, perhaps of nothing that exists.
  ///
  /// - Throws: `wrongKind` for anything else than a link.
  public var linkTarget: String {
    get throws(PackStoreError) {
      var target = pks_bytes()
      try check { error in withCore { pks_asset_link_target($0, &target, error) } }
      return String(copying: target)
    }
  }

  private func read(_ offset: UInt64, _ count: Int, into memory: UnsafeMutableRawPointer?) throws(PackStoreError) {
    try check { error in withCore { pks_asset_read($0, offset, memory, count, error) } }
  }

  private func borrow() throws(PackStoreError) -> UnsafeRawBufferPointer {
    var loan = pks_bytes()
    try check { error in withCore { pks_asset_borrow($0, &loan, error) } }
    return UnsafeRawBufferPointer(start: loan.bytes, count: loan.count)
  }
}
