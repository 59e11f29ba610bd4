import Foundation

/// A folder for temporary stores, removed with everything in it when the object goes.
final class TemporaryFolder {
  let path: String
  private var folderCount = 0

  /// Makes a folder of its own inside `parent`, by default inside the system's folder for temporary files.
  init(in parent: String?) throws {
    let parent = parent.map { URL(fileURLWithPath: $0, isDirectory: true) } ?? FileManager.default.temporaryDirectory
    let folder = parent.appendingPathComponent("packstore-bench-\(UUID().uuidString)", isDirectory: true)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    path = folder.path
  }

  deinit { remove() }

  /// An empty folder inside this one.
  func newFolder() throws -> String {
    folderCount += 1
    let folder = "\(path)/\(folderCount)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    return folder
  }

  func remove() { try? FileManager.default.removeItem(atPath: path) }
}
