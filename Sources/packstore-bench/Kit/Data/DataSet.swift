import Foundation

/// A folder of assets to measure. Reports show its name, never its path.
final class DataSet: Sendable {
  let name: String

  /// The folder of the plain files.
  let folder: String

  /// The regular files below the folder, in bytewise order of paths. A data set has no links.
  let assets: [Asset]

  /// The paths of ``assets``, in the same order.
  let paths: AssetPaths

  struct Asset: Sendable {
    /// The path relative to the folder.
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
