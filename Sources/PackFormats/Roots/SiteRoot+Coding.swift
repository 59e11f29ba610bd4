import PackStore

/// A decoded root with its verified signing authority.
package struct SignedSiteRoot: Hashable, Sendable {
  package let root: SiteRoot

  /// The keys that authorize the signature; `nil` if the root is unsigned. All signatures are verified, but not whether the
  /// keys are trusted.
  package let authority: SigningAuthority?

  /// The publisher's present root key; `nil` if the root is unsigned.
  package var rootKey: SitePublicKey? { authority?.rootKey }

  /// The SHA-256 of the whole file. If two roots with the same sequence number differ in it, one of them is forged.
  package let digest: Digest256
}

extension SiteRoot {
  /// The maximum size of a root in bytes.
  package static let byteCountLimit = 16 << 20

  /// The maximum number of packs, as in a store.
  package static let packLimit = 65_535

  /// The maximum number of offers of a pack. A store has the same limit for the versions of a pack.
  package static let offerLimit = 1_000

  /// The maximum number of attribute sheets. With the root, a client has all attributes after three requests.
  package static let sheetLimit = 2

  /// The maximum size of a language tag in bytes.
  fileprivate static let languageByteCountLimit = 64

  /// The maximum number of deltas of a pack.
  package static let deltaLimit = 10_000

  fileprivate static let magic: StaticString = "PKSROOT0"
  static let magicBytes = magic.withUTF8Buffer(Array.init)
  static let authorityOffset = 56
  fileprivate static let closedFlag: UInt32 = 1
  fileprivate static let packByteCount = 17
  fileprivate static let offerByteCount = 136
  fileprivate static let sheetByteCount = 36
  fileprivate static let deltaByteCount = 108

  /// Returns the bytes of the file. Without a key the root is unsigned: clients accept an unsigned root only from a folder or an
  /// archive, and only if their user allows it.
  ///
  /// - Throws: `invalidArgument` if the root exceeds a limit of clients, or has rollout steps and never expires;
  ///   `untrusted` if the key may not sign it.
  package func encode(signedBy key: SiteKey?) throws -> [UInt8] {
    let message = try message(signedBy: key)
    return try message
      + (key?.signature(of: message, as: .root) ?? [UInt8](repeating: 0, count: SiteKey.signatureByteCount))
  }

  /// Returns the bytes that ``encode(signedBy:)`` signs.
  ///
  /// - Throws: as ``encode(signedBy:)``.
  func message(signedBy key: SiteKey?) throws -> [UInt8] {
    try requireValidRollouts()
    try requireValidReleases()
    var writer = ByteWriter()
    writer.append(Self.magic.withUTF8Buffer(Array.init))
    let authority = try key?.authority(for: product, channel)
    writer.append(authority?.sets == nil ? SiteFormat.current : SiteFormat.keySets)
    writer.append(isClosed ? Self.closedFlag : 0)
    writer.append(sequence)
    writer.append(madeAt)
    writer.append(expiresAfter ?? 0)
    writer.append(site.id.bytes)
    let authorityBytes = authority?.bytes ?? []
    writer.append(UInt32(clamping: authorityBytes.count))
    writer.append(authorityBytes)
    writer.append(text: product.name)
    writer.append(text: channel.name)
    writer.append(text: primaryLanguage?.text ?? "")
    writer.append(UInt32(clamping: sheets.count))
    for sheet in sheets {
      writer.append(sheet.digest.bytes)
      writer.append(sheet.byteCount)
    }
    writer.append(UInt32(clamping: packs.count))
    for pack in packs { pack.encode(to: &writer) }
    encodeExtensions(to: &writer)
    guard extensionsAreWithinLimits, packs.count <= Self.packLimit, sheets.count <= Self.sheetLimit,
      packs.allSatisfy(\.isWithinLimits),
      writer.bytes.count + SiteKey.signatureByteCount <= Self.byteCountLimit
    else { throw PackStoreError(.invalidArgument, "too many packs or versions for a site", detail: .limit) }
    return writer.bytes
  }
}

