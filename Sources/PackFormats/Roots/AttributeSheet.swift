import PackStore

/// The attributes of many versions in one file of a site, so that clients need not request each separately. The file name is its
/// SHA-256, which the root contains.
package struct AttributeSheet: Sendable {
  /// Attributes in canonical form, by their SHA-256. Each is decoded only on request, because a sheet may be long.
  private let texts: [Digest256: ArraySlice<UInt8>]

  /// The valid sizes of a sheet in bytes.
  package static let byteCounts = 16...64 << 20

  /// The maximum number of attributes on a sheet: the number of offers for which a root has space.
  package static let countLimit = SiteRoot.byteCountLimit / 128

  private static let magic: StaticString = "PKSATTR0"

  package init(_ attributes: some Sequence<Attributes>) {
    texts = Dictionary(attributes.map { ($0.digest, $0.canonicalBytes[...]) }) { first, _ in first }
  }

  /// The SHA-256 of every entry of the sheet.
  package var digests: Dictionary<Digest256, ArraySlice<UInt8>>.Keys { texts.keys }

  /// Returns the attributes with this SHA-256; `nil` if the sheet does not contain them.
  ///
  /// - Throws: `corrupt` if the bytes are not valid attributes.
  package func attributes(_ digest: Digest256) throws -> Attributes? {
    try texts[digest].map(Attributes.init(canonical:))
  }

  /// Returns the bytes of the file. Equal attributes give equal bytes.
  ///
  /// - Throws: `invalidArgument` if the sheet exceeds a limit of clients.
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
      throw PackStoreError(.invalidArgument, "too many versions with attributes for a site", detail: .limit)
    }
    return writer.bytes
  }

  /// Decodes an untrusted sheet.
  ///
  /// - Parameter file: the file name for errors.
  /// - Throws: `corrupt`, `newerFormat`, `otherDraft`.
  package init(decoding bytes: [UInt8], file: String) throws {
    var reader = ByteReader(bytes[...], file: file)
    guard bytes.count <= Self.byteCounts.upperBound else { throw reader.corrupt("attribute sheet is too long") }
    try reader.header(Self.magic)
    let count = try reader.count(limit: Self.countLimit, byteCount: 6, "too many attributes")
    var texts: [Digest256: ArraySlice<UInt8>] = [:]
    var last: Digest256?
    for _ in 0..<count {
      let begin = reader.offset
      let byteCount = Int(try reader.integer(UInt32.self))
      guard 1...Attributes.byteCountLimit ~= byteCount else {
        throw reader.corrupt("invalid length of attributes", at: begin)
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
  /// Checks the length and SHA-256 of a sheet against the root, and decodes the sheet.
  ///
  /// - Throws: `corrupt`, `newerFormat`, `otherDraft`.
  package func open(_ bytes: [UInt8]) throws -> AttributeSheet {
    let file = SitePath.sheet(digest).description
    guard bytes.count == Int(byteCount), Digest256(hashing: bytes) == digest else {
      throw ByteReader(bytes[...], file: file).corrupt("length or checksum mismatch")
    }
    return try AttributeSheet(decoding: bytes, file: file)
  }
}
