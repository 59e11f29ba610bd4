import PackArchives
import PackFormats
public import PackStore

/// The facts about a pack for a download manifest, read from its archive.
public struct HostedPack: Sendable {
  /// The pack's name. The name of an Apple asset pack may be invalid in PackStore.
  public let id: String

  /// The version in the archive, or the version given for an archive that contains none, such as an Apple asset pack; `nil` if
  /// neither exists.
  public let version: UInt64?

  /// The size of the archive.
  public let byteCount: UInt64

  public let attributes: Attributes

  /// The SHA-256 of an archive without a version number, which distinguishes it from other archives of the same length.
  let archiveDigest: Digest256?

  /// Reads an archive made by `package` or `export`, or an Apple asset pack.
  ///
  /// - Parameters:
  ///   - path: the file.
  ///   - version: the version of an archive that contains none; `nil`: none is known.
  ///   - temporaryFolder: a folder with space for the contents of an Apple asset pack.
  /// - Throws: `notFound`; `corrupt`, `untrusted` for a wrong signature, `refused` if it is not such an archive; `invalidArgument` for
  ///   an invalid version, or another one than the archive contains.
  public init(archive path: FilePath, version: UInt64? = nil, temporaryFolder: FilePath = "/tmp") throws {
    if let version, !(1...PackVersion.lastNumber ~= version) {
      throw PackStoreError(
        .invalidArgument, "\(version) is not in 1 to \(PackVersion.lastNumber)", about: .parameter("version"))
    }
    let file = try InputFile(path)
    byteCount = try file.byteCount
    if PackFileKind(path) == .archive {
      let archive = try SignedArchive(at: path)
      let number = archive.offer.number
      guard version == nil || version == number else {
        throw PackStoreError(.invalidArgument, "the archive contains version \(number)", file: path.string)
      }
      (id, self.version, archiveDigest) = (archive.pack.id.name, number, nil)
      attributes = try archive.files.attributes(of: archive.offer, in: archive.signed.root)
    } else {
      let manifest = try Self.readManifest(of: path, temporaryFolder)
      (id, self.version, archiveDigest) = (manifest.assetPackID, version, try Self.digest(of: file))
      attributes = try manifest.attributes ?? Attributes()
    }
  }

  private static func digest(of file: InputFile) throws -> Digest256 {
    var digest = DigestBuilder()
    var offset: UInt64 = 0
    while true {
      let bytes = try file.bytes(at: offset, upTo: 1 << 20)
      guard !bytes.isEmpty else { return digest.finish() }
      bytes.withUnsafeBytes { digest.update($0) }
      offset += UInt64(bytes.count)
    }
  }

  private static func readManifest(of path: FilePath, _ temporaryFolder: FilePath) throws -> AssetPackManifest {
    let archive = try ForeignArchive(path)
    let folder = try makeTemporaryFolder(in: temporaryFolder)
    defer { removeTree(folder) }
    guard let manifest = try archive.unpackForInstall(into: folder).manifest else {
      throw PackStoreError(.refused, "not an asset pack: the archive does not name its pack", file: path.string)
    }
    return manifest
  }
}

extension SiteFiles {
  /// Returns the attributes of an offer.
  ///
  /// - Throws: `corrupt` if no sheet of the root contains them.
  fileprivate func attributes(of offer: SiteRoot.Offer, in root: SiteRoot) throws -> Attributes {
    guard let digest = offer.attributes else { return try Attributes() }
    for sheet in root.sheets {
      let bytes = try read(.sheet(sheet.digest), limit: Int(sheet.byteCount))
      if let attributes = try sheet.open(bytes).attributes(digest) { return attributes }
    }
    throw PackStoreError(.corrupt, "lacks the attributes of the version", file: name(of: .root(root.channel)))
  }
}