extension SignedSiteRoot {
  /// Decodes an untrusted root whose signature is valid, or which is unsigned.
  ///
  /// - Parameter file: the file name for errors.
  /// - Throws: `untrusted` if a signature is invalid, `corrupt`, `newerFormat`.
  package init(decoding bytes: [UInt8], file: String) throws {
    var reader = ByteReader(bytes.dropLast(SiteKey.signatureByteCount), file: file)
    guard bytes.count <= SiteRoot.byteCountLimit else { throw reader.corrupt("root is too long") }
    try reader.header(SiteRoot.magic, or: SiteFormat.keySets)
    authority = try Self.checkSignature(bytes, file: file)
    digest = Digest256(hashing: bytes)
    root = try SiteRoot(from: &reader)
    try reader.end()
    try checkAuthority(file)
  }

  /// Returns the first root key, or the id of the first key set, in the bytes of a root, without verifying it; `nil` if the bytes end
  /// before it.
  package static func namedKey(in bytes: [UInt8]) -> ArraySlice<UInt8>? {
    var reader = ByteReader(bytes[...], file: "")
    guard (try? reader.take(SiteRoot.authorityOffset + 4)) != nil,
      var rotationCount = try? reader.integer(UInt32.self)
    else { return nil }
    if rotationCount == KeySetChain.mark {
      guard let count = try? reader.integer(UInt32.self) else { return nil }
      guard count > 0 else { return (try? KeySet(from: &reader))?.id.bytes[...] }
      rotationCount = count
    }
    guard
      (try? reader.take(rotationCount == 0 ? KeyDelegation.rootKeyOffset : 0)) != nil
    else { return nil }
    return try? reader.take(SitePublicKey.byteCount)
  }

  /// Decodes the signing authority of a root. The rest of the root may be damaged: the root keys' signatures in the authority are
  /// verified, but not the signature of the root.
  ///
  /// - Returns: `nil` if the root is unsigned.
  /// - Throws: `untrusted`, `corrupt` if the authority is damaged.
  package static func authority(in bytes: ArraySlice<UInt8>, file: String) throws -> SigningAuthority? {
    var header = ByteReader(bytes, file: file)
    let hasKeySets = try header.header(SiteRoot.magic, or: SiteFormat.keySets)
    var reader = ByteReader(bytes, file: file)
    _ = try reader.take(SiteRoot.authorityOffset)
    let byteCount = Int(try reader.integer(UInt32.self))
    guard byteCount > 0 || hasKeySets else { return nil }
    guard byteCount <= SigningAuthority.byteCountLimit else { throw reader.corrupt("signing authority is too long") }
    var authorityReader = ByteReader(try reader.take(byteCount), file: file)
    let authority = try SigningAuthority(from: &authorityReader)
    try authorityReader.end()
    guard (authority.sets != nil) == hasKeySets else {
      throw reader.corrupt("the format of a root does not match its authority", at: SiteRoot.magicBytes.count)
    }
    return authority
  }

  /// Verifies the root's signature, before any other field is decoded. Returns `nil` if the root is unsigned.
  private static func checkSignature(_ bytes: [UInt8], file: String) throws -> SigningAuthority? {
    let message = bytes.dropLast(SiteKey.signatureByteCount)
    let signature = bytes.suffix(SiteKey.signatureByteCount)
    guard let authority = try authority(in: message, file: file) else {
      guard signature.allSatisfy({ $0 == 0 }) else { throw wrongSignature(file) }
      return nil
    }
    guard authority.releaseKey.verifies(signature, of: message, as: .root) else { throw wrongSignature(file) }
    return authority
  }

  private static func wrongSignature(_ file: String) -> PackStoreError {
    PackStoreError(.untrusted, "the root has an invalid signature", file: file)
  }

