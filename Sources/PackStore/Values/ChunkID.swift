/// The name of a chunk: the SHA-256 of its raw bytes, whatever they look like when stored.
public struct ChunkID: Hashable, Sendable {
  let digest: Digest256

  /// The name that `bytes` have as one chunk.
  ///
  /// - Complexity: O(*n*) in the bytes.
  public init(of bytes: RawSpan) { digest = bytes.withUnsafeBytes { Digest256(hashing: $0) } }

  /// The 32 bytes of the name.
  public var bytes: [UInt8] { digest.bytes }
}

extension ChunkID: Comparable {
  /// Bytewise order.
  public static func < (left: Self, right: Self) -> Bool { left.digest < right.digest }
}

extension ChunkID: LosslessStringConvertible {
  /// Reads 64 hexadecimal digits.
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
