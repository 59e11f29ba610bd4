/// A page of a list of objects: the answer of `ListObjectsV2` with keys in URL encoding.
struct S3ListPage {
  /// The lengths of objects by their keys.
  private(set) var objects: [String: UInt64] = [:]

  /// The token for the next page; `nil`: this is the last one.
  private(set) var next: String?

  /// Parses untrusted bytes; `nil` for anything but a page of a list.
  init?(_ bytes: [UInt8]) {
    guard let text = String(validating: bytes, as: UTF8.self), text.contains("<ListBucketResult") else { return nil }
    for entry in text.matches(of: /(?s)<Contents>(.*?)<\/Contents>/) {
      guard let key = entry.1.firstMatch(of: /<Key>([^<]*)<\/Key>/).flatMap({ Self.decoded($0.1) }),
        let byteCount = entry.1.firstMatch(of: /<Size>([0-9]+)<\/Size>/).flatMap({ UInt64($0.1) })
      else { return nil }
      objects[key] = byteCount
    }
    guard let isTruncated = text.firstMatch(of: /<IsTruncated>(true|false)<\/IsTruncated>/) else { return nil }
    guard isTruncated.1 == "true" else { return }
    guard let token = text.firstMatch(of: /<NextContinuationToken>([^<]+)<\/NextContinuationToken>/) else {
      return nil
    }
    next = Self.unescaped(token.1)
  }

  /// Decodes `%XX`, and `+` as a space; `nil` for an invalid code or text.
  private static func decoded(_ text: Substring) -> String? {
    var bytes: [UInt8] = [], rest = text.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
        continue
      }
      guard let digits = String(rest.prefix(2)), digits.utf8.count == 2, let value = UInt8(digits, radix: 16) else {
        return nil
      }
      bytes.append(value)
      rest = rest.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
  }

  private static func unescaped(_ text: Substring) -> String {
    [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")].reduce(String(text)) {
      $0.replacing($1.0, with: $1.1)
    }
  }
}
