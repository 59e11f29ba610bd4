import Foundation

/// The folder of a pack whose assets change one at a time.
final class SwapSource {
  let dataSet: DataSet
  /// The bytes of the last changed asset.
  private(set) var bytes = UnsafeRawBufferPointer(start: nil, count: 0)
  private let memory: Buffer
  private let folder: FileFolder
  private var generator: SeededGenerator

  init(assetCount: Int, seed: UInt64, in folder: String) throws {
    let plans = (0..<assetCount).map { index in
      AssetPlan(path: "Swapped/asset\(index).bin", byteCount: 1000 + 180 * index, content: .compressible)
    }
    dataSet = try DataSetMaker.make("a pack of \(assetCount)", plans, seed: seed, at: folder)
    memory = Buffer(byteCount: dataSet.longest)
    self.folder = try FileFolder(folder)
    generator = SeededGenerator(seed: seed)
  }

  /// Replaces the bytes of a random asset, and returns its path.
  func change() throws -> AssetPath {
    let index = Int.random(in: dataSet.assets.indices, using: &generator)
    let new = UnsafeMutableRawBufferPointer(rebasing: memory.bytes[..<dataSet.assets[index].byteCount])
    Content.compressible.fill(new, seed: generator.next())
    bytes = UnsafeRawBufferPointer(new)
    let file = try folder.make(dataSet.paths[index])
    defer { close(file) }
    try writeFully(bytes, to: file, dataSet.paths[index])
    return dataSet.paths[index]
  }
}
