@testable import PackFormats
@testable import PackStore

/// Files of a site with something in each field.
enum SiteFormatSamples {
  static func digest(_ byte: UInt8) -> Digest256 { Digest256(hashing: [byte]) }

  static func catalog(_ byte: UInt8) -> CatalogID { CatalogID(digest: digest(byte)) }

  static func id(_ byte: UInt8) -> ID128 { ID128(copying: digest(byte).bytes.prefix(16)) }

  static var manifest: VersionManifest {
    VersionManifest(
      pack: "Tutorial", number: 3, catalog: catalog(1), layout: digest(2), attributes: digest(3), committedAt: -5,
      fileCount: 6,
      linkCount: 7, folderCount: 8, byteCount: 9,
      segments: [
        .init(id: SegmentID(id(10)), kind: .data, byteCount: 1 << 40, table: digest(11), tableByteCount: 12_345),
        .init(id: SegmentID(id(13)), kind: .metadata, byteCount: 1, table: digest(14), tableByteCount: 48),
      ]
    )
  }

  static var root: SiteRoot {
    SiteRoot(
      sequence: 17, madeAt: 1_700_000_000_000_000_000, expiresAfter: 100_000_000_000_000_000, site: SiteID(id(20)),
      product: .standard, primaryLanguage: try! LanguageTag("en-US"),
      sheets: [.init(digest: digest(31), byteCount: 700)],
      packs: [
        .init(id: "A", priority: -3, offers: [offer(1, 21)], deltas: []),
        .init(
          id: "B", priority: 7, offers: [offer(2, 22), offer(3, 23)],
          deltas: [
            .init(
              from: catalog(23), to: catalog(22), header: digest(24), headerByteCount: 500, byteCount: 1 << 33)
          ]),
      ], highest: ["A": .init(number: 1, epoch: 0), "B": .init(number: 4, epoch: 6)])
  }

  /// The offer of version 3 has a value in each field.
  private static func offer(_ number: UInt64, _ byte: UInt8) -> SiteRoot.Offer {
    var offer = SiteRoot.Offer(
      number: number, catalog: catalog(byte), manifest: digest(byte + 100), manifestByteCount: 1_000)
    guard number == 3 else { return offer }
    offer.epoch = 5
    offer.attributes = digest(32)
    offer.downloadByteCount = 1 << 34
    offer.share = 500
    offer.appVersions = try! AppVersionRange("2.0..<3")
    return offer
  }
}

extension [UInt8] {
  /// A copy with `integer` at `offset`.
  func putting(_ integer: some FixedWidthInteger, at offset: Int) -> [UInt8] {
    var writer = ByteWriter()
    writer.append(integer)
    return putting(writer.bytes, at: offset)
  }

  func putting(_ bytes: [UInt8], at offset: Int) -> [UInt8] {
    var copy = self
    copy.replaceSubrange(offset..<offset + bytes.count, with: bytes)
    return copy
  }
}

/// The code of the error that `body` throws, and where it is.
func failure(_ body: () throws -> Void) -> (code: PackStoreError.Code, offset: UInt64?)? {
  do {
    try body()
    return nil
  } catch {
    return (error as? PackStoreError).map { ($0.code, $0.offset) }
  }
}
