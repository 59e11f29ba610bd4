#if Delivery
  import NIOHTTP1

  /// A number of bytes that a header names: at most 10^18 - 1. No file is longer, and sums of two such numbers fit
  /// `Int` and `UInt64`, so that arithmetic on them cannot overflow.
  private func parseByteCount(_ digits: some StringProtocol) -> UInt64? {
    guard (1...18).contains(digits.utf8.count), digits.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
    return UInt64(digits)
  }

  /// `Content-Range: bytes 0-499/1234`; the total may be `*`. All numbers are below 10^18.
  struct ContentRange: Hashable {
    let range: Range<UInt64>
    let total: UInt64?

    /// Units have no case: RFC 9110, 14.1.
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

    /// As a header has it.
    var text: String { "bytes \(range.httpText)/\(total.map { "\($0)" } ?? "*")" }

    /// The length of the file in the answer 416: `Content-Range: bytes */1234`. `nil` if the text is of another form.
    static func lengthOfUnsatisfied(_ text: String) -> UInt64? {
      text.wholeMatch(of: /[Bb][Yy][Tt][Ee][Ss] \*\/(?<total>[0-9]+)/).flatMap { parseByteCount($0.total) }
    }
  }

  /// How a server names the state of a file, so that parts of different states are not mixed.
  struct Validator: Hashable {
    /// For `If-Range`.
    let value: String
    let isTag: Bool

    /// A strong `ETag`, or the time of the last change if there is no such tag. Weak and empty tags name no bytes, and are
    /// not used.
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
    /// How long ago, by the server's clock, a file must have changed so that its state is told from the next one: many
    /// servers make tags of the time in seconds, and the clock of their file system may be another.
    private static let settlingSeconds = 60

    /// Nil: the answer names no state of the file, or none that can be told from the next.
    init?(_ headers: HTTPHeaders) {
      let changedAt = headers.first(name: "Last-Modified")
      if let changedAt {
        guard let then = httpSeconds(changedAt), let now = headers.first(name: "Date").flatMap(httpSeconds),
          now - then >= Self.settlingSeconds
        else { return nil }
      }
      self.init(tag: headers.first(name: "ETag").flatMap { Self.isTag($0) ? $0 : nil }, changedAt: changedAt)
    }

    /// Of a request for what is not in this state any more.
    var requestFields: [(String, String)] {
      (tag.map { [("If-None-Match", $0)] } ?? []) + (changedAt.map { [("If-Modified-Since", $0)] } ?? [])
    }
  }

  extension HTTPHeaders {
    /// The length that the body is said to have, below 10^18.
    var contentLength: UInt64? { first(name: "Content-Length").flatMap(parseByteCount) }

    /// Whether the body is as it is stored.
    var isIdentity: Bool {
      self[canonicalForm: "Content-Encoding"].allSatisfy { $0.isEmpty || $0.lowercased() == "identity" }
    }

    /// For how long the server wants to be left alone: seconds, or a time by the server's own clock.
    var retryAfter: Duration? {
      guard let text = first(name: "Retry-After") else { return nil }
      // More seconds than fit count as the most that do: the delay is refused in any case.
      if !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) {
        return .seconds(Int(UInt32(text) ?? .max))
      }
      guard let then = httpSeconds(text), let now = first(name: "Date").flatMap(httpSeconds) else { return nil }
      return .seconds(then > now ? then - now : 0)
    }
  }

  extension Range<UInt64> {
    /// As HTTP writes ranges: with the last byte in place of the end.
    var httpText: String { isEmpty ? "\(lowerBound)-" : "\(lowerBound)-\(upperBound - 1)" }
  }
#endif
