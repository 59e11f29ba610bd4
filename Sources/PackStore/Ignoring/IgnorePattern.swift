/// One line of a list of patterns, with the rules of gitignore(5).
///
/// - A pattern with a slash at its beginning or in its middle matches paths relative to the folder of its list. Any other pattern
///   matches the last part of paths, at any depth.
/// - `*` matches any characters of one part, `?` one character, and `[a-z]`, `[!a-z]` and `[[:digit:]]` one of a set; `\` quotes
///   the next character. `**/` at the beginning of a part matches any folders or none, `/**` at the end everything below.
/// - A slash at the end limits the pattern to folders. `!` at the beginning cancels the match of an earlier pattern.
///
/// Paths and patterns are compared byte by byte, and are case-sensitive.
struct IgnorePattern: Hashable, Sendable {
  /// The pattern as written.
  let text: String

  /// Whether matching files are kept, not skipped.
  let isNegated: Bool

  private let meansFoldersAlone: Bool

  /// Whether it matches whole paths, rather than their last part.
  private let isAnchored: Bool

  /// The literal bytes at the beginning and at the end, by which most paths are rejected.
  private let prefix: [UInt8]
  private let suffix: [UInt8]

  /// The tokens between the two.
  private let tokens: [Token]

  /// The minimum number of bytes that the tokens match.
  private let leastByteCount: Int

  /// Longer patterns match nothing.
  private static let byteLimit = 4096

  /// `nil` for an empty line and a comment.
  init?(_ line: some StringProtocol) {
    var bytes = Self.trimmed(Array(line.utf8))[...]
    guard let first = bytes.first, first != UInt8(ascii: "#") else { return nil }
    text = String(line)
    isNegated = first == UInt8(ascii: "!")
    if isNegated { bytes.removeFirst() }
    meansFoldersAlone = bytes.last == UInt8(ascii: "/")
    if meansFoldersAlone { bytes.removeLast() }
    isAnchored = bytes.contains(UInt8(ascii: "/"))
    if isAnchored, bytes.first == UInt8(ascii: "/") { bytes.removeFirst() }
    let all = bytes.isEmpty || bytes.count > Self.byteLimit ? [.nothing] : Token.read(Array(bytes), inPaths: isAnchored)
    prefix = all.prefix { $0.literal != nil }.compactMap(\.literal)
    let rest = all.dropFirst(prefix.count)
    suffix = rest.reversed().prefix { $0.literal != nil }.reversed().compactMap(\.literal)
    tokens = Array(rest.dropLast(suffix.count))
    leastByteCount = tokens.count { $0.isOneByte }
  }

  /// Removes spaces at the end, except spaces after a backslash.
  private static func trimmed(_ bytes: [UInt8]) -> [UInt8] {
    var end = 0, index = 0
    while index < bytes.count {
      if bytes[index] == UInt8(ascii: "\\"), index + 1 < bytes.count {
        index += 2
        end = index
      } else {
        index += 1
        if bytes[index - 1] != UInt8(ascii: " ") { end = index }
      }
    }
    return Array(bytes[..<end])
  }

  /// Whether it matches a path, relative to the folder of its list.
  ///
  /// - Parameter name: the last part of the path.
  func matches(_ path: ArraySlice<UInt8>, name: ArraySlice<UInt8>, isFolder: Bool) -> Bool {
    guard isFolder || !meansFoldersAlone else { return false }
    let text = isAnchored ? path : name
    let middle = text.dropFirst(prefix.count).dropLast(suffix.count)
    return text.count >= prefix.count + suffix.count + leastByteCount && text.starts(with: prefix)
      && text.suffix(suffix.count).elementsEqual(suffix) && matches(middle)
  }

  /// Whether the tokens match a text. O(*t* (1 + *n* / 64)) for *t* tokens, at most twice as many as the text has bytes, and O(*n*)
  /// for each set of bytes among them.
  private func matches(_ text: ArraySlice<UInt8>) -> Bool {
    guard !tokens.isEmpty else { return text.isEmpty }
    var reached = TextPositions(beginningOf: text)
    for token in tokens {
      token.advance(&reached)
      if reached.isEmpty { return false }
    }
    return reached.containsEnd
  }
}

// MARK: - Tokens

