/// The name of a delta on a site, and its size.
package struct DeltaReference: Hashable, Sendable {
  /// The SHA-256 of the delta's header, which is also the name of its file.
  package var header: Digest256
  package var headerByteCount: UInt32
  /// The size of the whole file.
  package var byteCount: UInt64

  package init(header: Digest256, headerByteCount: UInt32, byteCount: UInt64) {
    self.header = header
    self.headerByteCount = headerByteCount
    self.byteCount = byteCount
  }
}
