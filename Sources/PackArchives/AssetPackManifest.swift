public import PackStore

/// The manifest of an Apple asset pack: `Manifest.json` of an archive made by `ba-package`.
public struct AssetPackManifest: Hashable, Sendable {
  /// `assetPackID`, as written: it may be an invalid pack name in PackStore.
  public var assetPackID: String

  /// Download policy, platforms, language and user info, and members under PackStore's own key. `nil` if the archive has none of
  /// them, or if they are not valid attributes.
  public var attributes: Attributes?

  /// The other keys, in order, which a store does not keep.
  public var otherKeys: [String]

  private static let attributeKeys: Set = ["downloadPolicy", "platforms", "language", "userInfo"]

  /// PackStore's key, which other tools ignore; it contains some of the attributes.
  private static let ownKey = "packstore"
  private static let ownAttributeKeys: Set = ["appVersions", "label", "map", "note", "placement", "priority"]

  package static let name = "Manifest.json"

  /// The folder with the pack's files.
  package static let contents = "Contents"

  static let byteLimit = 1 << 20

  /// The template of Apple's tool has comments, which may remain.
  init(decoding bytes: [UInt8], _ faults: ArchiveFaults) throws {
    let document = JSONReader.read(bytes, options: .init(allowsComments: true))
    guard document.faults.isEmpty, let members = document.root?.object,
      let name = members.first(where: { $0.name == "assetPackID" })?.value.string
    else { throw faults.damaged("\(Self.name) is not JSON with an assetPackID") }
    assetPackID = name
    let own = members.first { $0.name == Self.ownKey }?.value.object ?? []
    let known =
      members.filter { Self.attributeKeys.contains($0.name) } + own.filter { Self.ownAttributeKeys.contains($0.name) }
    let attributes = known.isEmpty ? nil : Attributes(members: known, of: document)
    self.attributes = attributes
    let isOwnKnown = !own.isEmpty && own.allSatisfy { Self.ownAttributeKeys.contains($0.name) }
    let names = attributes == nil ? [] : known.map(\.name) + (isOwnKnown ? [Self.ownKey] : [])
    otherKeys = members.map(\.name).filter { $0 != "assetPackID" && !names.contains($0) }.sorted()
  }

  /// Encodes the manifest of a pack to be written as an asset pack: JSON with all attributes.
  package static func bytes(of pack: PackID, _ attributes: Attributes) -> [UInt8] {
    let members = JSONReader.read(attributes.canonicalBytes).root?.object ?? []
    func json(_ member: JSONMember) -> (name: String, value: [UInt8]) {
      if let userInfo = attributes.userInfo, member.name == "userInfo" { return (member.name, userInfo.bytes) }
      var value: [UInt8] = []
      member.value.appendCanonical(to: &value)
      return (member.name, value)
    }
    var all = members.filter { attributeKeys.contains($0.name) }.map(json) + [("assetPackID", canonicalJSON(pack.name))]
    // The default, which canonical attributes omit and Apple's manifests contain.
    if attributes.downloadPolicy == .onDemand {
      all.append(("downloadPolicy", canonicalJSONObject([("onDemand", canonicalJSONObject([]))])))
    }
    let own = members.filter { !attributeKeys.contains($0.name) }.map(json)
    if !own.isEmpty { all.append((ownKey, canonicalJSONObject(own))) }
    return canonicalJSONObject(all) + "\n".utf8
  }
}
