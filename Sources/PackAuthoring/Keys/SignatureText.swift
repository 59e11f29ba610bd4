import PackFormats
import PackStore

/// Signatures as other programs print them: 64 bytes, or the same in base64 or hexadecimal digits, with white space around them.
enum SignatureText {
  /// Returns the 64 bytes; `nil` if the output has another form.
  static func decode(_ output: [UInt8]) -> [UInt8]? {
    guard output.count != SiteKey.signatureByteCount else { return output }
    let isSpace: (UInt8) -> Bool = { [0x20, 0x09, 0x0a, 0x0d].contains($0) }
    let text = String(decoding: output.drop(while: isSpace).reversed().drop(while: isSpace).reversed(), as: UTF8.self)
    let bytes = hexBytes(text) ?? Data(base64Encoded: text).map { Array($0) }
    return bytes?.count == SiteKey.signatureByteCount ? bytes : nil
  }

  /// Decodes hexadecimal digits of either case; `nil` if the text contains anything else.
  static func hexBytes(_ text: String) -> [UInt8]? {
    let digits = text.utf8.map { Character(Unicode.Scalar($0)).hexDigitValue }
    guard digits.count % 2 == 0 else { return nil }
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let high = digits[index], let low = digits[index + 1] else { return nil }
      bytes.append(UInt8(high << 4 | low))
    }
    return bytes
  }

  static func hex(_ bytes: [UInt8]) -> String {
    bytes.map { byte in
      let digits = String(byte, radix: 16)
      return digits.count == 1 ? "0" + digits : digits
    }.joined()
  }
}
