import Foundation

/// A folder for temporary data. It is removed with its contents when the object is deallocated.
final class TemporaryFolder {
  let path: String
  private var folderCount = 0

  /// Creates a new folder in `parent`, by default in the system's folder for temporary files.
  init(in parent: String?) throws {
    let parent = parent.map { URL(fileURLWithPath: $0, isDirectory: true) } ?? FileManager.default.temporaryDirectory
    let folder = parent.appendingPathComponent("packstore-bench-\(UUID().uuidString)", isDirectory: true)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    path = folder.path
  }

  deinit { remove() }

  /// Creates an empty folder in this folder.
  func newFolder() throws -> String {
    folderCount += 1
    let folder = "\(path)/\(folderCount)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    return folder
  }

  /// Removes the folder, even while another thread writes to it. Its writes soon fail.
  func remove() {
    for _ in 0..<100 where FileManager.default.fileExists(atPath: path) {
      try? FileManager.default.removeItem(atPath: path)
    }
  }
}
