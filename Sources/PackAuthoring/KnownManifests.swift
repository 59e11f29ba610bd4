import PackStore

/// The manifests that lie in a site's folder, whatever leads to them.
struct KnownManifests {
  private var manifests: [CatalogID: [VersionManifest]] = [:]

  /// Reads all that are what their names say. Others are made again when they are needed.
  init(in folder: SiteFolder) {
    for file in (try? folder.manifests()) ?? [] {
      guard case .version(let digest) = file,
        let bytes = try? folder.read(file, limit: VersionManifest.byteCountLimit), Digest256(hashing: bytes) == digest,
        let manifest = try? VersionManifest(decoding: bytes, file: file.description)
      else { continue }
      manifests[manifest.catalog, default: []].append(manifest)
    }
  }

  /// That of a version as it lies now.
  func manifest(of version: PackVersion) -> VersionManifest? {
    manifests[version.catalog]?.first { $0.describes(version) }
  }

  /// The files of versions, as far as they are described, and how long they are.
  func files(of versions: [PackVersion]) throws -> [SitePath: UInt64] {
    var files: [SitePath: UInt64] = [:]
    for version in versions {
      guard let manifest = manifest(of: version) else { continue }
      let bytes = try manifest.encode()
      files[.version(Digest256(hashing: bytes))] = UInt64(bytes.count)
      files.merge(manifest.files) { first, _ in first }
    }
    return files
  }
}
