import PackStore

/// The private part of a record of a change: who changed a root, and why. Publishers keep it; devices cannot read it.
///
/// Invariant: each text is within ``byteCountLimit``, without control characters and without signed web tokens.
public struct ChangeNote: Hashable, Sendable {
  public let user: String?
  public let jobURL: String?
  public let commit: String?
  public let note: String?

  /// The maximum size of each text in bytes.
  public static let byteCountLimit = 4_096

  /// Shortens texts above the limit, replaces control characters by spaces, and removes signed web tokens. An empty text is `nil`.
  public init(user: String? = nil, jobURL: String? = nil, commit: String? = nil, note: String? = nil) {
    self.user = user.flatMap(Self.cleaned)
    self.jobURL = jobURL.flatMap(Self.cleaned)
    self.commit = commit.flatMap(Self.cleaned)
    self.note = note.flatMap(Self.cleaned)
  }

  public var isEmpty: Bool { user == nil && jobURL == nil && commit == nil && note == nil }

  private static func cleaned(_ text: String) -> String? {
    var plain = text.unicodeScalars.map { Self.isControl($0) ? " " : String($0) }.joined()
    while plain.utf8.count > byteCountLimit { plain.removeLast() }
    let words = plain.split(separator: " ").map { isToken($0) ? "(token)" : String($0) }
    return words.isEmpty ? nil : words.joined(separator: " ")
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    [.control, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
  }

  /// Whether a word contains a JSON web token, such as the identity token of a build service: a bearer of it could act as the job.
  private static func isToken(_ word: Substring) -> Bool {
    word.split(separator: ".").count >= 3 && word.contains("eyJ")
  }
}

/// A note with random bytes, as a file. The record of the change has the SHA-256 of the file: without the random bytes, anyone could test
/// guesses of an erased note.
package struct SealedChangeNote: Hashable, Sendable {
  package let note: ChangeNote
  package let bytes: [UInt8]

  package var digest: Digest256 { Digest256(hashing: bytes) }

  package static let saltByteCount = 32
  package static let byteCountLimit = saltByteCount + textByteCountLimit
  private static let textByteCountLimit = 20_480
  private static let title = "packstore change 1"
  private static let words = ["user", "job", "commit", "note"]

  /// - Parameter salt: bytes that were never used before; by default, random ones.
  package init(_ note: ChangeNote, salt: [UInt8]? = nil) {
    self.note = note
    let salt = salt ?? randomBytes(count: Self.saltByteCount)
    let texts = zip(Self.words, [note.user, note.jobURL, note.commit, note.note])
    let lines = [Self.title] + texts.compactMap { word, text in text.map { "\(word) \($0)" } }
    bytes = salt + Array(lines.map { $0 + "\n" }.joined().utf8)
  }

  /// Decodes an untrusted file.
  ///
  /// - Throws: `corrupt`.
  package init(decoding bytes: [UInt8], file: String) throws {
    let reader = ByteReader(bytes[...], file: file)
    guard Self.saltByteCount...Self.byteCountLimit ~= bytes.count,
      let text = String(validating: bytes.dropFirst(Self.saltByteCount), as: UTF8.self)
    else { throw reader.corrupt("not the private part of a record", at: 0) }
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    guard lines.count >= 2, lines[0] == Self.title, lines.last == "" else {
      throw reader.corrupt("not the private part of a record", at: Self.saltByteCount)
    }
    var texts: [String: String] = [:], rest = Self.words[...]
    for line in lines.dropFirst().dropLast() {
      let parts = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, let index = rest.firstIndex(of: String(parts[0])) else {
        throw reader.corrupt("invalid line in the private part of a record", at: Self.saltByteCount)
      }
      rest = rest[(index + 1)...]
      texts[String(parts[0])] = String(parts[1])
    }
    note = ChangeNote(user: texts["user"], jobURL: texts["job"], commit: texts["commit"], note: texts["note"])
    self.bytes = bytes
  }
}

/// Returns unpredictable bytes.
private func randomBytes(count: Int) -> [UInt8] {
  var generator = SystemRandomNumberGenerator()
  return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
}
