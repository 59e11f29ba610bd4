import PackStore

/// The data that a group shares, as recorded in the ``SharedBase``: a file per registered group, which the group's agent writes.
package struct SharedGroup: Hashable, Sendable {
  /// The absolute path of the group's folder.
  package let folder: String

  /// The versions that the group's store keeps.
  package var versions: [Version]

  /// A version and the data segments that contain it.
  package struct Version: Hashable, Codable, Sendable {
    package let pack: PackID
    package let number: UInt64
    package let catalog: CatalogID
    /// Segment ids, as 32 hexadecimal digits.
    package let segments: [String]

    package init(pack: PackID, number: UInt64, catalog: CatalogID, segments: [String]) {
      self.pack = pack
      self.number = number
      self.catalog = catalog
      self.segments = segments
    }

    /// The ids of the segments. Invalid ids are skipped: they cannot be names of segments.
    var segmentIDs: [SegmentID] { segments.compactMap { ID128(hex: $0).map(SegmentID.init) } }
  }

  package init(folder: String, versions: [Version] = []) {
    self.folder = folder
    self.versions = versions
  }

  /// The segments that the group needs.
  package var segmentIDs: Set<SegmentID> { Set(versions.flatMap(\.segmentIDs)) }
}

extension SharedGroup: GroupDocument {
  package static let format = 1
  package static let byteCountLimit = 64 << 20
  package static let title = "the shared base's record of a group"

  /// The limit for versions, and for segments of all versions.
  private static let countLimit = 1_000_000

  package static var excess: ManagedPacksError {
    ManagedPacksError(
      .groupFolder, "the group has too many versions and segments to share",
      remedy: "split the packs among several groups")
  }

  package var isBounded: Bool {
    versions.count <= Self.countLimit && versions.reduce(0) { $0.addingClamped($1.segments.count) } <= Self.countLimit
  }
}

extension SharedGroup {
  private enum CodingKeys: CodingKey { case format, folder, versions }

  package init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    folder = try values.decode(String.self, forKey: .folder)
    versions = try values.decode([Version].self, forKey: .versions)
  }

  package func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(Self.format, forKey: .format)
    try values.encode(folder, forKey: .folder)
    try values.encode(versions, forKey: .versions)
  }
}
