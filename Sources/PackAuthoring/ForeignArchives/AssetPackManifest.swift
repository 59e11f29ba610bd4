public import PackStore

/// What an asset pack of Apple's says of itself: `Manifest.json` of an archive that `ba-package` made.
public struct AssetPackManifest: Hashable, Sendable {
  /// `assetPackID`, as it stands there: a name that packs here need not be able to have.
  public var assetPackID: String

  /// What clients must know besides the content: download policy, platforms, language and user info. Nil where the archive
  /// says none of it, or what attributes cannot.
  public var attributes: Attributes?

  /// The other keys, in order: what the archive says and a store does not keep.
  public var otherKeys: [String]

  private static let attributeKeys: Set = ["downloadPolicy", "platforms", "language", "userInfo"]

  static let name = "Manifest.json"

  /// The folder with the pack's files.
  static let contents = "Contents"

  static let byteLimit = 1 << 20

  /// The template of Apple's tool has comments, which may have stayed.
  init(decoding bytes: [UInt8], _ faults: ArchiveFaults) throws {
    let document = JSONReader.read(bytes, options: .init(allowsComments: true))
    guard document.faults.isEmpty, let members = document.root?.object,
      let name = members.first(where: { $0.name == "assetPackID" })?.value.string
    else { throw faults.damaged("\(Self.name) is no JSON with an assetPackID") }
    assetPackID = name
    let hasAttributes = members.contains { Self.attributeKeys.contains($0.name) }
    let attributes = hasAttributes ? Attributes(members: Self.attributeKeys, of: document) : nil
    self.attributes = attributes
    otherKeys = members.map(\.name).filter {
      $0 != "assetPackID" && (attributes == nil || !Self.attributeKeys.contains($0))
    }.sorted()
  }
}
