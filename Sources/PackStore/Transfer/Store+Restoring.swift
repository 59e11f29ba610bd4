import CPackStore

extension Store {
  /// A version that the signed files of a site list.
  package struct RestoredVersion: Sendable {
    package var manifest: VersionManifest

    /// The priority of the pack.
    package var priority: Int32

    package init(_ manifest: VersionManifest, priority: Int32) {
      self.manifest = manifest
      self.priority = priority
    }
  }

  /// Creates the store of a site in a folder with its metadata segments and, in `tables/`, the tables of its data segments. The
  /// store has the versions in `versions`, and belongs to a copy without frames (`FORMAT.md`, section 21).
  ///
  /// All data is verified before use: a table against the id of its segment, a page against its own id.
  ///
  /// - Parameters:
  ///   - path: the folder.
  ///   - id: the id of the site's store.
  ///   - versions: the versions, grouped by pack, with each pack's current version first. Numbers within a pack differ.
  /// - Throws: `corrupt` if the segments lack a part of the versions; `exists`, `invalidArgument`, `noSpace`, `ioError`,
  ///   `outOfMemory`.
  /// - Complexity: O(*n*) in the bytes of metadata.
  package static func restoreSite(at path: FilePath, id: SiteID, _ versions: [RestoredVersion]) throws {
    var totals = pks_repair_totals()
    try naming(path) {
      try check { error in
        withCStrings(versions.map(\.manifest.pack.name)) { names in
          let rows = zip(versions, names).map { version, name in row(version, name) }
          // With an extra row the pointer is never null: for null, the core would use the versions that the store itself lists.
          return (rows + [pks_restored_version()]).withUnsafeBufferPointer { places in
            id.id.bytes.withUnsafeBufferPointer { id in
              var request = pks_repair_request()
              request.versions = places.baseAddress
              request.version_count = UInt32(rows.count)
              request.store_id = id.baseAddress
              request.publication = true
              return path.withPlatformString { path in
                Options.existing.withCore { pks_store_repair(path, $0, &request, &totals, error) }
              }
            }
          }
        }
      }
    }
    guard !totals.has_lost, totals.version_count == UInt64(versions.count) else {
      throw PackStoreError(.corrupt, "segments lack data that the manifests refer to", about: .store(path.string))
    }
  }

  private static func row(_ version: RestoredVersion, _ name: UnsafePointer<CChar>) -> pks_restored_version {
    let manifest = version.manifest
    var row = pks_restored_version()
    row.pack = name
    row.priority = version.priority
    row.number = manifest.number
    copy(manifest.catalog.bytes, to: &row.catalog)
    copy(manifest.layout.bytes, to: &row.layout)
    if let attributes = manifest.attributes { copy(attributes.bytes, to: &row.attributes) }
    row.committed_at_ns = manifest.committedAt
    (row.file_count, row.link_count) = (manifest.fileCount, manifest.linkCount)
    (row.folder_count, row.logical_bytes) = (manifest.folderCount, manifest.byteCount)
    return row
  }

  private static func copy<Field>(_ bytes: [UInt8], to field: inout Field) {
    withUnsafeMutableBytes(of: &field) { $0.copyBytes(from: bytes.prefix($0.count)) }
  }
}
