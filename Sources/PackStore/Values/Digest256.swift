internal import CPackHash

/// A 32-byte digest, the representation of ``ChunkID`` and ``CatalogID``. Ordered bytewise.
package struct Digest256: Hashable, Sendable {
  package static let byteCount = 32

  /// Big-endian words, so that comparing words compares bytes.
  private let words: (UInt64, UInt64, UInt64, UInt64)

  /// The value for "no digest" in formats with a fixed field.
  package static let zero = Digest256(words: (0, 0, 0, 0))

  private init(words: (UInt64, UInt64, UInt64, UInt64)) { self.words = words }

  /// Copies the first 32 bytes of `bytes`, which must have at least 32.
  package init(copying bytes: UnsafeRawBufferPointer) {
    precondition(bytes.count >= Self.byteCount)
    func word(_ index: Int) -> UInt64 {
      UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8 * index, as: UInt64.self))
    }
    words = (word(0), word(1), word(2), word(3))
  }

  /// Computes the SHA-256 of `bytes`.
  package init(hashing bytes: UnsafeRawBufferPointer) {
    self = withUnsafeTemporaryAllocation(byteCount: Self.byteCount, alignment: 8) { digest in
      pkh_sha256(bytes.baseAddress, bytes.count, digest.bindMemory(to: UInt8.self).baseAddress!)
      return Self(copying: UnsafeRawBufferPointer(digest))
    }
  }

  /// Computes the SHA-256 of `bytes`.
  package init(hashing bytes: [UInt8]) { self = bytes.withUnsafeBytes { Self(hashing: $0) } }

  /// Parses 64 hexadecimal digits, in either case.
  package init?(hex: some StringProtocol) {
    guard let bytes = [UInt8](hex: hex, count: Self.byteCount) else { return nil }
    self = bytes.withUnsafeBytes { Self(copying: $0) }
  }

  package var bytes: [UInt8] {
    [words.0, words.1, words.2, words.3].flatMap { word in withUnsafeBytes(of: word.bigEndian, Array.init) }
  }

  package var hex: String { [words.0, words.1, words.2, words.3].map(Self.hex).joined() }

  private static func hex(_ word: UInt64) -> String {
    let digits = String(word, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  package static func == (left: Self, right: Self) -> Bool { left.words == right.words }

  /// Hashes only the first word, which is as random as the whole digest.
  package func hash(into hasher: inout Hasher) { hasher.combine(words.0) }
}

extension Digest256: Comparable {
  package static func < (left: Self, right: Self) -> Bool { left.words < right.words }
}

/// Computes the SHA-256 of bytes that arrive in parts.
package struct DigestBuilder {
  private var state: pkh_sha256_state

  package init() {
    state = withUnsafeTemporaryAllocation(of: pkh_sha256_state.self, capacity: 1) { memory in
      let state = memory.baseAddress!
      pkh_sha256_init(state)
      return state.pointee
    }
  }

  package mutating func update(_ bytes: UnsafeRawBufferPointer) {
    pkh_sha256_update(&state, bytes.baseAddress, bytes.count)
  }

  package func finish() -> Digest256 {
    var copy = state
    var digest = [UInt8](repeating: 0, count: Digest256.byteCount)
    pkh_sha256_final(&copy, &digest)
    return digest.withUnsafeBytes { Digest256(copying: $0) }
  }
}

extension [UInt8] {
  /// Parses exactly `count` bytes of hexadecimal digits, in either case.
  init?(hex: some StringProtocol, count: Int) {
    let digits = hex.utf8.compactMap { UInt8(hexDigit: $0) }
    guard hex.utf8.count == 2 * count, digits.count == 2 * count else { return nil }
    self = (0..<count).map { digits[2 * $0] << 4 | digits[2 * $0 + 1] }
  }
}

extension UInt8 {
  fileprivate init?(hexDigit: UInt8) {
    switch hexDigit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): self = hexDigit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): self = hexDigit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): self = hexDigit - UInt8(ascii: "A") + 10
    default: return nil
    }
  }
}

extension Digest256: Codable {
  package init(from decoder: any Decoder) throws { self = try decoder.value { Digest256(hex: $0) } }
  package func encode(to encoder: any Encoder) throws { try encoder.encode(text: hex) }
}
