import Foundation

/// A data set from the user's folder, or a part of it.
enum FolderScan {
  /// Returns the regular files below a folder, without links, up to `byteLimit` bytes in bytewise order of paths. Of
  /// these, only files with a suitable length are returned.
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

  /// The sum of the lengths of all files below a folder.
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

  /// Collects these assets of a folder in an empty one: as hard links if both are on one file system, otherwise as
  /// copies.
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