  /// Checks that the release key may sign for the root's product and channel.
  private func checkAuthority(_ file: String) throws {
    guard let delegation = authority?.delegation else { return }
    guard delegation.product == root.product, delegation.allows(root.channel) else {
      throw PackStoreError(
        .untrusted, "the root is signed by a key that may not sign the channel '\(root.channel)'", file: file)
    }
  }
}

extension SiteRoot {
  /// Decodes the root from its flags up to the signature.
  ///
  /// - Parameter isOfPreviousDraft: whether offers have no epochs and the root no extensions.
  init(from reader: inout ByteReader, isOfPreviousDraft: Bool = false) throws {
    let flags: UInt32 = try reader.integer()
    guard flags & ~Self.closedFlag == 0 else {
      throw reader.corrupt("reserved field is not zero", at: reader.offset - 4)
    }
    isClosed = flags == Self.closedFlag
    sequence = try reader.integer()
    guard sequence > 0 else { throw reader.corrupt("sequence number is 0", at: reader.offset - 8) }
    madeAt = try reader.integer()
    let expiry: Int64 = try reader.integer()
    guard expiry >= 0 else { throw reader.corrupt("negative time until expiry", at: reader.offset - 8) }
    expiresAfter = expiry == 0 ? nil : expiry
    site = SiteID(try reader.id128())
    _ = try reader.take(Int(try reader.integer(UInt32.self)))  // the authority, which is verified already
    product = try reader.product()
    channel = try reader.channel()
    primaryLanguage = try reader.text(limit: Self.languageByteCountLimit, "invalid language tag") { text in
      guard !text.isEmpty else { return .some(nil) }
      return (try? LanguageTag(text)).flatMap { $0.text == text ? .some($0) : nil }
    }
    let sheetCount = try reader.count(
      limit: Self.sheetLimit, byteCount: Self.sheetByteCount, "too many attribute sheets")
    sheets = []
    for _ in 0..<sheetCount { sheets.append(try Sheet(from: &reader)) }
    let packCount = try reader.count(limit: Self.packLimit, byteCount: Self.packByteCount, "too many packs")
    guard packCount == 0 || !isClosed else { throw reader.corrupt("closed channel has packs") }
    packs = []
    packs.reserveCapacity(packCount)
    for _ in 0..<packCount {
      let begin = reader.offset
      let pack = try Pack(from: &reader, hasEpochs: !isOfPreviousDraft)
      if let last = packs.last, last.id >= pack.id { throw reader.corrupt("packs are out of order", at: begin) }
      packs.append(pack)
    }
    if isOfPreviousDraft {
      highest = Self.highest(of: packs)
    } else {
      try decodeExtensions(from: &reader)
    }
  }
}

extension SiteRoot.Sheet {
  fileprivate init(from reader: inout ByteReader) throws {
    let begin = reader.offset
    digest = try reader.digest()
    byteCount = try reader.integer()
    guard AttributeSheet.byteCounts ~= Int(byteCount) else {
      throw reader.corrupt("invalid length of an attribute sheet", at: begin)
    }
  }
}

extension SiteRoot.Pack {
  fileprivate var isWithinLimits: Bool {
    1...SiteRoot.offerLimit ~= offers.count && deltas.count <= SiteRoot.deltaLimit
  }

  fileprivate func encode(to writer: inout ByteWriter) {
    writer.append(UInt32(id.name.utf8.count))
    writer.append(id.name.utf8)
    writer.append(priority)
    writer.append(UInt32(clamping: offers.count))
    writer.append(UInt32(clamping: deltas.count))
    for offer in offers { offer.encode(to: &writer) }
    for delta in deltas {
      writer.append(delta.from.bytes)
      writer.append(delta.to.bytes)
      writer.append(delta.header.bytes)
      writer.append(delta.headerByteCount)
      writer.append(delta.byteCount)
    }
  }

