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

  /// Decodes a signed root.
  ///
  /// - Parameter readsPreviousDraft: whether a root of the previous draft is decoded, for a conversion, and not refused.
  /// - Throws: `untrusted`, `corrupt`, `otherDraft`, `newerFormat`.
  package init(decoding bytes: [UInt8], file: String, readsPreviousDraft: Bool) throws {
    if readsPreviousDraft, Self.isOfPreviousDraft(bytes) {
      try self.init(convertingPreviousDraft: bytes, file: file)
    } else {
      try self.init(decoding: bytes, file: file)
    }
  }

  /// Decodes the signing authority of a root of the previous draft. The rest of the root may be damaged.
  ///
  /// - Returns: `nil` if the root is unsigned.
  /// - Throws: `untrusted`, `corrupt` if the authority is damaged.
  package static func previousAuthority(in bytes: ArraySlice<UInt8>, file: String) throws -> SigningAuthority? {
    var reader = ByteReader(bytes, file: file)
    _ = try reader.take(SiteRoot.authorityOffset)
    let byteCount = Int(try reader.integer(UInt32.self))
    guard byteCount > 0 else { return nil }
    guard byteCount <= SigningAuthority.byteCountLimit else { throw reader.corrupt("signing authority is too long") }
    var authorityReader = ByteReader(try reader.take(byteCount), file: file)
    let authority = try SigningAuthority(from: &authorityReader, isOfPreviousDraft: true)
    try authorityReader.end()
    return authority
  }

  /// Decodes a signed root of the previous draft. Its deltas and sheets are left out, because files of another draft are not read; its
  /// table has the numbers that it offers.
  ///
  /// - Throws: `untrusted` if the root or its authority is not signed; `corrupt`.
  package init(convertingPreviousDraft bytes: [UInt8], file: String) throws {
    var reader = ByteReader(bytes.dropLast(SiteKey.signatureByteCount), file: file)
    guard bytes.count <= SiteRoot.byteCountLimit, Self.isOfPreviousDraft(bytes) else {
      throw reader.corrupt("unexpected file type", at: 0)
    }
    let message = bytes.dropLast(SiteKey.signatureByteCount)
    let signature = Array(bytes.suffix(SiteKey.signatureByteCount))
    let authority = try Self.previousAuthority(in: message, file: file)
    guard let authority,
      Ed25519.isValid(
        signature, of: SignedKind.root.previousMessage(of: Array(message)), by: authority.releaseKey.bytes)
    else { throw PackStoreError(.untrusted, "the root of the earlier draft has no valid signature", file: file) }
    _ = try reader.take(SiteRoot.magicBytes.count + 4)
    var root = try SiteRoot(from: &reader, isOfPreviousDraft: true)
    try reader.end()
    guard authority.delegation.product == root.product, authority.delegation.allows(root.channel) else {
      throw PackStoreError(.untrusted, "the key may not sign this root", file: file)
    }
    for index in root.packs.indices { root.packs[index].deltas = [] }
    root.sheets = []
    self.root = root
    self.authority = authority
    digest = Digest256(hashing: bytes)
  }
}
