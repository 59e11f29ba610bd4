#if Delivery
  import NIOHTTP1

  /// Parses a number of bytes in a header: at most 10^18 - 1. No file is longer, and the sum of two such numbers fits `Int` and
  /// `UInt64`, so arithmetic on them cannot overflow.
  private func parseByteCount(_ digits: some StringProtocol) -> UInt64? {
    guard (1...18).contains(digits.utf8.count), digits.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
    return UInt64(digits)
  }

  /// `Content-Range: bytes 0-499/1234`; the total may be `*`. All numbers are below 10^18.
  struct ContentRange: Hashable {
    let range: Range<UInt64>
    let total: UInt64?

    /// Units are case-insensitive: RFC 9110, 14.1.
    init?(_ text: String) {
      let pattern = /[Bb][Yy][Tt][Ee][Ss] (?<first>[0-9]+)-(?<last>[0-9]+)\/(?<total>[0-9]+|\*)/
      guard let match = text.wholeMatch(of: pattern), let first = parseByteCount(match.first),
        let last = parseByteCount(match.last), last >= first
      else { return nil }
      total = parseByteCount(match.total)
      guard total != nil || match.total == "*" else { return nil }
      if let total, last >= total { return nil }
      range = first..<last + 1
    }

    /// The value for a header.
    var text: String { "bytes \(range.httpText)/\(total.map { "\($0)" } ?? "*")" }

    /// The length of the file in the answer 416: `Content-Range: bytes */1234`. `nil` if the text is of another form.
    static func lengthOfUnsatisfied(_ text: String) -> UInt64? {
      text.wholeMatch(of: /[Bb][Yy][Tt][Ee][Ss] \*\/(?<total>[0-9]+)/).flatMap { parseByteCount($0.total) }
    }
  }

  /// A server's identifier for the state of a file, so that parts of different states are not mixed.
  struct Validator: Hashable {
    /// For `If-Range`.
    let value: String
    let isTag: Bool

    /// A strong `ETag`, or the time of the last change if there is no tag. Weak and empty tags do not identify bytes, and are not
    /// used.
    init?(_ headers: HTTPHeaders) {
      if let tag = headers.first(name: "ETag"), tag.utf8.count > 2, tag.hasPrefix("\""), tag.hasSuffix("\"") {
        value = tag
        isTag = true
      } else if let time = headers.first(name: "Last-Modified"), !time.isEmpty {
        value = time
        isTag = false
      } else {
        return nil
      }
    }
  }

  extension FileValidators {
    /// The age, by the server's clock, after which a file's state is unambiguous: many servers derive tags from the time in
    /// seconds, and their file system may have another clock.
    private static let settlingSeconds = 60

    /// `nil` if the answer does not identify the file's state unambiguously.
    init?(_ headers: HTTPHeaders) {
      let changedAt = headers.first(name: "Last-Modified")
      if let changedAt {
        guard let then = httpSeconds(changedAt), let now = headers.first(name: "Date").flatMap(httpSeconds),
          now - then >= Self.settlingSeconds
        else { return nil }
      }
      self.init(tag: headers.first(name: "ETag").flatMap { Self.isTag($0) ? $0 : nil }, changedAt: changedAt)
    }

    /// The header fields of a request for the file if it has changed.
    var requestFields: [(String, String)] {
      (tag.map { [("If-None-Match", $0)] } ?? []) + (changedAt.map { [("If-Modified-Since", $0)] } ?? [])
    }
  }

  extension HTTPHeaders {
    /// The length of the body according to the header, below 10^18.
    var contentLength: UInt64? { first(name: "Content-Length").flatMap(parseByteCount) }

    /// Whether the body has no content encoding.
    var isIdentity: Bool {
      self[canonicalForm: "Content-Encoding"].allSatisfy { $0.isEmpty || $0.lowercased() == "identity" }
    }

    /// The delay that the server requests: seconds, or a time by the server's own clock.
    var retryAfter: Duration? {
      guard let text = first(name: "Retry-After") else { return nil }
      // Larger values are clamped: the delay is refused in any case.
      if !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) {
        return .seconds(Int(UInt32(text) ?? .max))
      }
      guard let then = httpSeconds(text), let now = first(name: "Date").flatMap(httpSeconds) else { return nil }
      return .seconds(then > now ? then - now : 0)
    }
  }

  extension Range<UInt64> {
    /// The range in HTTP's form, with the last byte instead of the end.
    var httpText: String { isEmpty ? "\(lowerBound)-" : "\(lowerBound)-\(upperBound - 1)" }
  }
#endif
