import PackStore

/// What an asset pack of Apple's says of itself: `Manifest.json` of an archive that `ba-package` made.
public struct AssetPackManifest: Hashable, Sendable {
  /// `assetPackID`, as it stands there: a name that packs here need not be able to have.
  public var assetPackID: String

  /// The other keys, in order: what the archive says and a store does not keep.
  public var otherKeys: [String]

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
    otherKeys = members.map(\.name).filter { $0 != "assetPackID" }.sorted()
  }
}
