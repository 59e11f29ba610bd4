import PackFormats
import PackStore

/// An existing file at the path of a new archive.
enum PresentFile {
  case none
  /// An archive of the key's publisher.
  case archive(product: Store.Product, VersionManifest, byteCount: UInt64)
  /// Any other file.
  case other

  init(at path: FilePath, signedBy key: SiteKey) throws {
    guard pathExists(path) else {
      self = .none
      return
    }
    self = (try? Self.read(path, key)) ?? .other
  }

  private static func read(_ path: FilePath, _ key: SiteKey) throws -> PresentFile {
    guard !isFolder(path) else { return .other }
    let archive = try SignedArchive(at: path)
    guard archive.signed.authority?.firstKey == key.firstKey else { return .other }
    return .archive(
      product: archive.signed.root.product, archive.manifest, byteCount: try InputFile(path).byteCount)
  }

  /// Fails before any work, unless the file may be the archive to create.
  ///
  /// - Throws: `exists`.
  func require(_ number: UInt64, of pack: PackID, _ product: Store.Product, at path: FilePath) throws {
    switch self {
    case .none: return
    case .other: throw Self.exists("'\(path)' already exists", path)
    case .archive(let presentProduct, let manifest, _):
      guard manifest.pack == pack, manifest.number == number, presentProduct == product else {
        throw Self.exists("'\(path)' already exists, with \(manifest.pack)@\(manifest.number)", path)
      }
    }
  }

  /// Whether the file is an archive of this version, regardless of its bytes.
  func holds(_ version: PackVersion) -> Bool {
    guard case .archive(_, let manifest, _) = self else { return false }
    return manifest.pack == version.pack && manifest.number == version.number && manifest.catalog == version.catalog
      && manifest.attributes == version.attributesDigest
  }

  var byteCount: UInt64 { if case .archive(_, _, let byteCount) = self { byteCount } else { 0 } }

  /// Checks that the file is not an archive with the new version's number and other content.
  ///
  /// - Throws: `exists`.
  func requireNone(at path: FilePath) throws {
    guard case .archive(_, let manifest, _) = self else { return }
    var error = Self.exists(
      "contains \(manifest.pack)@\(manifest.number) with other content or attributes", path)
    error.specificRemedy = "give the new content a higher version number or another file"
    throw error
  }

  private static func exists(_ reason: String, _ path: FilePath) -> PackStoreError {
    PackStoreError(.exists, reason, file: path.string)
  }
}
