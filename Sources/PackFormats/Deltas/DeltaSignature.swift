import PackStore

/// The signature at the end of a delta file: the signing authority, the sequence number, and the Ed25519 signature.
///
/// A delta on a site has no signature, because the signed root contains the SHA-256 of its header.
package struct DeltaSignature: Hashable, Sendable {
  private static let magic = Array("PKSSIGN0".utf8)

  /// An upper bound for the size of a signature in a file.
  package static let byteCountLimit =
    magic.count + 4 + 8 + 4 + SigningAuthority.byteCountLimit + SiteKey.signatureByteCount

  package let sequence: UInt64
  package let authority: SigningAuthority
  private let signature: [UInt8]

  /// Signs a delta by the SHA-256 of its header.
  ///
  /// - Throws: `untrusted` if the key may not sign for the product.
  package init(of header: Digest256, by key: SiteKey, product: Store.Product, sequence: UInt64) throws {
    authority = try key.authority(for: product)
    self.sequence = sequence
    signature = try key.signature(of: Self.message(header, sequence, authority), as: .delta)
  }

  /// Decodes and verifies the bytes after a delta; `nil` if they are not a valid signature of the delta with this header.
  package init?(_ bytes: [UInt8], of header: Digest256) {
    var reader = ByteReader(bytes[...], file: "")
    guard let magic = try? reader.take(Self.magic.count), magic.elementsEqual(Self.magic),
      let byteCount = try? reader.integer(UInt32.self), Int(byteCount) == bytes.count,
      let sequence = try? reader.integer(UInt64.self), let authority = try? Self.authority(from: &reader),
      reader.remaining == SiteKey.signatureByteCount, let signature = try? reader.take(SiteKey.signatureByteCount),
      authority.releaseKey.verifies(signature, of: Self.message(header, sequence, authority), as: .delta)
    else { return nil }
    self.sequence = sequence
    self.authority = authority
    self.signature = Array(signature)
  }

  private static func authority(from reader: inout ByteReader) throws -> SigningAuthority {
    let byteCount = Int(try reader.integer(UInt32.self))
    guard byteCount <= SigningAuthority.byteCountLimit else { throw reader.corrupt("signing authority is too long") }
    var bytes = ByteReader(try reader.take(byteCount), file: reader.file)
    let authority = try SigningAuthority(from: &bytes)
    try bytes.end()
    return authority
  }

  package var bytes: [UInt8] { Self.magic + Self.fields(sequence, authority) + signature }

  private static func fields(_ sequence: UInt64, _ authority: SigningAuthority) -> [UInt8] {
    let bytes = authority.bytes
    var writer = ByteWriter()
    writer.append(UInt32(magic.count + 4 + 8 + 4 + bytes.count + SiteKey.signatureByteCount))
    writer.append(sequence)
    writer.append(UInt32(bytes.count))
    writer.append(bytes)
    return writer.bytes
  }

  private static func message(_ header: Digest256, _ sequence: UInt64, _ authority: SigningAuthority) -> [UInt8] {
    header.bytes + fields(sequence, authority)
  }
}
