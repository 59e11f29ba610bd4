import Foundation

/// The sizes of a store's files, by purpose.
struct StoreFiles: Codable {
  /// Stored frames of assets, including the gaps of alignment.
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

  /// Adds up the files of the store at `path`, except the files in `known`, and adds their names to `known`.
  ///
  /// A store's files never change once they exist, so files missing in `known` were written since then.
  init(ofStoreAt path: String, notIn known: inout Set<String>) throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: path + "/index") where known.insert(name).inserted {
      indexByteCount += try Self.byteCount(of: path + "/index/" + name)
    }
    for name in try FileManager.default.contentsOfDirectory(atPath: path + "/segments")
    where known.insert(name).inserted {
      add(try SegmentTable(ofFileAt: path + "/segments/" + name))
    }
  }

  private mutating func add(_ segment: SegmentTable) {
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
