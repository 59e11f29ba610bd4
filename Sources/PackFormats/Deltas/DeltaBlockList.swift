import PackStore

/// The blocks of a delta that follow its header, each with its SHA-256 (`Docs/FORMAT.md`, section 23).
///
/// A short delta has its blocks in the header, so its list is empty.
package struct DeltaBlockList: Hashable, Sendable {
  package struct Block: Hashable, Sendable {
    /// Bytes from the beginning of the file.
    package let offset: UInt64
    package let byteCount: Int
    package let digest: Digest256
  }

  package private(set) var blocks: [Block] = []

  /// Where the last block ends in the file; the length of the header if no block follows it.
  package private(set) var endOffset: UInt64

  private static let magic = Array("PKSDELT0".utf8)
  private static let shortMagic = Array("PKSDELT1".utf8)

  /// The offset in the header of the numbers of parts and groups, and the size of each row.
  private static let countsOffset = 148
  private static let rowByteCount = 40

  /// Whether a file with these first bytes is a delta, of either form.
  package static func isDelta(start bytes: [UInt8]) -> Bool {
    bytes.starts(with: magic) || bytes.starts(with: shortMagic)
  }

  /// Reads the list of a header whose SHA-256 was checked.
  ///
  /// - Parameter file: the name of the file for errors.
  /// - Throws: `corrupt` if the header is too short for its rows.
  package init(header: [UInt8], file: String) throws {
    endOffset = UInt64(header.count)
    guard !header.starts(with: Self.shortMagic) else { return }
    var reader = ByteReader(header[...], file: file)
    _ = try reader.take(Self.countsOffset)
    let count = Int(try reader.integer(UInt32.self)) + Int(try reader.integer(UInt32.self))
    guard count <= reader.remaining / Self.rowByteCount else { throw reader.corrupt("too many blocks") }
    _ = try reader.take(reader.remaining - count * Self.rowByteCount)
    for _ in 0..<count {
      let byteCount = Int(try reader.integer(UInt32.self))
      _ = try reader.integer(UInt32.self)  // the raw length
      blocks.append(Block(offset: endOffset, byteCount: byteCount, digest: try reader.digest()))
      endOffset = endOffset.addingClamped(UInt64(byteCount))
    }
  }
}
