import PackFormats
package import PackStore

/// The frames of a pack archive, as its own frame tables describe them: the table of a content-aware upload.
///
/// The digests are the archive's claims. A host that has bytes with these digests compares them again.
package struct ArchiveFrames: Sendable {
  package struct Frame: Hashable, Sendable {
    /// The offset of the stored bytes in the archive.
    package let offset: UInt64
    package let byteCount: UInt32

    /// SHA-256 of the stored bytes.
    package let digest: Digest256
  }

  /// In order of their offsets, without overlaps.
  package let frames: [Frame]

  /// Reads the tables of an archive.
  ///
  /// - Throws: `corrupt` if the file is not a valid archive; errors of reading.
  package init(of archive: InputFile) throws {
    let index = try ArchiveIndex(byteCount: try archive.byteCount, file: archive.place.text) { offset, count in
      try archive.bytes(at: offset, upTo: count)
    }
    var frames: [Frame] = []
    for case (.frames(let id), let table) in index.members {
      guard let segment = index.members[.segment(id)], table.byteCount <= Self.tableByteCountLimit else { continue }
      let bytes = try archive.bytes(at: table.offset, upTo: Int(table.byteCount))
      for row in try FrameRows(bytes, file: archive.place.text).rows
      where row.offset + UInt64(row.byteCount) <= segment.byteCount {
        frames.append(Frame(offset: segment.offset + row.offset, byteCount: row.byteCount, digest: row.digest))
      }
    }
    frames.sort { $0.offset < $1.offset }
    var end: UInt64 = 0
    self.frames = frames.filter { frame in
      guard frame.offset >= end else { return false }
      end = frame.offset + UInt64(frame.byteCount)
      return true
    }
  }

  /// `Docs/FORMAT.md`, section 20.
  private static let tableByteCountLimit: UInt64 = 64 << 20

  /// The bytes of a row of ``table(rowLimit:)``: offset and length as little-endian numbers of 8 and 4 bytes, and the digest.
  package static let rowByteCount = 44

  /// Returns the largest frames as rows in order of their offsets.
  package func table(rowLimit: Int) -> [UInt8] {
    var chosen = frames
    if chosen.count > rowLimit {
      chosen = chosen.sorted { $0.byteCount > $1.byteCount }.prefix(rowLimit).sorted { $0.offset < $1.offset }
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(chosen.count * Self.rowByteCount)
    for frame in chosen {
      withUnsafeBytes(of: frame.offset.littleEndian) { bytes += $0 }
      withUnsafeBytes(of: frame.byteCount.littleEndian) { bytes += $0 }
      bytes += frame.digest.bytes
    }
    return bytes
  }
}
