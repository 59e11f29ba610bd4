import PackStore

/// The attributes of many versions in one file of a site, so that clients need not ask for each: named by its SHA-256, which
/// the root says.
package struct AttributeSheet: Sendable {
  /// In canonical form, by their SHA-256. Taken apart one by one, when they are asked for: a sheet may be long.
  private let texts: [Digest256: ArraySlice<UInt8>]

  /// How many bytes a sheet may have.
  package static let byteCounts = 16...64 << 20

  /// The most attributes on it: as many offers as a root has room for.
  package static let countLimit = SiteRoot.byteCountLimit / 128

  private static let magic: StaticString = "PKSATTR0"

  package init(_ attributes: some Sequence<Attributes>) {
    texts = Dictionary(attributes.map { ($0.digest, $0.canonicalBytes[...]) }) { first, _ in first }
  }

  /// The SHA-256 of all that are on it.
  package var digests: Dictionary<Digest256, ArraySlice<UInt8>>.Keys { texts.keys }

  /// Those of a SHA-256; nil when they are not on the sheet.
  ///
  /// - Throws: `corrupt` when these bytes are no attributes.
  package func attributes(_ digest: Digest256) throws -> Attributes? {
    try texts[digest].map(Attributes.init(canonical:))
  }

  /// The file: the same for the same attributes.
  ///
  /// - Throws: `invalidArgument` when there is more than clients would read.
  package func encode() throws -> [UInt8] {
    var writer = ByteWriter()
    writer.append(Self.magic.withUTF8Buffer(Array.init))
    writer.append(SiteFormat.current)
    writer.append(UInt32(clamping: texts.count))
    for (_, text) in texts.sorted(by: { $0.key < $1.key }) {
      writer.append(UInt32(text.count))
      writer.append(text)
    }
    guard Self.byteCounts ~= writer.bytes.count, texts.count <= Self.countLimit else {
      throw PackStoreError(.invalidArgument, "a site has no room for the attributes of so many versions")
    }
    return writer.bytes
  }

  /// Takes bytes from outside apart.
  ///
  /// - Parameter file: what errors name.
  /// - Throws: `corrupt`, `newerFormat`, `otherDraft`.
  package init(decoding bytes: [UInt8], file: String) throws {
    var reader = ByteReader(bytes[...], file: file)
    guard bytes.count <= Self.byteCounts.upperBound else { throw reader.corrupt("the sheet of attributes is too long") }
    try reader.header(Self.magic)
    let count = try reader.count(limit: Self.countLimit, byteCount: 6, "too many attributes")
    var texts: [Digest256: ArraySlice<UInt8>] = [:]
    var last: Digest256?
    for _ in 0..<count {
      let begin = reader.offset
      let byteCount = Int(try reader.integer(UInt32.self))
      guard 1...Attributes.byteCountLimit ~= byteCount else {
        throw reader.corrupt("these are no attributes", at: begin)
      }
      let text = try reader.take(byteCount)
      let digest = Digest256(hashing: Array(text))
      if let last, last >= digest { throw reader.corrupt("attributes are out of order", at: begin) }
      last = digest
      texts[digest] = text
    }
    try reader.end()
    self.texts = texts
  }
}

extension SiteRoot.Sheet {
  /// Checks that bytes are the sheet that the root means, and takes them apart.
  ///
  /// - Throws: `corrupt`, `newerFormat`, `otherDraft`.
  package func open(_ bytes: [UInt8]) throws -> AttributeSheet {
    let file = SitePath.sheet(digest).description
    guard bytes.count == Int(byteCount), Digest256(hashing: bytes) == digest else {
      throw ByteReader(bytes[...], file: file).corrupt("the file is not what the site's root names")
    }
    return try AttributeSheet(decoding: bytes, file: file)
  }
}
