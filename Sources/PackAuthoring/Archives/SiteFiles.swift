import PackFormats
import PackStore

/// The files of a site at a path the user gave: a folder or an archive.
enum SiteFiles {
  case folder(SiteFolder)
  case archive(InputFile, ArchiveIndex)

  private static let bufferByteCount = 1 << 20

  /// - Throws: `notFound`; `corrupt` if a file is not an archive.
  init(at path: FilePath) throws {
    if isFolder(path) {
      self = .folder(SiteFolder(path: path))
    } else {
      let file = try InputFile(path)
      let index = try ArchiveIndex(byteCount: try file.byteCount, file: path.string) { offset, count in
        try file.bytes(at: offset, upTo: count)
      }
      self = .archive(file, index)
    }
  }

  /// Returns the packager's note of an archive.
  func packagerNote() throws -> [UInt8]? {
    guard case .archive(let file, let index) = self, let member = index.packager else { return nil }
    return try file.bytes(at: member.offset, upTo: Int(min(member.byteCount, UInt64(PackagerNote.byteCountLimit))))
  }

  /// Reads the signed root; in a folder, the root of a channel.
  ///
  /// - Throws: `notFound`, `untrusted` for a wrong signature, `corrupt`.
  func readRoot(of channel: SiteChannel) throws -> SignedSiteRoot {
    let path: SitePath = if case .folder = self { .root(channel) } else { .root(.live) }
    return try SignedSiteRoot(decoding: try read(path, limit: SiteRoot.byteCountLimit), file: name(of: path))
  }

  func read(_ path: SitePath, limit: Int) throws -> [UInt8] {
    let (file, offset, byteCount) = try locate(path)
    guard byteCount <= UInt64(limit) else {
      throw PackStoreError(.corrupt, "is too long", file: name(of: path))
    }
    return try file.bytes(at: offset, upTo: Int(byteCount))
  }

  /// Reads a range of a file.
  ///
  /// - Throws: `corrupt` if the file is too short.
  func read(_ path: SitePath, at offset: UInt64, byteCount: Int) throws -> [UInt8] {
    let (file, begin, found) = try locate(path)
    guard offset <= found, UInt64(byteCount) <= found - offset else {
      throw PackStoreError(.corrupt, "is shorter than the site records", file: name(of: path))
    }
    let bytes = try file.bytes(at: begin.addingClamped(offset), upTo: byteCount)
    guard bytes.count == byteCount else {
      throw PackStoreError(.sourceChanged, "truncated while it was read", file: name(of: path))
    }
    return bytes
  }

  /// Copies a file that must have the given length.
  func copy(_ path: SitePath, byteCount: UInt64, to place: FilePlace) throws {
    let (file, offset, found) = try locate(path)
    guard found == byteCount else {
      throw PackStoreError(.corrupt, "the length differs from the length in the site's root", file: name(of: path))
    }
    let output = try NewFile(place)
    var done: UInt64 = 0
    while done < byteCount {
      try Task.checkCancellation()
      let bytes = try file.bytes(
        at: offset.addingClamped(done), upTo: Int(min(byteCount - done, UInt64(Self.bufferByteCount))))
      guard !bytes.isEmpty else {
        throw PackStoreError(.sourceChanged, "truncated while it was read", file: name(of: path))
      }
      try output.write(bytes)
      done += UInt64(bytes.count)
    }
  }

  private func locate(_ path: SitePath) throws -> (InputFile, offset: UInt64, byteCount: UInt64) {
    switch self {
    case .folder(let folder):
      let file = try folder.open(path)
      return (file, 0, try file.byteCount)
    case .archive(let file, let index):
      guard let member = index.members[path] else {
        throw PackStoreError(.corrupt, "missing in the archive", file: name(of: path))
      }
      return (file, member.offset, member.byteCount)
    }
  }

  func name(of path: SitePath) -> String {
    switch self {
    case .folder(let folder): folder.path.appending(path.description).string
    case .archive(let file, _): "\(path) in \(file.place.text)"
    }
  }
}
