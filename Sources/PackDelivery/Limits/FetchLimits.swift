/// Limits of the requests for a version.
package struct FetchLimits: Hashable, Sendable {
  /// The largest gap, in bytes, that one request covers between two missing ranges. The bytes of the gap are fetched, too.
  package var gapByteCount = 2_048
  /// The largest number of bytes of a request that covers several ranges.
  package var requestByteCount = 1 << 20
  package var requestCount = 6
  /// The largest number of requested bytes that were not yet handed over. A longer single range is fetched alone.
  package var outstandingByteCount = 3 << 20

  package init() {}
}
