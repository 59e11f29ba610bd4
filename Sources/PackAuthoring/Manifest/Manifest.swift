public import PackStore

/// What a pack is to be made of, as its author wrote it: the manifest of Apple's packaging tool, with members of our own
/// under the key `packstore`.
///
/// `Docs/Manifest.md` describes it.
public struct Manifest: Sendable {
  public let assetPackID: PackID

  /// What clients must know besides the content.
  public let attributes: Attributes

  public let fileSelectors: [FileSelector]

  /// The folder of the assets, relative to the manifest's; nil: the current one.
  public let sourceRoot: String?

  /// How assets are compressed, a `Store.CompressionLevel`; nil: as the command that packs them says.
  public let level: Int32?

  /// How assets will be read; nil: as the command that packs them says.
  public let layout: Store.InstallOptions.Layout?

  /// What the publisher notes down of the version. It is no attribute, and stays with the publisher unless that is asked for.
  public let note: VersionNote?

  /// The most bytes that a manifest has.
  public static let byteCountLimit = 16 << 20
}

/// What a text turned out to be.
struct ManifestReading {
  /// Nil when there are errors.
  var manifest: Manifest?

  /// Those that are right, also where others are not.
  var selectors: [FileSelector] = []
  var sourceRoot: String?
  var sourceRootPosition: TextPosition?
  var platforms: Set<Platform> = []

  /// The patterns of `map`, and where they stand.
  var mappedPaths: [(pattern: PathPattern, position: TextPosition)] = []

  var problems = ManifestProblems()
}
