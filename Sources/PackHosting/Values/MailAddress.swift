#if Hosting
  /// The address of a mail box: the plain ASCII form of RFC 5321, without quotes, comments and names.
  ///
  /// An address becomes a part of commands and header fields, so spaces, line ends, angle brackets and commas are refused.
  struct MailAddress: RawRepresentable, Hashable, Codable, Sendable, CustomStringConvertible {
    let rawValue: String

    /// Returns `nil` for text of another form.
    init?(rawValue: String) {
      let parts = rawValue.split(separator: "@", omittingEmptySubsequences: false)
      guard rawValue.utf8.count <= 254, parts.count == 2, Self.isLocalPart(parts[0]), Self.isDomain(parts[1]) else {
        return nil
      }
      self.rawValue = rawValue
    }

    var description: String { rawValue }

    /// The text after the at sign.
    var domain: Substring { rawValue[rawValue.index(after: rawValue.firstIndex(of: "@") ?? rawValue.startIndex)...] }

    /// Words of letters, digits and some signs, separated by single dots.
    private static func isLocalPart(_ text: Substring) -> Bool {
      let signs = Array("!#$%&'*+-/=?^_`{|}~".utf8)
      return text.utf8.count <= 64
        && text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { word in
          !word.isEmpty && word.utf8.allSatisfy { isLetterOrDigit($0) || signs.contains($0) }
        }
    }

    /// Labels of letters, digits and inner hyphens, separated by single dots.
    private static func isDomain(_ text: Substring) -> Bool {
      text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
        (1...63).contains(label.utf8.count) && !label.hasPrefix("-") && !label.hasSuffix("-")
          && label.utf8.allSatisfy { isLetterOrDigit($0) || $0 == UInt8(ascii: "-") }
      }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: false
      }
    }
  }
#endif
