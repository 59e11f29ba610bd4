#if Hosting
  /// The encoding of paths and queries (RFC 3986, section 2.1).
  enum PercentEncoding {
    /// Decodes a name or value of a query. A plus sign is a space, as HTML forms and most HTTP libraries encode it.
    ///
    /// Returns `nil` for an invalid escape, and for bytes that are not UTF-8.
    static func decodeQuery(_ text: some StringProtocol) -> String? { decode(text, plusIsSpace: true) }

    /// Decodes a part of a path. Returns `nil` for an invalid escape, and for bytes that are not UTF-8.
    static func decodePath(_ text: some StringProtocol) -> String? { decode(text, plusIsSpace: false) }

    private static func decode(_ text: some StringProtocol, plusIsSpace: Bool) -> String? {
      var bytes: [UInt8] = []
      var rest = Array(text.utf8)[...]
      while let byte = rest.popFirst() {
        switch byte {
        case UInt8(ascii: "+") where plusIsSpace: bytes.append(UInt8(ascii: " "))
        case UInt8(ascii: "%"):
          guard rest.count >= 2, let decoded = [UInt8](hex: String(decoding: rest.prefix(2), as: UTF8.self)),
            decoded.count == 1
          else { return nil }
          bytes += decoded
          rest = rest.dropFirst(2)
        default: bytes.append(byte)
        }
      }
      return String(validating: bytes, as: UTF8.self)
    }

    /// Encodes all bytes except the unreserved characters of RFC 3986.
    static func encode(_ text: String) -> String {
      let digits = Array("0123456789ABCDEF".utf8)
      var bytes: [UInt8] = []
      for byte in text.utf8 {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
          UInt8(ascii: "~"):
          bytes.append(byte)
        default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
      }
      return String(decoding: bytes, as: UTF8.self)
    }
  }
#endif
