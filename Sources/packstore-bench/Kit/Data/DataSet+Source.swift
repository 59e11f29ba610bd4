import Foundation

extension DataSet {
  /// Reads each asset's plain file, in order, for contestants that store assets one by one.
  func forEachAsset(_ body: (AssetPath, UnsafeRawBufferPointer) throws -> Void) throws {
    let source = try FileFolder(folder)
    let memory = Buffer(byteCount: longest)
    for (path, asset) in zip(paths, assets) {
      let bytes = UnsafeMutableRawBufferPointer(rebasing: memory.bytes[..<asset.byteCount])
      let file = try source.open(path)
      defer { close(file) }
      try readFully(file, at: 0, into: bytes, path)
      try body(path, UnsafeRawBufferPointer(bytes))
    }
  }
}
