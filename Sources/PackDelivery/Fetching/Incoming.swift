package import PackStore

/// Bytes that are wanted of a site.
package struct Want: Hashable, Sendable {
  /// Index in the version's segments.
  package var segment: Int
  /// The segment's whole frame table, else bytes of the segment file.
  package var isTable: Bool
  package var offset: UInt64
  package var byteCount: Int

  package init(segment: Int, isTable: Bool = false, offset: UInt64 = 0, byteCount: Int) {
    self.segment = segment
    self.isTable = isTable
    self.offset = offset
    self.byteCount = byteCount
  }

  var end: UInt64 { offset + UInt64(byteCount) }
}

package enum NextWant: Hashable, Sendable {
  case want(Want)
  /// Something has to be given first.
  case wait
  /// There is nothing more to fetch.
  case done
}

/// What became of bytes that were given.
package enum GiveOutcome {
  case taken
  /// They are not what the signed root leads to. The want stays; giving again helps unless `isFinal`.
  case mismatch(PackStoreError, isFinal: Bool)
}

/// Who wants bytes and takes them: a version on its way into a store. Blocks; one task at a time.
package protocol Incoming {
  func next() throws -> NextWant
  /// Gives the bytes of the oldest want that is outstanding.
  func give(_ bytes: UnsafeRawBufferPointer) throws -> GiveOutcome
}

/// Where a segment's bytes lie on a site.
package struct SegmentFiles: Hashable, Sendable {
  package let segment: SiteFile
  package let table: SiteFile
  package let isMetadata: Bool

  package init(segment: SiteFile, table: SiteFile, isMetadata: Bool) {
    self.segment = segment
    self.table = table
    self.isMetadata = isMetadata
  }
}

/// What came over the wire, retries and gaps included.
package struct FetchTally: Hashable, Sendable {
  package var requestCount = 0
  /// Of frame tables and of frames with catalog and layout pages.
  package var metadataByteCount = 0
  /// Of frames with chunks.
  package var frameByteCount = 0

  package init() {}
}
