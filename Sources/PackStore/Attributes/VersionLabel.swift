/// A publisher's name for a version of a pack, such as `1.4.2`, which commands accept instead of its number.
///
/// 1 to 64 ASCII letters and digits, `.`, `_`, `+` and `-`. Labels of digits only are invalid, because they would be version
/// numbers, and so are `current` and `previous`.
public struct VersionLabel: Hashable, Sendable {
  public let text: String

  public static let byteCountLimit = 64

  /// Words that commands accept as versions.
  private static let reservedWords = ["current", "previous"]

  /// - Throws: `invalidArgument` for an invalid label.
  public init(_ text: some StringProtocol) throws {
    guard let fault = Self.fault(of: text) else {
      self.text = String(text)
      return
    }
    var error = PackStoreError(
      .invalidArgument, "invalid label, because \(fault)", about: .value("\(text.prefix(Self.byteCountLimit))"))
    error.specificRemedy = "write 1 to 64 letters, digits, '.', '_', '+' and '-', such as 1.4.2 or build-2071"
    throw error
  }

  private static func fault(of text: some StringProtocol) -> String? {
    let bytes = text.utf8
    guard 1...byteCountLimit ~= bytes.count else {
      return bytes.isEmpty ? "it is empty" : "it has \(bytes.count) bytes"
    }
    guard bytes.allSatisfy(isAllowed) else { return "it has other characters" }
    if bytes.allSatisfy({ 0x30...0x39 ~= $0 }) { return "it would be the number of a version" }
    return reservedWords.contains(String(text)) ? "the word means a version already" : nil
  }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), 0x30...0x39: true
    default: "._+-".utf8.contains(byte)
    }
  }
}

extension VersionLabel: CustomStringConvertible {
  public var description: String { text }
}

extension VersionLabel: Codable {
  /// Decoded from a string.
  public init(from decoder: any Decoder) throws { self = try decoder.value { try VersionLabel($0) } }
  public func encode(to encoder: any Encoder) throws { try encoder.encode(text: text) }
}
