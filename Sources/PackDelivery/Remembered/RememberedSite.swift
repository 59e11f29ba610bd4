import PackFormats
import PackStore

/// A store's copy of a channel's last root and its attribute sheets, so that a pull without news is one short request.
///
/// It implies no trust: a remembered root is judged again like a new one.
package struct RememberedSite: Hashable, Sendable {
  /// The root, as received.
  package let root: [UInt8]

  /// `nil`: the root cannot be requested conditionally.
  package let validators: FileValidators?

  /// The sheets that were read, in the root's order.
  package let sheets: [[UInt8]]

  /// The maximum size of a file in bytes. Sheets that do not fit are read again from the site.
  package static let byteCountLimit = 32 << 20

  private static let magic: StaticString = "PKSSITE0"

  /// More than the size of everything except the root and the sheets.
  private static let otherByteCountLimit = 4096

  package init(root: [UInt8], validators: FileValidators?, sheets: [[UInt8]]) {
    self.root = root
    self.validators = validators
    var room = Self.byteCountLimit - Self.otherByteCountLimit - root.count
    self.sheets = sheets.prefix(SiteRoot.sheetLimit).filter { sheet in
      guard sheet.count <= room else { return false }
      room -= sheet.count
      return true
    }
  }

  package func encode() -> [UInt8] {
    var writer = ByteWriter()
    writer.append(Self.magic.withUTF8Buffer(Array.init))
    writer.append(SiteFormat.current)
    writer.append(text: validators?.tag ?? "")
    writer.append(text: validators?.changedAt ?? "")
    writer.append(file: root)
    writer.append(UInt32(clamping: sheets.count))
    for sheet in sheets { writer.append(file: sheet) }
    writer.append(Digest256(hashing: writer.bytes).bytes)
    return writer.bytes
  }

  /// Decodes the bytes of a file.
  ///
  /// - Parameter file: the name for errors.
  /// - Throws: `corrupt`, `newerFormat`, `otherDraft`.
  package init(decoding bytes: [UInt8], file: String) throws {
    let content = bytes.dropLast(Digest256.byteCount)
    var reader = ByteReader(content, file: file)
    guard bytes.count <= Self.byteCountLimit else { throw reader.corrupt("the file is too long") }
    try reader.header(Self.magic)
    var end = ByteReader(bytes.suffix(Digest256.byteCount), file: file)
    guard try end.digest() == Digest256(hashing: Array(content)) else { throw reader.corrupt("the file is damaged") }
    validators = try reader.validators()
    root = try reader.file(1...SiteRoot.byteCountLimit)
    let sheetCount = try reader.count(
      limit: SiteRoot.sheetLimit, byteCount: AttributeSheet.byteCounts.lowerBound, "too many sheets of attributes")
    var sheets: [[UInt8]] = []
    for _ in 0..<sheetCount { sheets.append(try reader.file(AttributeSheet.byteCounts)) }
    self.sheets = sheets
    try reader.end()
  }
}

extension ByteWriter {
  fileprivate mutating func append(file bytes: [UInt8]) {
    append(UInt32(clamping: bytes.count))
    append(bytes)
  }
}

extension ByteReader {
  /// Reads a file of a site: its length, then its bytes.
  fileprivate mutating func file(_ byteCounts: ClosedRange<Int>) throws -> [UInt8] {
    let begin = offset
    let byteCount = Int(try integer(UInt32.self))
    guard byteCounts ~= byteCount else { throw corrupt("no such file of a site has this length", at: begin) }
    return Array(try take(byteCount))
  }

  /// Reads two texts, each of which may be empty.
  fileprivate mutating func validators() throws -> FileValidators? {
    let begin = offset
    let tag = try text(limit: FileValidators.byteCountLimit, "no tag is this long") { $0 }
    let changedAt = try text(limit: FileValidators.byteCountLimit, "no time is this long") { $0 }
    guard !tag.isEmpty || !changedAt.isEmpty else { return nil }
    let validators = FileValidators(
      tag: tag.isEmpty ? nil : tag, changedAt: changedAt.isEmpty ? nil : changedAt)
    guard let validators else { throw corrupt("no server names a state of a file like this", at: begin) }
    return validators
  }
}
