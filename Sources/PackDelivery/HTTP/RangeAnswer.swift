#if Delivery
  import AsyncHTTPClient
  import NIOHTTP1

  /// The part of a file that an answer to a request for a range brings.
  ///
  /// RFC 9110, 15.3.7: a server may send less than the range, and some send more. An answer that contains the first
  /// requested byte is of use: the bytes before it are skipped, and the bytes after the range are cut off.
  struct RangeAnswer {
    /// Where in the file the body begins and ends.
    let given: Range<UInt64>
    /// The requested bytes that the body contains: they begin with the first requested one.
    let useful: Range<UInt64>
    /// The length of the file; `nil` if the server does not specify it.
    let total: UInt64?

    /// `nil` if the answer does not contain the first requested byte.
    init?(_ range: ContentRange, to requested: Range<UInt64>) {
      guard range.range.contains(requested.lowerBound) else { return nil }
      given = range.range
      total = range.total
      useful = requested.lowerBound..<min(requested.upperBound, range.range.upperBound)
    }

    init(wholeOf file: SiteFile) {
      given = 0..<file.byteCount
      useful = given
      total = file.byteCount
    }

    /// The bytes before the useful ones.
    var skippedCount: Int { Int(useful.lowerBound - given.lowerBound) }

    /// The bytes outside the range.
    var excessCount: Int { given.count - useful.count }
  }

  extension HTTPResponseStatus {
    /// Whether a server, or a filter in front of it, may give this status to a request for its range alone: the same
    /// request without a range may succeed.
    var mayRefuseRange: Bool { [400, 403, 405, 406, 416, 501].contains(code) }
  }
#endif
