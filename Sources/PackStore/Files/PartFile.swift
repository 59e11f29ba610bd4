#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A file that several processes extend, one at a time. Closed with its owner.
package final class PartFile: Sendable {
  package let place: FilePlace
  private let number: CInt

  /// Opens the file, or creates it; only its owner may read it.
  ///
  /// - Throws: `wrongKind` if it is not a regular file; `ioError`.
  package init(_ place: FilePlace) throws {
    self.place = place
    number = try openLockFile(place)
  }

  deinit { close(number) }

  package var byteCount: Int {
    get throws { Int(clamping: try status(of: number, place).st_size) }
  }

  /// Writes all of `bytes` at `offset`.
  package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws {
    try writeAll(bytes, to: number, at: UInt64(clamping: offset), path: place.text)
  }

  /// Truncates the file to `byteCount` bytes.
  package func cut(to byteCount: Int) throws {
    guard try self.byteCount > byteCount else { return }
    try systemCall("cannot cut", place.text) { ftruncate(number, off_t(max(byteCount, 0))) }
  }

  package func sync() throws { try systemCall("cannot sync", place.text) { fsync(number) } }
}