extension IgnorePattern {
  /// A part of a pattern.
  private enum Token: Hashable, Sendable {
    case byte(UInt8)
    /// Any byte; in paths, any byte except a slash.
    case any(inPaths: Bool)
    case set(ByteSet)
    /// Any bytes except a slash.
    case part
    /// Any bytes.
    case all
    /// Nothing, or any bytes followed by a slash: `**/` at the beginning of a part.
    case folders
    /// Matches no text.
    case nothing

    /// The byte it matches; `nil` if it matches several.
    var literal: UInt8? { if case .byte(let byte) = self { byte } else { nil } }

    /// Whether it matches one byte.
    var isOneByte: Bool {
      switch self {
      case .byte, .any, .set: true
      case .part, .all, .folders, .nothing: false
      }
    }

    /// Moves each position from the beginning of the token to its end.
    func advance(_ positions: inout TextPositions) {
      switch self {
      case .byte(let byte): positions.advance(over: byte)
      case .any(let inPaths): positions.advance(isWithinPart: inPaths)
      case .set(let set): positions.advance { set.contains($0) }
      case .part: positions.spreadWithinParts()
      case .all: positions.spread()
      case .folders: positions.spreadToParts()
      case .nothing: positions.advance { _ in false }
      }
    }

    /// - Parameter inPaths: whether slashes separate names.
    static func read(_ pattern: [UInt8], inPaths: Bool) -> [Token] {
      var reader = TokenReader(pattern, inPaths: inPaths)
      return reader.readAll()
    }
  }

  /// The bytes that match one position of a pattern.
  private struct ByteSet: Hashable, Sendable {
    private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

    func contains(_ byte: UInt8) -> Bool {
      let bit = UInt64(1) << (byte & 63)
      return switch byte >> 6 {
      case 0: words.0 & bit != 0
      case 1: words.1 & bit != 0
      case 2: words.2 & bit != 0
      default: words.3 & bit != 0
      }
    }

    mutating func insert(_ byte: UInt8) {
      let bit = UInt64(1) << (byte & 63)
      switch byte >> 6 {
      case 0: words.0 |= bit
      case 1: words.1 |= bit
      case 2: words.2 |= bit
      default: words.3 |= bit
      }
    }

    mutating func remove(_ byte: UInt8) {
      let bit = ~(UInt64(1) << (byte & 63))
      switch byte >> 6 {
      case 0: words.0 &= bit
      case 1: words.1 &= bit
      case 2: words.2 &= bit
      default: words.3 &= bit
      }
    }

    mutating func insert(where isMeant: (UInt8) -> Bool) {
      for byte in UInt8.min...UInt8.max where isMeant(byte) { insert(byte) }
    }

    mutating func negate() { words = (~words.0, ~words.1, ~words.2, ~words.3) }

    static func == (left: ByteSet, right: ByteSet) -> Bool { left.words == right.words }

    func hash(into hasher: inout Hasher) {
      hasher.combine(words.0)
      hasher.combine(words.1)
      hasher.combine(words.2)
      hasher.combine(words.3)
    }
  }

  /// Splits a pattern into tokens.
  private struct TokenReader {
    private let pattern: [UInt8]
    private let inPaths: Bool
    private var position = 0
    private var tokens: [Token] = []

    /// The bytes before the first special character.
    private let literalCount: Int

