import PackStore

/// The replacement of a root key by a new one. The old key's signature authorizes the replacement, and the new key's signature
/// proves that its owner agrees: neither signature alone is sufficient.
package struct KeyRotation: Hashable, Sendable {
  package let old: SitePublicKey
  package let new: SitePublicKey
  private let signatures: [UInt8]

  package static let byteCount = 2 * SitePublicKey.byteCount + 2 * SiteKey.signatureByteCount

  package init(from old: SiteKey, to new: SiteKey) throws {
    self.old = old.publicKey
    self.new = new.publicKey
    let message = Self.message(self.old, self.new)
    signatures = try old.signature(of: message, as: .rotation) + new.signature(of: message, as: .rotation)
  }

  /// Decodes a rotation and verifies both signatures.
  ///
  /// - Parameter isOfPreviousDraft: whether it is signed as in the previous draft. Such a rotation is not encoded again.
  /// - Throws: `untrusted` if a signature is invalid, `corrupt`.
  package init(from reader: inout ByteReader, isOfPreviousDraft: Bool = false) throws {
    let begin = reader.offset
    guard let old = SitePublicKey(try reader.take(SitePublicKey.byteCount)),
      let new = SitePublicKey(try reader.take(SitePublicKey.byteCount)), old != new
    else { throw reader.corrupt("invalid key rotation", at: begin) }
    let message = Self.message(old, new)
    let first = try reader.take(SiteKey.signatureByteCount), second = try reader.take(SiteKey.signatureByteCount)
    func isSigned(_ signature: ArraySlice<UInt8>, by key: SitePublicKey) -> Bool {
      guard isOfPreviousDraft else { return key.verifies(signature, of: message, as: .rotation) }
      return Ed25519.isValid(Array(signature), of: SignedKind.rotation.previousMessage(of: message), by: key.bytes)
    }
    guard isSigned(first, by: old), isSigned(second, by: new) else {
      throw PackStoreError(.untrusted, "a key rotation has an invalid signature", file: reader.file)
    }
    self.old = old
    self.new = new
    signatures = Array(first) + second
  }

  package func encode(to writer: inout ByteWriter) {
    writer.append(old.bytes)
    writer.append(new.bytes)
    writer.append(signatures)
  }

  private static func message(_ old: SitePublicKey, _ new: SitePublicKey) -> [UInt8] {
    old.bytes + new.bytes
  }
}
