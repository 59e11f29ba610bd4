/// A publisher's note about a version, such as `git 3fa9c`: one line of text.
///
/// 1 to 1,000 bytes of UTF-8, without control characters and line breaks.
public struct VersionNote: Hashable, Sendable {
  public let text: String

  public static let byteCountLimit = 1000

  /// - Throws: `invalidArgument` for an invalid note.
  public init(_ text: some StringProtocol) throws {
    guard let fault = Self.fault(of: text) else {
      self.text = String(text)
      return
    }
    var error = PackStoreError(.invalidArgument, "invalid note, because \(fault)")
    error.specificRemedy = "write one line of at most \(Self.byteCountLimit) bytes, such as 'git 3fa9c'"
    throw error
  }

  private static func fault(of text: some StringProtocol) -> String? {
    let count = text.utf8.count
    guard 1...byteCountLimit ~= count else { return count == 0 ? "it is empty" : "it has \(count) bytes" }
    return text.unicodeScalars.contains(where: isControl) ? "it has control characters or line breaks" : nil
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "\u{0}"..."\u{1f}", "\u{7f}"..."\u{9f}", "\u{2028}", "\u{2029}": true
    default: false
    }
  }
}

extension VersionNote: CustomStringConvertible {
  public var description: String { text }
}

extension VersionNote: Codable {
  /// Decoded from a string.
  public init(from decoder: any Decoder) throws { self = try decoder.value { try VersionNote($0) } }
  public func encode(to encoder: any Encoder) throws { try encoder.encode(text: text) }
}
