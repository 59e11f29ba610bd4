/// The public key that identifies a publisher: 32 bytes of Ed25519.
///
/// Its text form is 44 characters of base64:
///
///     let key = SitePublicKey("11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=")
public struct SitePublicKey: Hashable, Sendable {
  package static let byteCount = 32

  /// The 32 bytes of an Ed25519 public key.
  public let bytes: [UInt8]

  /// Copies a key; `nil` if `bytes` does not have 32 bytes or is all zeros. All zeros mark an unsigned root.
  package init?(_ bytes: some Collection<UInt8>) {
    guard bytes.count == Self.byteCount, bytes.contains(where: { $0 != 0 }) else { return nil }
    self.bytes = Array(bytes)
  }
}

extension SitePublicKey: LosslessStringConvertible {
  /// Parses canonical base64 of 32 bytes; `nil` for anything else.
  public init?(_ description: String) {
    guard let bytes = Data(base64Encoded: description), let key = Self(Array(bytes)), key.description == description
    else {
      return nil
    }
    self = key
  }

  /// Base64 of the 32 bytes.
  public var description: String { Data(bytes).base64EncodedString() }
}

extension SitePublicKey: Codable {
  public init(from decoder: any Decoder) throws { self = try decoder.value { SitePublicKey($0) } }
  public func encode(to encoder: any Encoder) throws { try encoder.encode(text: description) }
}
