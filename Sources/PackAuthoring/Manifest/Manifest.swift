public import PackStore

/// The author's description of a pack: the manifest of Apple's packaging tool, with additional members under the key `packstore`.
///
/// `Docs/Manifest.md` describes it.
public struct Manifest: Sendable {
  public let assetPackID: PackID

  /// The attributes of the version.
  public let attributes: Attributes

  public let fileSelectors: [FileSelector]

  /// The folder of the assets, relative to the manifest's folder; `nil` for the current folder.
  public let sourceRoot: String?

  /// The compression level, a `Store.CompressionLevel`; `nil` for the default of the packing command.
  public let level: Int32?

  /// The expected access pattern of assets; `nil` for the default of the packing command.
  public let layout: Store.InstallOptions.Layout?

  /// The publisher's note about the version. It is not an attribute, and stays with the publisher unless it is published
  /// explicitly.
  public let note: VersionNote?

  /// The maximum size of a manifest in bytes.
  public static let byteCountLimit = 16 << 20
}

/// The result of parsing a manifest.
struct ManifestReading {
  /// The manifest; `nil` if it has errors.
  var manifest: Manifest?

  /// The valid selectors, even if others are invalid.
  var selectors: [FileSelector] = []
  var sourceRoot: String?
  var sourceRootPosition: TextPosition?
  var platforms: Set<Platform> = []

  /// The patterns of `map`, and their positions.
  var mappedPaths: [(pattern: PathPattern, position: TextPosition)] = []

  var problems = ManifestProblems()
}
