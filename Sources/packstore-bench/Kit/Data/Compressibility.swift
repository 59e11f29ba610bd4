import Foundation

/// Separates compressible files from incompressible files, by the core's rule for storing frames raw.
enum Compressibility {
  /// Returns the incompressible assets if `content` is incompressible; otherwise the compressible assets.
  static func assets(_ assets: [DataSet.Asset], of folder: String, with content: Content) throws -> [DataSet.Asset] {
    let encoder = try ZstdEncoder()
    let paths = AssetPaths(assets.map(\.path))
    let root = try FileFolder(folder)
    return try zip(assets, paths).filter { _, path in
      let isCompressible = try MappedFile(path, in: root).withBytes { try compresses($0, with: encoder) }
      return isCompressible == (content != .incompressible)
    }.map(\.0)
  }

  /// Whether any piece with a frame's length is compressible. An asset that the core stores raw and contiguous has no such piece.
  private static func compresses(_ bytes: UnsafeRawBufferPointer, with encoder: ZstdEncoder) throws -> Bool {
    let frameLength = 128 << 10
    let room = Buffer(byteCount: ZstdEncoder.capacity(for: frameLength))
    for begin in stride(from: 0, to: bytes.count, by: frameLength) {
      let frame = UnsafeRawBufferPointer(rebasing: bytes[begin..<min(begin + frameLength, bytes.count)])
      if try encoder.encode(frame, into: room.bytes) != nil { return true }
    }
    return false
  }
}
