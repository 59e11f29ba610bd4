/// The identity of a chunk: the SHA-256 of its raw bytes, regardless of how they are stored.
public struct ChunkID: Hashable, Sendable {
  let digest: Digest256

  /// Computes the id of `bytes` as one chunk.
  ///
  /// - Complexity: O(*n*) in the bytes.
  public init(of bytes: RawSpan) { digest = bytes.withUnsafeBytes { Digest256(hashing: $0) } }

  /// The 32 bytes of the id.
  public var bytes: [UInt8] { digest.bytes }
}

extension ChunkID: Comparable {
  /// Bytewise order.
  public static func < (left: Self, right: Self) -> Bool { left.digest < right.digest }
}

extension ChunkID: LosslessStringConvertible {
  /// Parses 64 hexadecimal digits.
  public init?(_ description: String) {
    guard let digest = Digest256(hex: description) else { return nil }
    self.digest = digest
  }

  /// 64 hexadecimal digits, in lower case.
  public var description: String { digest.hex }
}

extension ChunkID: Codable {
  public init(from decoder: any Decoder) throws { self = try decoder.value { ChunkID($0) } }
  public func encode(to encoder: any Encoder) throws { try encoder.encode(text: description) }
}
