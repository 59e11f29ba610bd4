import PackStore

/// Where the files of a site lie in an archive: a tar file of plain files, each named as in a site.
///
/// The archive is hostile: nothing is believed but that a member lies within the file. What its bytes are worth, the
/// signature of the root and the digests that it leads to say.
package struct ArchiveIndex: Sendable {
  /// The bytes of a file of the site, within the archive.
  package struct Member: Hashable, Sendable {
    package let offset: UInt64
    package let byteCount: UInt64
  }

  package private(set) var members: [SitePath: Member] = [:]

  /// What a packager said of how it made the archive, which nothing vouches for.
  package private(set) var packager: Member?

  /// The name of that member, which is no file of a site.
  package static let packagerName = "packager"

  /// More than any archive needs: two files for each segment of a version, and a few more.
  private static let memberLimit = 2 * (VersionManifest.byteCountLimit / 64) + 1_000

  /// Reads the headers of all members, and nothing else.
  ///
  /// - Parameters:
  ///   - byteCount: of the whole file.
  ///   - file: what errors name.
  ///   - read: gives the bytes of the file at an offset; it is asked for no others than the file has.
  /// - Throws: `corrupt` when it is no archive; what `read` throws.
  /// - Complexity: O(*n*) in members.
  package init(
    byteCount: UInt64, file: String, read: (_ offset: UInt64, _ count: Int) throws -> [UInt8]
  ) throws {
    var offset: UInt64 = 0
    while let header = try Self.header(at: offset, byteCount, file, read) {
      let begin = offset + UInt64(TarHeader.byteCount)
      guard let length = TarHeader.paddedByteCount(header.byteCount), length <= byteCount - begin else {
        throw Self.corrupt("a file of the archive goes on beyond its end", file, offset)
      }
      let member = Member(offset: begin, byteCount: header.byteCount)
      guard try add(member, header.name, file, offset) == nil else {
        throw Self.corrupt("the archive has a file twice", file, offset)
      }
      guard members.count <= Self.memberLimit else {
        throw Self.corrupt("the archive has too many files", file, offset)
      }
      offset = begin + length
    }
    guard members[.root(.live)] != nil else { throw Self.corrupt("the archive has no root", file, 0) }
  }

  /// - Returns: the member that had the name before.
  private mutating func add(_ member: Member, _ name: String, _ file: String, _ offset: UInt64) throws -> Member? {
    if name == Self.packagerName {
      defer { packager = member }
      return packager
    }
    guard let path = SitePath(name) else {
      throw Self.corrupt("the archive has a file that no site has", file, offset)
    }
    return members.updateValue(member, forKey: path)
  }

  /// The header at `offset`, or nil at the two blocks of zeros that end an archive. What follows them means nothing.
  private static func header(
    at offset: UInt64, _ byteCount: UInt64, _ file: String, _ read: (UInt64, Int) throws -> [UInt8]
  ) throws -> TarHeader? {
    let end = UInt64(2 * TarHeader.byteCount)
    // Whatever follows a header, its file ends with two blocks.
    guard offset <= byteCount, byteCount - offset >= end else {
      throw corrupt("the archive ends too early", file, offset)
    }
    let bytes = try read(offset, 2 * TarHeader.byteCount)
    guard bytes.count == 2 * TarHeader.byteCount else { throw corrupt("the archive ends too early", file, offset) }
    if bytes.allSatisfy({ $0 == 0 }) { return nil }
    guard let header = TarHeader(decoding: bytes.prefix(TarHeader.byteCount)) else {
      throw corrupt(offset == 0 ? "this is no archive of a pack" : "the archive is damaged", file, offset)
    }
    return header
  }

  private static func corrupt(_ reason: String, _ file: String, _ offset: UInt64) -> PackStoreError {
    var error = PackStoreError(.corrupt, reason, file: file)
    error.offset = offset
    error.specificRemedy = "fetch it again; if it stays so, its publisher has to make it again"
    return error
  }
}
