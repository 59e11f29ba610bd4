import Foundation

/// The minimum cost of a swap: replaces one small file so that it survives a loss of power.
final class FileSwap {
  private let folder: FileFolder
  private let names = AssetPaths(["new", "current"])

  init(in folder: String) throws { self.folder = try FileFolder(folder) }

  func swap(_ bytes: UnsafeRawBufferPointer) throws {
    let file = try folder.make(names[0])
    defer { close(file) }
    try writeFully(bytes, to: file, names[0])
    _ = try checked(Int(fsync(file)), "sync", names[0])
    _ = try checked(
      Int(renameat(folder.descriptor, names[0].utf8, folder.descriptor, names[1].utf8)), "rename", names[1])
    _ = try checked(Int(fsync(folder.descriptor)), "sync", names[1])
  }
}
