import Foundation

/// A folder of assets to measure with. Reports show its name, never where it lies.
final class DataSet: Sendable {
  let name: String

  /// Where the assets lie as plain files.
  let folder: String

  /// Every regular file below the folder, in bytewise order of paths. There are no links in a data set.
  let assets: [Asset]

  /// Their paths, in the same order.
  let paths: AssetPaths

  struct Asset: Sendable {
    /// Relative to the folder.
    let path: String
    let byteCount: Int
  }

  var byteCount: Int { assets.reduce(0) { $0 + $1.byteCount } }

  /// The length of the longest asset.
  var longest: Int { assets.map(\.byteCount).max() ?? 0 }

  init(_ name: String, folder: String, assets: [Asset]) {
    self.name = name
    self.folder = folder
    self.assets = assets.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
    paths = AssetPaths(self.assets.map(\.path))
  }
}
