/// The identity of a pack version's content: the SHA-256 of its catalog's root page.
///
/// Equal folders give equal catalogs, on any machine and regardless of the store's history.
public struct CatalogID: Hashable, Sendable {
  package let digest: Digest256

  package init(digest: Digest256) { self.digest = digest }

  /// The 32 bytes of the identity.
  public var bytes: [UInt8] { digest.bytes }
}

extension CatalogID: Comparable {
  /// Bytewise order.
  public static func < (left: Self, right: Self) -> Bool { left.digest < right.digest }
}

extension CatalogID: LosslessStringConvertible {
  /// Parses 64 hexadecimal digits.
  public init?(_ description: String) {
    guard let digest = Digest256(hex: description) else { return nil }
    self.digest = digest
  }

  /// 64 hexadecimal digits, in lower case.
  public var description: String { digest.hex }
}

extension CatalogID: Codable {
  public init(from decoder: any Decoder) throws { self = try decoder.value { CatalogID($0) } }
  public func encode(to encoder: any Encoder) throws { try encoder.encode(text: description) }
}
