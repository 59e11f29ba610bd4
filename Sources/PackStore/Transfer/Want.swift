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

  package var end: UInt64 { offset + UInt64(byteCount) }
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
