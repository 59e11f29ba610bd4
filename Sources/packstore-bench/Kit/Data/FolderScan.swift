import Foundation

/// Collects the files of the user's folder.
enum FolderScan {
  /// Returns the regular files below a folder that have a suitable length, in bytewise order of paths, without links. Skips each
  /// file that would raise their sum above `byteLimit` bytes.
  static func assets(
    below folder: String, byteLimit: Int, suitable: (Int) -> Bool
  ) throws -> [DataSet.Asset] {
    var assets: [DataSet.Asset] = []
    try walk(FileFolder(folder), "") { assets.append($0) }
    assets.sort { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
    var left = byteLimit
    return assets.filter { asset in
      guard suitable(asset.byteCount), asset.byteCount <= left else { return false }
      left -= asset.byteCount
      return true
    }
  }

  /// Returns the sum of the lengths of all files below a folder.
  static func byteCount(below folder: String) throws -> Int {
    var sum = 0
    try walk(FileFolder(folder), "") { sum += $0.byteCount }
    return sum
  }

  private static func walk(_ root: FileFolder, _ folder: String, _ body: (DataSet.Asset) -> Void) throws {
    var folders: [String] = []
    let paths = AssetPaths([folder])
    defer { withExtendedLifetime(paths) {} }
    try root.forEachEntry(in: paths[0]) { name, status in
      guard let name = String(validatingCString: name) else { return }
      let path = folder.isEmpty ? name : folder + "/" + name
      switch status.st_mode & S_IFMT {
      case S_IFDIR: folders.append(path)
      case S_IFREG: body(.init(path: path, byteCount: Int(status.st_size)))
      default: break
      }
    }
    for folder in folders { try walk(root, folder, body) }
  }

  /// Collects assets of a folder in an empty folder, as hard links if possible, otherwise as copies.
  static func gather(
    _ name: String, _ assets: [DataSet.Asset], of folder: String, at target: String
  ) throws -> DataSet {
    let from = try FileFolder(folder)
    let to = try FileFolder(target)
    let dataSet = DataSet(name, folder: target, assets: assets)
    let buffer = Buffer(byteCount: 1 << 20)
    for path in dataSet.paths {
      try to.makeParents(of: path.string)
      if linkat(from.descriptor, path.utf8, to.descriptor, path.utf8, 0) != 0 {
        try from.copy(path, to: to, through: buffer.bytes)
      }
    }
    return dataSet
  }
}
