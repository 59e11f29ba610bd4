import PackFormats
import PackStore

/// The manifests that lie in a site's folder, whatever leads to them, and the frame tables that were seen there: so that each
/// is looked at once in a change.
struct KnownManifests {
  private var manifests: [CatalogID: [VersionManifest]] = [:]

  /// Those of which a file is lost: only what they say of segments counts.
  private var incomplete: [VersionManifest] = []
  private var tables: Set<SegmentID> = []

  /// The store was put together from these manifests: its layouts say the same and have other ids, since they name the segments
  /// of their own pages.
  private let areServed: Bool

  /// Reads all that are what their names say, and whose change lists are there. Others are made again when they are needed.
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

  /// Whether a file is there, as long as it should be, or where the site is served.
  private func has(_ file: SitePath, _ byteCount: UInt64, in folder: SiteFolder) -> Bool {
    do {
      guard let present = try folder.byteCount(of: file) else { return folder.isElsewhere(file) }
      return present == byteCount
    } catch { return false }
  }

  /// Notes one that was made.
  mutating func add(_ manifest: VersionManifest) { manifests[manifest.catalog, default: []].append(manifest) }

  /// One of which a file is lost or damaged: from now on only what it says of segments counts.
  mutating func refuse(_ manifest: VersionManifest) {
    manifests[manifest.catalog]?.removeAll { $0 == manifest }
    incomplete.append(manifest)
  }

  /// Whether the frame tables of a manifest are there, as long as they should be.
  mutating func hasTables(of manifest: VersionManifest, in folder: SiteFolder) -> Bool {
    manifest.segments.allSatisfy { segment in
      guard !tables.contains(segment.id) else { return true }
      guard has(.frames(segment.id), UInt64(segment.tableByteCount), in: folder) else { return false }
      tables.insert(segment.id)
      return true
    }
  }

  /// A segment as a manifest describes it, whose frame table is what the manifest says, or is where the site is served.
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

  /// That of a version as it lies now.
  func manifest(of version: PackVersion) -> VersionManifest? {
    let ofContent = manifests[version.catalog] ?? []
    return ofContent.first { $0.describes(version) }
      ?? ofContent.first { areServed && $0.describes(version, inLayout: $0.layout) }
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
