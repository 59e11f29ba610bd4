import PackFormats
import PackStore

/// Manifests for the next round of a pull. Together they take little memory; a manifest in use may take more.
struct ManifestCache {
  /// The most bytes of all manifest files. Decoded manifests take about twice as much.
  static let byteLimit = 4 << 20

  private var entries: [Digest256: (manifest: VersionManifest, byteCount: Int)] = [:]
  private(set) var byteCount = 0

  subscript(_ digest: Digest256) -> VersionManifest? { entries[digest]?.manifest }

  mutating func keep(_ manifest: VersionManifest, _ digest: Digest256, byteCount: Int) {
    release(digest)
    guard entries[digest] == nil else { return }
    entries[digest] = (manifest, byteCount)
    self.byteCount += byteCount
  }

  /// Drops a manifest if all of them take too much.
  mutating func release(_ digest: Digest256) {
    guard byteCount > Self.byteLimit, let entry = entries.removeValue(forKey: digest) else { return }
    byteCount -= entry.byteCount
  }
}
