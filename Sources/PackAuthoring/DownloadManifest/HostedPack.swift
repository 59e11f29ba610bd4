import PackFormats
public import PackStore

/// What a download manifest says of a pack, as its archive says it.
public struct HostedPack: Sendable {
  /// The pack's name; that of an asset pack of Apple's need not be one that packs here can have.
  public let id: String

  /// Nil where the archive says none: an asset pack of Apple's does not know its own.
  public let version: UInt64?

  /// Of the archive.
  public let byteCount: UInt64

  public let attributes: Attributes

  /// The SHA-256 of an archive that says no version: what tells it from another of its length.
  let archiveDigest: Digest256?

  /// Reads an archive that `package` or `export` made, or an asset pack of Apple's.
  ///
  /// - Parameters:
  ///   - path: the file.
  ///   - temporaryFolder: where there is room for what an asset pack of Apple's holds.
  /// - Throws: `notFound`; `corrupt`, `untrusted` for a wrong signature, `refused` for what is no such archive.
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
  /// What a version says besides its content.
  ///
  /// - Throws: `corrupt` when no sheet of the root has it.
  fileprivate func attributes(of offer: SiteRoot.Offer, in root: SiteRoot) throws -> Attributes {
    guard let digest = offer.attributes else { return try Attributes() }
    for sheet in root.sheets {
      let bytes = try read(.sheet(sheet.digest), limit: Int(sheet.byteCount))
      if let attributes = try sheet.open(bytes).attributes(digest) { return attributes }
    }
    throw PackStoreError(.corrupt, "lacks the attributes of the version", file: name(of: .root(root.channel)))
  }
}