  fileprivate init(from reader: inout ByteReader, hasEpochs: Bool) throws {
    let begin = reader.offset
    id = try reader.packID()
    priority = try reader.integer()
    let offerCount = try reader.count(
      limit: SiteRoot.offerLimit, byteCount: SiteRoot.offerByteCount - (hasEpochs ? 0 : 8), "too many offers of a pack")
    guard offerCount > 0 else { throw reader.corrupt("pack without an offer", at: begin) }
    let deltaCount = try reader.count(
      limit: SiteRoot.deltaLimit, byteCount: SiteRoot.deltaByteCount, "too many deltas of a pack")
    offers = []
    for _ in 0..<offerCount { offers.append(try SiteRoot.Offer(from: &reader, hasEpoch: hasEpochs)) }
    guard Set(offers.map(\.number)).count == offerCount else {
      throw reader.corrupt("duplicate offer of a pack version", at: begin)
    }
    deltas = []
    for _ in 0..<deltaCount { deltas.append(try SiteRoot.Delta(from: &reader)) }
  }
}

extension SiteRoot.Offer {
  fileprivate func encode(to writer: inout ByteWriter) {
    writer.append(number)
    writer.append(epoch)
    writer.append(catalog.bytes)
    writer.append(manifest.bytes)
    writer.append(manifestByteCount)
    writer.append(attributes: attributes)
    writer.append(downloadByteCount)
    // The extension of releases has the share of a member.
    writer.append(release == nil ? share : 0)
    writer.append(text: appVersions?.lowerBound?.description ?? "")
    writer.append(text: appVersions?.upperBound?.description ?? "")
  }

  fileprivate init(from reader: inout ByteReader, hasEpoch: Bool) throws {
    let begin = reader.offset
    number = try reader.integer()
    epoch = hasEpoch ? try reader.integer() : 0
    catalog = CatalogID(digest: try reader.digest())
    manifest = try reader.digest()
    manifestByteCount = try reader.integer()
    guard 1...PackVersion.lastNumber ~= number else { throw reader.corrupt("invalid version number", at: begin) }
    guard 1...VersionManifest.byteCountLimit ~= Int(manifestByteCount) else {
      throw reader.corrupt("invalid length of a manifest", at: begin)
    }
    attributes = try reader.attributes()
    downloadByteCount = try reader.integer()
    share = try reader.integer()
    guard share <= OfferTerms.everyDevice else { throw reader.corrupt("invalid share of devices", at: begin) }
    appVersions = try Self.appVersions(from: &reader)
  }

  /// Decodes the bounds of a range: each is the text of an app version, or empty.
  private static func appVersions(from reader: inout ByteReader) throws -> AppVersionRange? {
    let begin = reader.offset
    let lower = try reader.text(limit: AppVersion.byteCountLimit, "invalid app version") { Bound($0) }
    let upper = try reader.text(limit: AppVersion.byteCountLimit, "invalid app version") { Bound($0) }
    do {
      return try AppVersionRange(from: lower.version, upTo: upper.version)
    } catch { throw reader.corrupt("invalid range of app versions", at: begin) }
  }

  /// A bound of a range. Only the canonical text of a version is accepted.
  private struct Bound {
    let version: AppVersion?

    init?(_ text: String) {
      version = text.isEmpty ? nil : try? AppVersion(text)
      guard (version?.description ?? "") == text else { return nil }
    }
  }
}

extension SiteRoot.Delta {
  /// The valid sizes of a delta's header in bytes. The shortest header has a pack name of one character, and no blocks.
  package static let headerByteCounts = 173...64 << 20

  fileprivate init(from reader: inout ByteReader) throws {
    let begin = reader.offset
    from = CatalogID(digest: try reader.digest())
    to = CatalogID(digest: try reader.digest())
    header = try reader.digest()
    headerByteCount = try reader.integer()
    byteCount = try reader.integer()
    guard from != to, Self.headerByteCounts ~= Int(headerByteCount),
      UInt64(headerByteCount)...(1 << 56 - 1) ~= byteCount
    else { throw reader.corrupt("invalid delta entry", at: begin) }
  }
}
