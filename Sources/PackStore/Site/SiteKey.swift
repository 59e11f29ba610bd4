import Crypto

/// The secret key that signs a site. Its owner can publish what clients trust.
///
/// It is never printed: its text goes to its file alone.
public struct SiteKey: Sendable {
  package static let signatureByteCount = 64
  package static let firstLine = "packstore secret key 1"

  private let key: Curve25519.Signing.PrivateKey

  /// Makes a new key.
  public init() { key = Curve25519.Signing.PrivateKey() }

  /// What clients are told to trust.
  public var publicKey: SitePublicKey { SitePublicKey(key.publicKey.rawRepresentation)! }

  /// 64 bytes that only the owner of the key can make, and that belong to these bytes alone.
  package func signature(of message: [UInt8]) throws -> [UInt8] {
    do { return try [UInt8](key.signature(for: message)) } catch {
      throw PackStoreError(.outOfMemory, "cannot sign")
    }
  }
}

extension SiteKey {
  /// What a key file holds: a line that says what it is, and base64 of 32 bytes.
  package var fileText: String { Self.firstLine + "\n" + key.rawRepresentation.base64EncodedString() + "\n" }

  /// Reads what ``fileText`` says. Nil for anything else.
  package init?(fileText: String) {
    let lines = fileText.split(separator: "\n", omittingEmptySubsequences: false)
    guard lines.count == 3, lines[0] == Self.firstLine, lines[2].isEmpty,
      let bytes = Data(base64Encoded: String(lines[1])), bytes.base64EncodedString() == lines[1],
      let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: bytes)
    else { return nil }
    self.key = key
  }
}
