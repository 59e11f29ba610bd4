import PackStore

/// The positions of a site's files in an archive: a tar file of regular files, each with its path in the site.
///
/// The archive is untrusted. The index guarantees only that each member is within the file; the root's signature and the digests
/// that follow from it verify the bytes.
package struct ArchiveIndex: Sendable {
  /// The bytes of a file of the site, within the archive.
  package struct Member: Hashable, Sendable {
    package let offset: UInt64
    package let byteCount: UInt64
  }

  package private(set) var members: [SitePath: Member] = [:]

  /// The packager's record of how it created the archive, which is not signed.
  package private(set) var packager: Member?

  /// The name of the packager's member, which is not a path of a site.
  package static let packagerName = "packager"

  /// An upper bound for the members of an archive: two for each segment of a version, and a few more.
  private static let memberLimit = 2 * (VersionManifest.byteCountLimit / 64) + 1_000

  /// Reads the headers of all members, but not their contents.
  ///
  /// - Parameters:
  ///   - byteCount: the size of the whole file.
  ///   - file: the file name for errors.
  ///   - read: returns the bytes of the file at an offset. All requested bytes are within `byteCount`.
  /// - Throws: `corrupt` if the file is not a valid archive; the errors of `read`.
  /// - Complexity: O(*n*) in the number of members.
  package init(
    byteCount: UInt64, file: String, read: (_ offset: UInt64, _ count: Int) throws -> [UInt8]
  ) throws {
    var offset: UInt64 = 0
    while let header = try Self.header(at: offset, byteCount, file, read) {
      let begin = offset + UInt64(TarHeader.byteCount)
      guard let length = TarHeader.paddedByteCount(header.byteCount), length <= byteCount - begin else {
        throw Self.corrupt("member extends beyond the end of the archive", file, offset)
      }
      let member = Member(offset: begin, byteCount: header.byteCount)
      guard try add(member, header.name, file, offset) == nil else {
        throw Self.corrupt("duplicate member", file, offset)
      }
      guard members.count <= Self.memberLimit else {
        throw Self.corrupt("too many members", file, offset)
      }
      offset = begin + length
    }
    guard members[.root(.live)] != nil else { throw Self.corrupt("missing root", file, 0) }
  }

  /// Adds a member.
  ///
  /// - Returns: the earlier member with the same name; `nil` if none exists.
  private mutating func add(_ member: Member, _ name: String, _ file: String, _ offset: UInt64) throws -> Member? {
    if name == Self.packagerName {
      defer { packager = member }
      return packager
    }
    guard let path = SitePath(name) else {
      throw Self.corrupt("invalid member name", file, offset)
    }
    return members.updateValue(member, forKey: path)
  }

  /// Returns the header at `offset`; `nil` at the two blocks of zeros that end an archive. Any bytes after them are ignored.
  private static func header(
    at offset: UInt64, _ byteCount: UInt64, _ file: String, _ read: (UInt64, Int) throws -> [UInt8]
  ) throws -> TarHeader? {
    let end = UInt64(2 * TarHeader.byteCount)
    // At least the two final blocks follow.
    guard offset <= byteCount, byteCount - offset >= end else {
      throw corrupt("unexpected end of archive", file, offset)
    }
    let bytes = try read(offset, 2 * TarHeader.byteCount)
    guard bytes.count == 2 * TarHeader.byteCount else { throw corrupt("unexpected end of archive", file, offset) }
    if bytes.allSatisfy({ $0 == 0 }) { return nil }
    guard let header = TarHeader(decoding: bytes.prefix(TarHeader.byteCount)) else {
      throw corrupt(offset == 0 ? "missing archive header" : "invalid archive header", file, offset)
    }
    return header
  }

  private static func corrupt(_ reason: String, _ file: String, _ offset: UInt64) -> PackStoreError {
    var error = PackStoreError(.corrupt, reason, file: file)
    error.offset = offset
    error.specificRemedy = "download it again; if the error persists, its publisher must create it again"
    return error
  }
}