    init(_ pattern: [UInt8], inPaths: Bool) {
      literalCount = pattern.firstIndex { #"*?[\"#.utf8.contains($0) } ?? pattern.count
      self.pattern = pattern
      self.inPaths = inPaths
    }

    private func byte(at index: Int) -> UInt8? { pattern.indices.contains(index) ? pattern[index] : nil }

    private func has(_ character: Unicode.Scalar, at index: Int) -> Bool { byte(at: index) == UInt8(ascii: character) }

    /// An invalid pattern matches nothing.
    mutating func readAll() -> [Token] {
      while let next = byte(at: position) {
        switch next {
        case UInt8(ascii: "?"):
          tokens.append(.any(inPaths: inPaths))
          position += 1
        case UInt8(ascii: "*"): readStars()
        case UInt8(ascii: "["):
          guard let set = readSet() else { return [.nothing] }
          tokens.append(.set(set))
        case UInt8(ascii: "\\"):
          guard let escaped = byte(at: position + 1) else { return [.nothing] }
          tokens.append(.byte(escaped))
          position += 2
        default:
          tokens.append(.byte(next))
          position += 1
        }
      }
      return tokens
    }

    /// Two or more stars match slashes only if they are a whole part of a path; otherwise they are equivalent to one star.
    ///
    /// Contrary to its documentation, git also treats them as the beginning of a part if everything before them is literal: it
    /// compares the literal first, and reads the rest as a separate pattern. So `foo**/bar` matches `foobar` and `foox/y/bar`.
    private mutating func readStars() {
      let begin = position
      while has("*", at: position) { position += 1 }
      guard inPaths else { return tokens.append(.all) }
      let isPart = begin == literalCount || begin == 0 || has("/", at: begin - 1)
      let endsPart = position == pattern.count || has("/", at: position)
      let endsEscaped = has("\\", at: position) && has("/", at: position + 1)
      guard position - begin > 1, isPart, endsPart || endsEscaped else { return tokens.append(.part) }
      guard has("/", at: position) else { return tokens.append(.all) }
      // Several in a row are equivalent to one.
      if tokens.last != .folders { tokens.append(.folders) }
      position += 1
    }

    /// - Returns: `nil` for a set that does not end, or that contains an unknown class.
    private mutating func readSet() -> ByteSet? {
      var set = ByteSet()
      position += 1
      let isNegated = has("!", at: position) || has("^", at: position)
      if isNegated { position += 1 }
      var last: UInt8?
      var isFirst = true
      while isFirst || !has("]", at: position) {
        isFirst = false
        guard let next = byte(at: position) else { return nil }
        if next == UInt8(ascii: "\\") {
          guard let escaped = byte(at: position + 1) else { return nil }
          set.insert(escaped)
          last = escaped
          position += 2
        } else if next == UInt8(ascii: "-"), let first = last, let end = byte(at: position + 1),
          end != UInt8(ascii: "]")
        {
          guard let bound = readBound(end) else { return nil }
          if first <= bound { for byte in first...bound { set.insert(byte) } }
          last = nil
        } else if next == UInt8(ascii: "["), has(":", at: position + 1) {
          switch readClass(into: &set) {
          case .read: last = nil
          case .isNone:
            set.insert(next)
            last = next
            position += 1
          case .isUnknown: return nil
          }
        } else {
          set.insert(next)
          last = next
          position += 1
        }
      }
      position += 1
      if isNegated { set.negate() }
      if inPaths { set.remove(UInt8(ascii: "/")) }
      return set
    }

    /// Reads the end of a range, after its hyphen.
    private mutating func readBound(_ end: UInt8) -> UInt8? {
      guard end == UInt8(ascii: "\\") else {
        position += 2
        return end
      }
      defer { position += 3 }
      return byte(at: position + 2)
    }

    private enum ClassReading { case read, isNone, isUnknown }

    /// Reads `[:digit:]`. Without `:]` it is not a class.
    private mutating func readClass(into set: inout ByteSet) -> ClassReading {
      guard let end = pattern[(position + 2)...].firstIndex(of: UInt8(ascii: "]")) else { return .isUnknown }
      guard end > position + 2, pattern[end - 1] == UInt8(ascii: ":") else { return .isNone }
      guard let isMeant = Self.classes[String(decoding: pattern[(position + 2)..<(end - 1)], as: UTF8.self)] else {
        return .isUnknown
      }
      set.insert(where: isMeant)
      position = end + 1
      return .read
    }

    private static let classes: [String: @Sendable (UInt8) -> Bool] = [
      "alpha": { isLetter($0) }, "digit": { isDigit($0) }, "alnum": { isLetter($0) || isDigit($0) },
      "upper": { (65...90).contains($0) }, "lower": { (97...122).contains($0) },
      "blank": { $0 == 32 || $0 == 9 }, "space": { $0 == 32 || (9...13).contains($0) },
      "cntrl": { $0 < 32 || $0 == 127 }, "graph": { (33...126).contains($0) }, "print": { (32...126).contains($0) },
      "punct": { (33...126).contains($0) && !isLetter($0) && !isDigit($0) },
      "xdigit": { isDigit($0) || (65...70).contains($0) || (97...102).contains($0) },
    ]

    private static func isLetter(_ byte: UInt8) -> Bool { (65...90).contains(byte) || (97...122).contains(byte) }

    private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }
  }
}
