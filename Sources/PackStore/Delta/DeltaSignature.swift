/// What a delta that is handed on as a file ends with: who signed it, for which product, and as which statement.
///
/// A delta on a site has none: there the root has the header's SHA-256, and speaks for it.
package struct DeltaSignature: Hashable, Sendable {
  private static let magic = Array("PKSSIGN0".utf8)
  private static let signedMagic = Array("packstore delta\0".utf8)

  /// Bytes of a signature in a file.
  package static let byteCount =
    magic.count + SitePublicKey.byteCount + 8 + Store.Product.byteCountLimit + SiteKey.signatureByteCount

  package let publicKey: SitePublicKey
  package let sequence: UInt64
  package let product: Store.Product
  private let signature: [UInt8]

  /// Signs a delta by the SHA-256 of its header.
  package init(
    of header: Digest256, by key: SiteKey, product: Store.Product, sequence: UInt64
  ) throws {
    publicKey = key.publicKey
    self.sequence = sequence
    self.product = product
    signature = try key.signature(of: Self.message(header, key.publicKey, sequence, product))
  }

  /// Reads what follows a delta. Nil for anything but a signature.
  package init?(_ bytes: [UInt8]) {
    var reader = ByteReader(bytes[...], file: "")
    guard bytes.count == Self.byteCount, bytes.starts(with: Self.magic),
      (try? reader.take(Self.magic.count)) != nil, let key = try? SitePublicKey(reader.take(SitePublicKey.byteCount)),
      let sequence = try? reader.integer(UInt64.self), let name = try? reader.take(Store.Product.byteCountLimit)
    else { return nil }
    let letters = name.prefix { $0 != 0 }
    guard name.dropFirst(letters.count).allSatisfy({ $0 == 0 }),
      let product = try? Store.Product(String(decoding: letters, as: UTF8.self))
    else { return nil }
    publicKey = key
    self.sequence = sequence
    self.product = product
    signature = Array(bytes.suffix(SiteKey.signatureByteCount))
  }

  package var bytes: [UInt8] { Self.magic + Self.fields(publicKey, sequence, product) + signature }

  /// Whether the owner of ``publicKey`` signed the delta with this header.
  package func isOf(_ header: Digest256) -> Bool {
    publicKey.verifies(signature, of: Self.message(header, publicKey, sequence, product))
  }

  private static func fields(_ key: SitePublicKey, _ sequence: UInt64, _ product: Store.Product) -> [UInt8] {
    var writer = ByteWriter()
    writer.append(key.bytes)
    writer.append(sequence)
    writer.append(product.name.utf8)
    writer.append([UInt8](repeating: 0, count: Store.Product.byteCountLimit - product.name.utf8.count))
    return writer.bytes
  }

  private static func message(
    _ header: Digest256, _ key: SitePublicKey, _ sequence: UInt64, _ product: Store.Product
  ) -> [UInt8] { signedMagic + header.bytes + fields(key, sequence, product) }
}
