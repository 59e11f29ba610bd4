/// A request of a delivery: bytes of a file of the site.
package struct Want: Hashable, Sendable {
  /// The index of the segment in the version's manifest. For a delta, the index of the delta in the chain.
  package var segment: Int
  /// Whether the segment's whole frame table is requested, rather than bytes of the segment file.
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

/// The next step of a delivery.
package enum NextWant: Hashable, Sendable {
  case want(Want)
  /// The bytes of an outstanding request must be passed first.
  case wait
  /// All bytes have arrived: the version can be staged.
  case done
}

/// The result of passing bytes to a delivery.
package enum GiveOutcome {
  /// The bytes were accepted.
  case taken
  /// The bytes do not match the hashes that follow from the signed root. The request stays outstanding; fetching the bytes again
  /// can help unless `isFinal`.
  case mismatch(PackStoreError, isFinal: Bool)
}
