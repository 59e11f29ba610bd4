import Foundation

/// A folder of the real file system, removed with the last reference.
final class TemporaryFolder: Sendable {
  let path: String

  init() throws {
    path = FileManager.default.temporaryDirectory.appending(path: "CPackStoreTests-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// Writes a folder of files below this one, and returns its path.
  func put(_ folder: Folder, at name: String) throws -> String {
    let root = "\(path)/\(name)"
    try? FileManager.default.removeItem(atPath: root)
    try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
    for (path, node) in folder {
      let full = "\(root)/\(path)"
      let above = node.isFolder ? full : String(full[..<full.lastIndex(of: "/")!])
      try FileManager.default.createDirectory(atPath: above, withIntermediateDirectories: true)
      switch node {
      case .file(let bytes, let executable):
        try Data(bytes).write(to: URL(filePath: full))
        if executable { try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: full) }
      case .link(let target): try FileManager.default.createSymbolicLink(atPath: full, withDestinationPath: target)
      case .folder: break
      }
    }
    return root
  }

  func list(_ name: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: "\(path)/\(name)").sorted()
  }
  func read(_ name: String) throws -> Data { try Data(contentsOf: URL(filePath: "\(path)/\(name)")) }
}
