package import PackStore

/// A version being received, which requests bytes and accepts them. Calls block; one task at a time.
package protocol Incoming {
  func next() throws -> NextWant
  /// Accepts the bytes of the oldest outstanding want.
  func give(_ bytes: UnsafeRawBufferPointer) throws -> GiveOutcome
}

extension Delivery: Incoming {}

/// The location of a segment's bytes on a site, or of a delta, which is requested like a segment.
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

/// Bytes received from the network, including retries and gaps.
package struct FetchTally: Hashable, Sendable {
  package var requestCount = 0
  /// Bytes of frame tables, and of frames with catalog and layout pages.
  package var metadataByteCount = 0
  /// Bytes of frames with chunks.
  package var frameByteCount = 0
  package var deltaByteCount = 0

  package init() {}

  /// Adds the counts of a buffer.
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
