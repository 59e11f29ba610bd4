import PackStore

/// The bytes before and after a zip file in a larger file, such as a self-extracting program, or a download with appended bytes.
struct ZipBounds {
  /// Bytes before the first entry, according to the directory.
  let before: UInt64

  /// Bytes after the comment.
  let after: UInt64

  /// The end of the zip file.
  private let end: UInt64

  private static let recordByteCount = 22

  /// How far the end record is searched for from the end of the file.
  private static let searchedByteCount: UInt64 = 1 << 20

  /// Finds the last end record whose directory is right before it; `nil` if none exists. Directories of zip64 are not found.
  init?(of file: InputFile) throws {
    let fileByteCount = try file.byteCount
    let tailByteCount = min(fileByteCount, Self.searchedByteCount)
    let tail = try file.bytes(at: fileByteCount - tailByteCount, upTo: Int(tailByteCount))
    var place = tail.count - Self.recordByteCount
    while place >= 0 {
      let record = tail[place...].prefix(Self.recordByteCount)
      if record.starts(with: [0x50, 0x4B, 5, 6]) {
        let start = fileByteCount - tailByteCount + UInt64(place)
        let size = UInt64(littleEndian: record[(place + 12)..<(place + 16)])
        let offset = UInt64(littleEndian: record[(place + 16)..<(place + 20)])
        let end =
          start + UInt64(Self.recordByteCount) + UInt64(UInt16(littleEndian: record[(place + 20)..<(place + 22)]))
        if end <= fileByteCount, size > 0, size + offset <= start,
          try file.bytes(at: start - size, upTo: 4) == [0x50, 0x4B, 1, 2]
        {
          (before, after, self.end) = (start - size - offset, fileByteCount - end, end)
          return
        }
      }
      place -= 1
    }
    return nil
  }

  /// Returns the error for a file with other bytes; also if the directory includes them in its offsets, and the file does not begin
  /// like a zip file.
  func fault(_ faults: ArchiveFaults) -> PackStoreError {
    func bytes(_ count: UInt64) -> String { count == 1 ? "1 byte" : "\(count) bytes" }
    if after > 0 {
      return faults.refused(
        "has \(bytes(after)) after the end of the zip file", remedy: "remove them with 'head -c \(end)'")
    }
    guard before > 0 else {
      return faults.refused("has other bytes before the zip file", remedy: "unpack it and create it again")
    }
    return faults.refused(
      "has \(bytes(before)) before the zip file",
      remedy: "remove them with 'tail -c +\(before + 1)', or create it again")
  }
}
