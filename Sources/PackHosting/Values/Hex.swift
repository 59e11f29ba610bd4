#if Hosting
  extension Sequence<UInt8> {
    /// The bytes as lower-case hexadecimal digits.
    var hex: String {
      let digits = Array("0123456789abcdef".utf8)
      return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
  }

  extension [UInt8] {
    /// Reads an even number of hexadecimal digits of either case; `nil` for anything else.
    init?(hex: some StringProtocol) {
      let digits = hex.utf8.map { Self.value(of: $0) }
      guard digits.count.isMultiple(of: 2) else { return nil }
      var bytes: [UInt8] = []
      for index in stride(from: 0, to: digits.count, by: 2) {
        guard let high = digits[index], let low = digits[index + 1] else { return nil }
        bytes.append(high << 4 | low)
      }
      self = bytes
    }

    private static func value(of digit: UInt8) -> UInt8? {
      switch digit {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
      case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
      default: nil
      }
    }
  }
#endif
