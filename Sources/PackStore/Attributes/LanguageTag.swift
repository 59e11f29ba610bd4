/// A language tag of BCP 47 (RFC 5646), such as `en`, `pt-BR` or `zh-Hant-TW`.
///
/// Well formed, of at most 64 characters, and not a grandfathered tag. The case is the one that RFC 5646 recommends: tags that
/// differ only by case are equal.
public struct LanguageTag: Hashable, Sendable {
  public let text: String

  public static let byteCountLimit = 64

  /// - Throws: `invalidArgument` for an invalid language tag.
  public init(_ text: some StringProtocol) throws {
    guard text.utf8.count <= Self.byteCountLimit, let subtags = Self.subtags(of: text), Self.isWellFormed(subtags)
    else {
      var error = PackStoreError(
        .invalidArgument, "invalid language tag", about: .value("\(text.prefix(Self.byteCountLimit))"))
      error.specificRemedy = "write it as BCP 47 has it, such as en, pt-BR or zh-Hant"
      throw error
    }
    self.text = Self.recommendedCase(subtags)
  }

  /// Returns the subtags in lower case; `nil` if one is empty, longer than 8 characters, or contains characters other than letters
  /// and digits.
  private static func subtags(of text: some StringProtocol) -> [String]? {
    let subtags = text.split(separator: "-", omittingEmptySubsequences: false).map { $0.lowercased() }
    let isGood = subtags.allSatisfy {
      (1...8).contains($0.utf8.count) && $0.utf8.allSatisfy { isLetter($0) || isDigit($0) }
    }
    return isGood ? subtags : nil
  }

  private static func isWellFormed(_ subtags: [String]) -> Bool {
    var rest = subtags[...]
    func take(_ counts: ClosedRange<Int>, atMost limit: Int = 1, _ isAllowed: (String) -> Bool) -> Int {
      let taken = rest.prefix(limit).prefix { counts.contains($0.utf8.count) && isAllowed($0) }
      rest = rest.dropFirst(taken.count)
      return taken.count
    }
    let isWord: (String) -> Bool = { $0.utf8.allSatisfy(isLetter) }
    let isNumber: (String) -> Bool = { $0.utf8.allSatisfy(isDigit) }
    if rest.first != "x" {
      guard take(2...8, isWord) == 1 else { return false }
      if subtags[0].utf8.count <= 3 { _ = take(3...3, atMost: 3, isWord) }  // extended languages
      _ = take(4...4, isWord)  // script
      if take(2...2, isWord) == 0 { _ = take(3...3, isNumber) }  // region
      _ = take(4...8, atMost: .max) { $0.utf8.count >= 5 || isDigit($0.utf8.first ?? 0) }  // variants
      while rest.first != "x", take(1...1, { _ in true }) == 1 {  // extensions
        guard take(2...8, atMost: .max, { _ in true }) > 0 else { return false }
      }
    }
    if take(1...1, { $0 == "x" }) == 1 {  // private use
      guard take(1...8, atMost: .max, { _ in true }) > 0 else { return false }
    }
    return rest.isEmpty
  }

  /// Returns lower case, except `Hant` and `TW`, unless they are first or follow a single character.
  private static func recommendedCase(_ subtags: [String]) -> String {
    let plain = subtags.dropFirst().prefix { $0.utf8.count > 1 }
    let cased = plain.map { subtag in
      switch subtag.utf8.count {
      case 2: subtag.uppercased()
      case 4 where subtag.utf8.allSatisfy(isLetter): subtag.prefix(1).uppercased() + subtag.dropFirst()
      default: subtag
      }
    }
    return (subtags.prefix(1) + cased + subtags.dropFirst(1 + plain.count)).joined(separator: "-")
  }

  private static func isLetter(_ byte: UInt8) -> Bool { 0x41...0x5a ~= byte || 0x61...0x7a ~= byte }
  private static func isDigit(_ byte: UInt8) -> Bool { 0x30...0x39 ~= byte }
}

extension LanguageTag: CustomStringConvertible {
  public var description: String { text }
}

extension LanguageTag: Codable {
  public init(from decoder: any Decoder) throws { self = try decoder.value { try LanguageTag($0) } }
  public func encode(to encoder: any Encoder) throws { try encoder.encode(text: text) }
}
