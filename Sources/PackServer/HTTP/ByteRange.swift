#if Serving || Hosting
  /// The meaning of a `Range` field (RFC 9110, section 14).
  ///
  /// One range is answered with 206. For several satisfiable ranges the whole is sent, which the standard permits: many,
  /// overlapping or unordered ranges then cause no additional work or memory.
  package enum ByteRange: Equatable {
    /// Another unit, an invalid range, or several satisfiable ranges: the whole is sent.
    case ignored
    /// No byte of the range exists: 416.
    case unsatisfiable
    case part(Range<UInt64>)

    /// A longer field is ignored.
    package static let byteCountLimit = 1024

    package init(_ field: String, of byteCount: UInt64) {
      self = .ignored
      guard field.utf8.count <= Self.byteCountLimit, let equals = field.firstIndex(of: "=") else { return }
      var unit = field[..<equals]
      unit.trimSpaces()
      guard unit.lowercased() == "bytes" else { return }
      var parts: [Range<UInt64>] = []
      var count = 0
      for piece in field[field.index(after: equals)...].split(separator: ",", omittingEmptySubsequences: true) {
        var piece = piece
        piece.trimSpaces()
        if piece.isEmpty { continue }
        count += 1
        guard let part = Self.part(piece, of: byteCount) else { return }
        if !part.isEmpty { parts.append(part) }
      }
      guard count > 0 else { return }
      switch parts.count {
      case 0: self = .unsatisfiable
      case 1: self = .part(parts[0])
      default: self = .ignored
      }
    }

    /// Returns `nil` for an invalid range; an empty range if none of its bytes exists.
    private static func part(_ text: Substring, of byteCount: UInt64) -> Range<UInt64>? {
      guard let dash = text.firstIndex(of: "-") else { return nil }
      let first = text[..<dash], last = text[text.index(after: dash)...]
      if first.isEmpty {
        guard let suffix = number(last) else { return nil }
        return byteCount - min(suffix, byteCount)..<byteCount
      }
      guard let begin = number(first) else { return nil }
      guard !last.isEmpty else { return min(begin, byteCount)..<byteCount }
      guard let end = number(last), begin <= end else { return nil }
      return min(begin, byteCount)..<(end >= byteCount ? byteCount : end + 1)
    }

    /// Returns the value of digits; a number that is too large becomes the largest number.
    private static func number(_ digits: Substring) -> UInt64? {
      guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
      return UInt64(digits) ?? .max
    }
  }
#endif
