import Foundation

/// A folder for temporary stores, removed with everything in it when the object goes.
final class TemporaryFolder {
  let path: String

  /// Makes a folder of its own inside `parent`, by default inside the system's folder for temporary files.
  init(in parent: String?) throws {
    let parent = parent.map { URL(fileURLWithPath: $0, isDirectory: true) } ?? FileManager.default.temporaryDirectory
    let folder = parent.appendingPathComponent("packstore-bench-\(UUID().uuidString)", isDirectory: true)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    path = folder.path
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}
