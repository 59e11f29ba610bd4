/// What a delta that is handed on as a file ends with: who signed its header.
///
/// A delta on a site has none: there the root has the header's SHA-256.
package struct DeltaSignature: Hashable, Sendable {
  private static let magic = Array("PKSSIGN0".utf8)

  /// Bytes of a signature in a file.
  package static let byteCount = magic.count + SitePublicKey.byteCount + SiteKey.signatureByteCount

  package let publicKey: SitePublicKey
  private let signature: [UInt8]

  /// Signs a delta's header.
  package init(of header: [UInt8], by key: SiteKey) throws(PackStoreError) {
    publicKey = key.publicKey
    signature = try key.signature(of: header)
  }

  /// Reads what follows a delta. Nil for anything but a signature.
  package init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.byteCount, bytes.starts(with: Self.magic) else { return nil }
    let rest = bytes.dropFirst(Self.magic.count)
    guard let key = SitePublicKey(rest.prefix(SitePublicKey.byteCount)) else { return nil }
    publicKey = key
    signature = Array(rest.dropFirst(SitePublicKey.byteCount))
  }

  package var bytes: [UInt8] { Self.magic + publicKey.bytes + signature }

  /// Whether the owner of ``publicKey`` signed `header`.
  package func isOf(_ header: [UInt8]) -> Bool { publicKey.verifies(signature, of: header) }
}
