#if Hosting
  /// The id of an object of one kind: a UUID in lower case.
  ///
  /// - Parameter Object: the record type, so that ids of different kinds are different types.
  struct Identifier<Object>: RawRepresentable, Hashable, Codable, Sendable, CustomStringConvertible {
    let rawValue: String

    /// Accepts any text: an id that no object has is not found.
    init(rawValue: String) { self.rawValue = rawValue }

    init(_ random: some RandomSource) { rawValue = random.uuid() }

    var description: String { rawValue }
  }

  /// The id of an app: a decimal number as text, as in App Store Connect.
  struct AppID: RawRepresentable, Hashable, Codable, Sendable, CustomStringConvertible {
    let rawValue: String

    /// Accepts any text: an id that no app has is not found.
    init(rawValue: String) { self.rawValue = rawValue }

    /// Generates an id of ten digits.
    init(_ random: some RandomSource) {
      let number = random.bytes(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      rawValue = String(1_000_000_000 + number % 9_000_000_000)
    }

    var description: String { rawValue }
  }

  /// Ids as requests contain them.
  enum RequestedID {
    /// Returns a UUID in lower case: its case has no meaning (RFC 9562, section 4), and some languages write it in upper case. Other
    /// ids are unchanged.
    static func normalized(_ text: String) -> String {
      guard text.utf8.count == 36 else { return text }
      let isUUID = text.utf8.enumerated().allSatisfy { place, byte in
        [8, 13, 18, 23].contains(place) ? byte == UInt8(ascii: "-") : isHexDigit(byte)
      }
      return isUUID ? text.lowercased() : text
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
        UInt8(ascii: "A")...UInt8(ascii: "F"):
        true
      default: false
      }
    }
  }
#endif
