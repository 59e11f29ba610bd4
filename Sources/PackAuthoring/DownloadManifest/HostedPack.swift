import PackArchives
import PackFormats
public import PackStore

/// The facts about a pack for a download manifest, read from its archive.
public struct HostedPack: Sendable {
  /// The pack's name. The name of an Apple asset pack may be invalid in PackStore.
  public let id: String

  /// The version; `nil` if the archive does not contain a version, as in Apple's asset packs.
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
  ///   - temporaryFolder: a folder with space for the contents of an Apple asset pack.
  /// - Throws: `notFound`; `corrupt`; `untrusted` for a wrong signature; `refused` for another kind of file.
  public init(archive path: FilePath, temporaryFolder: FilePath = "/tmp") throws {
    let file = try InputFile(path)
    byteCount = try file.byteCount
    if PackFileKind(path) == .archive {
      let archive = try SignedArchive(at: path)
      (id, version, archiveDigest) = (archive.pack.id.name, archive.offer.number, nil)
      attributes = try archive.files.attributes(of: archive.offer, in: archive.signed.root)
    } else {
      let manifest = try Self.readManifest(of: path, temporaryFolder)
      (id, version, archiveDigest) = (manifest.assetPackID, nil, try Self.digest(of: file))
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
