import Foundation

/// What a store's files hold, told apart by what it is for.
struct StoreFiles: Codable {
  /// Frames of assets as they are stored, with the gaps that alignment leaves.
  var frameByteCount = 0
  /// Tables of data segments: chunk ids, frame rows, page sums.
  var tableByteCount = 0
  /// Metadata segments: catalogs and layouts.
  var metadataByteCount = 0
  /// The index and the generation records.
  var indexByteCount = 0
  var frameCount = 0
  var chunkCount = 0

  var byteCount: Int { frameByteCount + tableByteCount + metadataByteCount + indexByteCount }

  /// Sums up the files of the store at `path`, but for those in `known`, and adds their names to `known`.
  ///
  /// A store's files never change once they are there, so what was not known before is what was written since.
  init(ofStoreAt path: String, notIn known: inout Set<String>) throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: path + "/index") where known.insert(name).inserted {
      indexByteCount += try Self.byteCount(of: path + "/index/" + name)
    }
    for name in try FileManager.default.contentsOfDirectory(atPath: path + "/segments")
    where known.insert(name).inserted {
      add(try SegmentSummary(ofFileAt: path + "/segments/" + name))
    }
  }

  private mutating func add(_ segment: SegmentSummary) {
    if segment.isMetadata {
      metadataByteCount += segment.byteCount
    } else {
      frameByteCount += segment.framesEnd
      tableByteCount += segment.byteCount - segment.framesEnd
      frameCount += segment.frameCount
      chunkCount += segment.chunkCount
    }
  }

  private static func byteCount(of path: String) throws -> Int {
    try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
  }
}

/// The figures in a segment's table, at the offsets that `format.h` gives them.
private struct SegmentSummary {
  let byteCount: Int
  let isMetadata: Bool
  let frameCount: Int
  let chunkCount: Int
  let framesEnd: Int

  init(ofFileAt path: String) throws {
    let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
    byteCount = Int(try file.seekToEnd())
    let trailer = try Self.read(64, at: byteCount - 64, of: file)
    let columns = try Self.read(48, at: Int(trailer.littleEndian(UInt64.self, at: 16)), of: file)
    isMetadata = columns.littleEndian(UInt32.self, at: 4) == 2
    frameCount = Int(columns.littleEndian(UInt32.self, at: 8))
    chunkCount = Int(columns.littleEndian(UInt32.self, at: 12))
    framesEnd = Int(columns.littleEndian(UInt64.self, at: 40))
  }

  private static func read(_ byteCount: Int, at offset: Int, of file: FileHandle) throws -> Data {
    try file.seek(toOffset: UInt64(offset))
    guard let bytes = try file.read(upToCount: byteCount), bytes.count == byteCount else {
      throw CocoaError(.fileReadCorruptFile)
    }
    return bytes
  }
}

extension Data {
  fileprivate func littleEndian<Number: FixedWidthInteger>(_: Number.Type, at offset: Int) -> Number {
    withUnsafeBytes { Number(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: Number.self)) }
  }
}
