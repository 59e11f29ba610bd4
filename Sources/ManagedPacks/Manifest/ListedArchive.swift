/// An archive in a download manifest: one version of a pack, in one file on a web server.
package struct ListedArchive: Hashable, Sendable {
  package let id: PackID
  package let version: UInt64
  /// `nil` if the manifest does not specify it.
  package let url: String?
  /// The size of the archive.
  package let byteCount: Int
  package let attributes: Attributes
  /// The SHA-256 of the archive; `nil` if the manifest does not specify it. Apple's tools do not.
  package let digest: Digest256?

  /// Reads the list of a download manifest.
  ///
  /// - Parameter name: the manifest in errors.
  /// - Throws: `PackStoreError` `corrupt`.
  package static func list(in bytes: [UInt8], name: String) throws -> [Self] {
    let document = JSONReader.read(bytes)
    func corrupt(_ reason: String) -> PackStoreError { PackStoreError(.corrupt, reason, file: name) }
    guard bytes.count <= AssetPackManifest.byteCountLimit, document.faults.isEmpty, let root = document.root else {
      throw corrupt("not JSON")
    }
    guard let items = root.member("assetPacks")?.array else { throw corrupt("lacks the list 'assetPacks'") }
    var known: Set<PackID> = []
    return try items.enumerated().map { index, item in
      guard let archive = Self(item, in: document) else { throw corrupt("entry \(index) is not an asset pack") }
      guard known.insert(archive.id).inserted else { throw corrupt("contains the asset pack '\(archive.id)' twice") }
      return archive
    }
  }

  private init?(_ value: JSONValue, in document: JSONDocument) {
    guard let name = value.member("id")?.string, let id = try? PackID(validating: name),
      let version = value.member("version")?.integer(UInt64.self), version <= PackVersion.lastNumber,
      let size = value.member("downloadSize")?.integer(Int.self), size >= 0
    else { return nil }
    guard let policy = Self.policy(value.member("downloadPolicy")) else { return nil }
    let info = value.member("userInfo").flatMap { try? UserInfo($0, in: document) }
    let language = value.member("language")?.string.flatMap { try? LanguageTag($0) }
    guard let attributes = try? Attributes(downloadPolicy: policy, language: language, userInfo: info) else {
      return nil
    }
    self.id = id
    self.version = version
    url = value.member("url")?.string
    byteCount = size
    self.attributes = attributes
    digest = value.member("packstore")?.member("sha256")?.string.flatMap { Digest256(hex: $0) }
  }

  /// Returns `nil` for an invalid policy.
  private static func policy(_ value: JSONValue?) -> DownloadPolicy? {
    guard let value else { return .onDemand }
    guard let policy = value.object?.first, value.object?.count == 1 else { return nil }
    guard policy.name != "onDemand" else { return .onDemand }
    let names = policy.value.member("installationEventTypes")?.array?.map(\.string) ?? []
    let events = Set(names.compactMap { $0.flatMap(InstallationEvent.init(rawValue:)) })
    guard !events.isEmpty, events.count == names.count else { return nil }
    switch policy.name {
    case "essential": return .essential(on: events)
    case "prefetch": return .prefetch(on: events)
    default: return nil
    }
  }
}

extension JSONValue {
  fileprivate func member(_ name: String) -> JSONValue? { object?.first { $0.name == name }?.value }
}
