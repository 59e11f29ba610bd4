package import PackStore

/// Who wants bytes and takes them: a version on its way into a store. Blocks; one task at a time.
package protocol Incoming {
  func next() throws -> NextWant
  /// Gives the bytes of the oldest want that is outstanding.
  func give(_ bytes: UnsafeRawBufferPointer) throws -> GiveOutcome
}

extension Delivery: Incoming {}

/// Where a segment's bytes lie on a site; or those of a delta, which is wanted as if it were one.
package struct SegmentFiles: Hashable, Sendable {
  package let segment: SiteFile
  package let table: SiteFile
  package let content: Content

  package enum Content: Hashable, Sendable { case frames, metadata, delta }

  package init(segment: SiteFile, table: SiteFile, content: Content) {
    self.segment = segment
    self.table = table
    self.content = content
  }
}

/// What came over the wire, retries and gaps included.
package struct FetchTally: Hashable, Sendable {
  package var requestCount = 0
  /// Of frame tables and of frames with catalog and layout pages.
  package var metadataByteCount = 0
  /// Of frames with chunks.
  package var frameByteCount = 0
  package var deltaByteCount = 0

  package init() {}

  /// Takes over what was counted for a buffer.
  mutating func take(_ buffer: TransferBuffer, _ content: SegmentFiles.Content) {
    requestCount += buffer.requestCount
    switch content {
    case .metadata: metadataByteCount += buffer.wireByteCount
    case .frames: frameByteCount += buffer.wireByteCount
    case .delta: deltaByteCount += buffer.wireByteCount
    }
    buffer.requestCount = 0
    buffer.wireByteCount = 0
  }

  static func += (left: inout Self, right: Self) {
    left.requestCount += right.requestCount
    left.metadataByteCount += right.metadataByteCount
    left.frameByteCount += right.frameByteCount
    left.deltaByteCount += right.deltaByteCount
  }
}
