import PackStore

/// Roots of the previous draft, which had neither epochs nor extensions. Only the conversion of a site reads them.
extension SignedSiteRoot {
  package static func isOfPreviousDraft(_ bytes: [UInt8]) -> Bool {
    var reader = ByteReader(bytes[...], file: "")
    guard let magic = try? reader.take(SiteRoot.magicBytes.count), magic.elementsEqual(SiteRoot.magicBytes) else {
      return false
    }
    return (try? reader.integer(UInt32.self)) == SiteFormat.previous
  }

  /// Decodes a root of the previous draft that a key signed. Its deltas and sheets are left out, because files of another draft
  /// are not read; its table has the numbers that it offers.
  ///
  /// - Throws: `untrusted` if another key signed it; `corrupt`.
  package init(convertingPreviousDraft bytes: [UInt8], signedBy key: SiteKey, file: String) throws {
    var reader = ByteReader(bytes.dropLast(SiteKey.signatureByteCount), file: file)
    guard bytes.count <= SiteRoot.byteCountLimit, Self.isOfPreviousDraft(bytes) else {
      throw reader.corrupt("unexpected file type", at: 0)
    }
    let signature = Array(bytes.suffix(SiteKey.signatureByteCount))
    guard
      Ed25519.isValid(
        signature, of: Array(bytes.dropLast(SiteKey.signatureByteCount)), by: key.publicKey.bytes)
    else {
      var error = PackStoreError(.untrusted, "the root of the earlier draft is signed by another key", file: file)
      error.specificRemedy = "convert the site with the key that signed it"
      throw error
    }
    _ = try reader.take(SiteRoot.magicBytes.count + 4)
    var root = try SiteRoot(from: &reader, isOfPreviousDraft: true)
    try reader.end()
    for index in root.packs.indices { root.packs[index].deltas = [] }
    root.sheets = []
    self.root = root
    authority = try key.authority(for: root.product, root.channel)
    digest = Digest256(hashing: bytes)
  }
}
