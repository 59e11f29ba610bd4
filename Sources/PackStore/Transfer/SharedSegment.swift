import CPackStore

/// A data segment of another store of this user, to link instead of fetching its chunks.
package struct SharedSegment: Hashable, Sendable {
  package let id: SegmentID

  /// The segment's file, on the file system of the store that links it.
  package let file: FilePath

  package init(id: SegmentID, file: FilePath) {
    self.id = id
    self.file = file
  }
}

/// The segments that contain a version, or an earlier one, in another store of this user.
package struct SharedContent: Hashable, Sendable {
  package let segments: [SharedSegment]

  /// Whether the segments contain this version.
  package let isWholeVersion: Bool

  package init(segments: [SharedSegment], isWholeVersion: Bool) {
    self.segments = segments
    self.isWholeVersion = isWholeVersion
  }
}

extension Store {
  /// The name of a segment's file below the store's folder.
  package static func segmentName(_ id: SegmentID) -> String { "segments/\(id)" }

  /// Whether a file of the store's folder is a valid data segment: every chunk has its SHA-256. Reads the whole file.
  ///
  /// - Parameter name: a path relative to the store's folder, without links.
  /// - Throws: `ioError`, `noSpace`, `outOfMemory`; not for a missing or damaged file.
  package func isValidSegment(_ id: SegmentID, at name: String) throws -> Bool {
    var isValid = false
    try naming(path) { try check { pks_store_check_segment_file(&isValid, pointer, name, id.id.bytes, $0) } }
    return isValid
  }
}
