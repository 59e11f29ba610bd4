#if Hosting
  /// The rules for `assetPackIdentifier`: letters, digits and single hyphens between them.
  enum PackIdentifier {
    static func isValid(_ text: String) -> Bool {
      let parts = text.split(separator: "-", omittingEmptySubsequences: false)
      return (1...Assumptions.packIdentifierLimit).contains(text.utf8.count)
        && parts.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy(isLetterOrDigit) }
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
