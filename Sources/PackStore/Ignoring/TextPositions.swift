/// A set of positions in a text, from before its first byte to after its last, as bits: a pattern of thousands of tokens compares
/// with a long path in microseconds.
struct TextPositions {
  /// Bit `i` of all words together is position `i`.
  private var words: [UInt64]

  /// The text's bytes by value, computed when a token needs them.
  private var bytes: TextBytes

  /// The set of the position before the first byte.
  init(beginningOf text: ArraySlice<UInt8>) {
    bytes = TextBytes(text)
    words = [UInt64](repeating: 0, count: bytes.wordCount)
    words[0] = 1
  }

  var isEmpty: Bool { words.allSatisfy { $0 == 0 } }

  var containsEnd: Bool { words[bytes.count / 64] >> (bytes.count % 64) & 1 != 0 }

  /// Moves each position behind its byte, and drops those whose byte does not fit.
  mutating func advance(over fits: (UInt8) -> Bool) { advance(bytes.positions(where: fits)) }

  mutating func advance(over byte: UInt8) { advance(bytes.positions(of: byte)) }

  /// Moves each position behind its byte. With `isWithinPart`, drops the positions of slashes.
  mutating func advance(isWithinPart: Bool) {
    // The position after the last byte has none, and is dropped behind it.
    let slashes = isWithinPart ? bytes.positions(of: UInt8(ascii: "/")) : words.map { _ in 0 }
    advance(slashes.map { ~$0 })
    dropAfterEnd()
  }

  private mutating func advance(_ fitting: [UInt64]) {
    var carry: UInt64 = 0
    for index in words.indices {
      let moved = words[index] & fitting[index]
      words[index] = moved << 1 | carry
      carry = moved >> 63
    }
  }

  /// Adds all positions that are reached from the set without a slash between.
  mutating func spreadWithinParts() {
    let slashes = bytes.positions(of: UInt8(ascii: "/"))
    var carry: UInt64 = 0
    for index in words.indices {
      // A bit reaches the next one unless its byte is a slash: six doublings fill a word.
      var reached = words[index] | carry, open = ~(slashes[index] << 1)
      for shift in [1, 2, 4, 8, 16, 32] as [UInt64] {
        reached |= open & (reached << shift)
        open &= open << shift | (1 << shift) - 1
      }
      words[index] = reached
      carry = (reached & ~slashes[index]) >> 63
    }
    dropAfterEnd()
  }

  /// Adds all positions after the first one.
  mutating func spread() {
    guard let first else { return }
    for index in words.indices { words[index] |= Self.after(first, in: index) }
    dropAfterEnd()
  }

  /// Adds each position that follows a slash and is after the first position of the set.
  mutating func spreadToParts() {
    guard let first else { return }
    let slashes = bytes.positions(of: UInt8(ascii: "/"))
    var carry: UInt64 = 0
    for index in words.indices {
      words[index] |= (slashes[index] << 1 | carry) & Self.after(first, in: index)
      carry = slashes[index] >> 63
    }
  }

  private var first: Int? {
    words.firstIndex { $0 != 0 }.map { $0 * 64 + words[$0].trailingZeroBitCount }
  }

  /// The positions of a word that are after a position.
  private static func after(_ position: Int, in index: Int) -> UInt64 {
    let begin = position + 1 - index * 64
    return begin <= 0 ? .max : begin >= 64 ? 0 : .max << UInt64(begin)
  }

  private mutating func dropAfterEnd() {
    let last = bytes.count / 64, bit = UInt64(bytes.count % 64)
    words[last] &= bit == 63 ? .max : (1 << (bit + 1)) - 1
  }
}

/// Where each value occurs in a text.
private struct TextBytes {
  private let text: ArraySlice<UInt8>
  private var known: [UInt8: [UInt64]] = [:]

  init(_ text: ArraySlice<UInt8>) { self.text = text }

  var count: Int { text.count }
  var wordCount: Int { text.count / 64 + 1 }

  mutating func positions(of byte: UInt8) -> [UInt64] {
    if let found = known[byte] { return found }
    let found = positions { $0 == byte }
    known[byte] = found
    return found
  }

  func positions(where fits: (UInt8) -> Bool) -> [UInt64] {
    var words = [UInt64](repeating: 0, count: wordCount)
    for (offset, byte) in text.enumerated() where fits(byte) { words[offset / 64] |= 1 << UInt64(offset % 64) }
    return words
  }
}
