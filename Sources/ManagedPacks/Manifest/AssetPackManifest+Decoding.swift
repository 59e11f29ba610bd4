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
    let archives = try ListedArchive.list(in: bytes, name: name)
    self.init(
      appGroupID: appGroupID, assetPacks: Set(archives.map { AssetPack($0, appGroupID: appGroupID) }))
  }
}

extension AssetPack {
  fileprivate init(_ archive: ListedArchive, appGroupID: String) {
    self.init(
      id: archive.id, version: archive.version, downloadByteCount: archive.byteCount, attributes: archive.attributes,
      origin: .unknown, archiveURL: archive.url, appGroupID: appGroupID)
  }
}
