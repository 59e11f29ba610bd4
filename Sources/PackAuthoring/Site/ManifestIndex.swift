import PackFormats
import PackStore

/// The manifests in a site's folder, and the frame tables that were found. Each is checked only once per change.
struct ManifestIndex {
  private var manifests: [CatalogID: [VersionManifest]] = [:]

  /// Manifests with a missing file: only their descriptions of segments are used.
  private var incomplete: [VersionManifest] = []
  private var tables: Set<SegmentID> = []

  /// Whether the store was created from these manifests. Its layouts then have equal contents but other ids, because they contain
  /// the segments of their own pages.
  private let areServed: Bool

  /// Reads all manifests with contents that match their names, and with existing change lists. Other manifests are written again
  /// when needed.
  init(in folder: SiteFolder) {
    areServed = folder.isServedCopy
    for file in (try? folder.manifests()) ?? [] {
      guard case .version(let digest) = file,
        let bytes = try? folder.read(file, limit: VersionManifest.byteCountLimit), Digest256(hashing: bytes) == digest,
        let manifest = try? VersionManifest(decoding: bytes, file: file.description)
      else { continue }
      if hasChangeLists(of: manifest, in: folder) { add(manifest) } else { incomplete.append(manifest) }
    }
  }

  private func hasChangeLists(of manifest: VersionManifest, in folder: SiteFolder) -> Bool {
    manifest.changeLists.allSatisfy { has(.changes($0.digest), UInt64($0.byteCount), in: folder) }
  }

  /// Whether a file with the right length exists in the folder, or on the served site.
  private func has(_ file: SitePath, _ byteCount: UInt64, in folder: SiteFolder) -> Bool {
    do {
      guard let present = try folder.byteCount(of: file) else { return folder.isElsewhere(file) }
      return present == byteCount
    } catch { return false }
  }

  /// Records a new manifest.
  mutating func add(_ manifest: VersionManifest) { manifests[manifest.catalog, default: []].append(manifest) }

  /// Records that a file of a manifest is missing or damaged: from now on, only its descriptions of segments are used.
  mutating func refuse(_ manifest: VersionManifest) {
    manifests[manifest.catalog]?.removeAll { $0 == manifest }
    incomplete.append(manifest)
  }

  /// Whether the frame tables of a manifest exist with the right length.
  mutating func hasTables(of manifest: VersionManifest, in folder: SiteFolder) -> Bool {
    manifest.segments.allSatisfy { segment in
      guard !tables.contains(segment.id) else { return true }
      guard has(.frames(segment.id), UInt64(segment.tableByteCount), in: folder) else { return false }
      tables.insert(segment.id)
      return true
    }
  }

  /// Returns the description of a segment in a manifest whose frame table exists and matches, in the folder or on the served site.
  func segment(_ id: SegmentID, in folder: SiteFolder) -> VersionManifest.Segment? {
    (manifests.values.joined() + incomplete).lazy.flatMap(\.segments).first { segment in
      segment.id == id && hasIntactTable(of: segment, in: folder)
    }
  }

  private func hasIntactTable(of segment: VersionManifest.Segment, in folder: SiteFolder) -> Bool {
    do {
      guard try folder.byteCount(of: .frames(segment.id)) != nil else { return folder.isElsewhere(.frames(segment.id)) }
      return folder.holdsTable(of: segment)
    } catch { return false }
  }

  /// Returns the manifest of a version with its current layout.
  func manifest(of version: PackVersion) -> VersionManifest? {
    let ofContent = manifests[version.catalog] ?? []
    return ofContent.first { $0.describes(version) }
      ?? ofContent.first { areServed && $0.describes(version, inLayout: $0.layout) }
  }

  /// Returns the files of the described versions, and their lengths.
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
