import CPackStore

extension DeltaFile {
  /// The header of a delta, which identifies the old and the new version of the pack.
  public struct Info: Hashable, Codable, Sendable {
    public let pack: PackID

    /// The number of the old version.
    public let fromVersion: UInt64

    /// The number of the new version.
    public let toVersion: UInt64

    /// The content of the old version, which the store must have.
    public let fromCatalog: CatalogID

    /// The content of the new version.
    public let toCatalog: CatalogID

    /// The SHA-256 of the new version's attributes; `nil` if it has none.
    package let toAttributes: Digest256?

    public let fileCount: Int
    public let linkCount: Int
    public let folderCount: Int

    /// The sum of the sizes of the new version's files, in bytes.
    public let assetByteCount: Int

    /// Bytes of assets that the delta contains. All other bytes come from the old version.
    public let newByteCount: Int

    /// The size of the delta in bytes, without a signature.
    public let byteCount: Int

    /// The size of the header at the start of the file, in bytes. The header contains the hashes of all following blocks.
    package let headerByteCount: Int

    /// The SHA-256 of the header: the delta's name on a site.
    package let headerDigest: Digest256

    init(_ info: pks_delta_info) throws {
      pack = try PackID(
        validating: withUnsafeBytes(of: info.pack) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
      fromVersion = info.from_version
      toVersion = info.to_version
      fromCatalog = CatalogID(digest: withUnsafeBytes(of: info.from_catalog) { Digest256(copying: $0) })
      toCatalog = CatalogID(digest: withUnsafeBytes(of: info.to_catalog) { Digest256(copying: $0) })
      let attributes = withUnsafeBytes(of: info.to_attributes) { Digest256(copying: $0) }
      toAttributes = attributes == .zero ? nil : attributes
      fileCount = Int(clamping: info.file_count)
      linkCount = Int(clamping: info.link_count)
      folderCount = Int(clamping: info.folder_count)
      assetByteCount = Int(clamping: info.logical_bytes)
      newByteCount = Int(clamping: info.new_bytes)
      byteCount = Int(clamping: info.length)
      headerByteCount = Int(info.header_length)
      headerDigest = withUnsafeBytes(of: info.header_digest) { Digest256(copying: $0) }
    }
  }
}

extension DeltaFile.Info: CustomStringConvertible {
  /// `Tutorial@3 to 4`.
  public var description: String { "\(pack)@\(fromVersion) to \(toVersion)" }
}
