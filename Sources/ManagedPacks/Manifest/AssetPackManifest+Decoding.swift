extension AssetPackManifest {
  /// The size limit of a download manifest, in bytes.
  public static let byteCountLimit = 16 << 20

  /// Reads a download manifest, such as `packstore download-manifest` writes.
  ///
  /// - Throws: `PackStoreError` `corrupt` if the file is not a valid download manifest; errors of reading the file.
  public init(contentsOf url: URL, appGroupID: String) throws {
    let path = try FilePath(fileURL: url)
    try self.init(
      bytes: InputFile(path).contents(limit: Self.byteCountLimit), appGroupID: appGroupID, name: path.string)
  }

  /// Parses a download manifest.
  ///
  /// - Throws: `PackStoreError` `corrupt` if the data is not a valid download manifest.
  public init(from data: Data, appGroupID: String) throws {
    try self.init(bytes: Array(data), appGroupID: appGroupID, name: "download manifest")
  }

  private init(bytes: [UInt8], appGroupID: String, name: String) throws {
    _ = try PackID(validating: appGroupID)
    let document = JSONReader.read(bytes)
    func corrupt(_ reason: String) -> PackStoreError {
      PackStoreError(.corrupt, reason, file: name)
    }
    guard bytes.count <= Self.byteCountLimit, document.faults.isEmpty, let root = document.root else {
      throw corrupt("not JSON")
    }
    guard let items = root.member("assetPacks")?.array else { throw corrupt("lacks the list 'assetPacks'") }
    var packs: [String: AssetPack] = [:]
    for (index, item) in items.enumerated() {
      guard let pack = AssetPack(item, in: document) else {
        throw corrupt("entry \(index) is not an asset pack")
      }
      guard packs.updateValue(pack, forKey: pack.id) == nil else {
        throw corrupt("contains the asset pack '\(pack.id)' twice")
      }
    }
    self.init(appGroupID: appGroupID, assetPacks: Set(packs.values))
  }
}

extension JSONValue {
  fileprivate func member(_ name: String) -> JSONValue? { object?.first { $0.name == name }?.value }
}

extension AssetPack {
  fileprivate init?(_ value: JSONValue, in document: JSONDocument) {
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
    self.init(id: id, version: version, downloadByteCount: size, attributes: attributes, origin: .unknown)
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
