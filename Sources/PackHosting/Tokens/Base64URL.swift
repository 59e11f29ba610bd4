#if Hosting
  /// Base64 with the alphabet of RFC 4648, section 5, without padding, as tokens and cursors use it.
  enum Base64URL {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// Digits by byte; 64 for bytes outside the alphabet.
    private static let values: [UInt8] = {
      var values = [UInt8](repeating: 64, count: 256)
      for (value, byte) in alphabet.enumerated() { values[Int(byte)] = UInt8(value) }
      return values
    }()

    static func encode(_ bytes: some Sequence<UInt8>) -> String {
      var text: [UInt8] = []
      var buffer: UInt32 = 0, bitCount: UInt32 = 0
      for byte in bytes {
        buffer = (buffer << 8 | UInt32(byte)) & 0xFFFF
        bitCount += 8
        while bitCount >= 6 {
          bitCount -= 6
          text.append(alphabet[Int(buffer >> bitCount & 63)])
        }
      }
      if bitCount > 0 { text.append(alphabet[Int(buffer << (6 - bitCount) & 63)]) }
      return String(decoding: text, as: UTF8.self)
    }

    /// Returns `nil` for padding, other characters, an impossible length, and unused bits that are not 0.
    static func decode(_ text: some StringProtocol) -> [UInt8]? {
      var bytes: [UInt8] = []
      var buffer: UInt32 = 0, bitCount: UInt32 = 0
      for byte in text.utf8 {
        let value = values[Int(byte)]
        guard value < 64 else { return nil }
        buffer = (buffer << 6 | UInt32(value)) & 0xFFFF
        bitCount += 6
        if bitCount >= 8 {
          bitCount -= 8
          bytes.append(UInt8(truncatingIfNeeded: buffer >> bitCount))
        }
      }
      guard bitCount < 6, buffer & (1 << bitCount - 1) == 0 else { return nil }
      return bytes
    }
  }
#endif
