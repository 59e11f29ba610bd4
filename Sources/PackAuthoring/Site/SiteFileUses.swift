import PackFormats
import PackStore

/// The use of each file of a site's folder: needed by roots, part of a kept version, retired, or unneeded. Each file has one use,
/// the first of these that applies.
struct SiteFileUses {
  /// The files that roots refer to, without the roots, and their lengths.
  let needed: [SitePath: UInt64]

  /// The files of versions that the site keeps and no root refers to, and their lengths.
  let kept: [SitePath: UInt64]

  /// Files that left the roots, without files that are in use again.
  let retired: RetiredFiles

  /// Other files of the site's folders, and their lengths. `nil` for a copy, which does not have all files.
  let stray: [SitePath: UInt64]?

  /// The records of the history of all channels, which stay, and their lengths.
  let records: [SitePath: UInt64]

  /// Bytes of the roots and records.
  let rootByteCount: UInt64

  init(of roots: [SiteRoot], kept versions: [PackVersion], in folder: SiteFolder) throws {
    let needed = try roots.reduce(into: [SitePath: UInt64]()) { all, root in
      all.merge(try root.files(in: folder)) { first, _ in first }
    }
    let kept = try ManifestIndex(in: folder).files(of: versions).filter { needed[$0.key] == nil }
    var retired = try folder.readRetired()
    retired.replace([:], by: needed.merging(kept) { first, _ in first }, now: 0)
    records = try folder.immutableFiles(where: \.isRecord)
    rootByteCount = try roots.map { try folder.byteCount(of: .root($0.channel)) ?? 0 }.clampedSum().addingClamped(
      records.values.clampedSum())
    stray =
      try folder.isCopy
      ? nil
      : folder.immutableFiles {
        needed[$0] == nil && kept[$0] == nil && !retired.contains($0) && !$0.isRecord
      }
    self.needed = needed
    self.kept = kept
    self.retired = retired
  }
}

extension SiteFolder {
  /// Whether files of the site may be missing here, because they exist where it is served.
  var isCopy: Bool { isServedCopy || !elsewhere.isEmpty }

  /// Returns the files of the folders of immutable files that meet a condition, and their lengths. Drafts are omitted.
  func immutableFiles(where isWanted: (SitePath) -> Bool) throws -> [SitePath: UInt64] {
    var files: [SitePath: UInt64] = [:]
    for name in SitePath.folders + ["segments"] {
      for file in try namesInFolder(path.appending(name)).compactMap({ SitePath("\(name)/\($0)") }) where isWanted(file)
      {
        do { files[file] = try byteCount(of: file) } catch let error as PackStoreError where error.code == .wrongKind {}
      }
    }
    return files
  }
}
