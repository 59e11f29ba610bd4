#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A file that grows over several processes, one at a time. Closed with its owner.
package final class PartFile: Sendable {
  package let place: FilePlace
  private let number: CInt

  /// Opens the file, or makes it; its owner alone may read it.
  ///
  /// - Throws: `wrongKind` for what is no regular file; `ioError`.
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

  /// Cuts off what is behind so many bytes.
  package func cut(to byteCount: Int) throws {
    guard try self.byteCount > byteCount else { return }
    try systemCall("cannot cut", place.text) { ftruncate(number, off_t(max(byteCount, 0))) }
  }

  package func sync() throws { try systemCall("cannot sync", place.text) { fsync(number) } }
}
