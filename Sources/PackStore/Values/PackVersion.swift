import CPackStore

/// One version of a pack. A copy: it outlives its snapshot.
public struct PackVersion: Hashable, Codable, Sendable {
  public let pack: PackID

  /// 1, 2, 3, ... unless the publisher chose other numbers.
  public let number: UInt64

  /// The highest possible version number: 2^53 - 1.
  public static let lastNumber: UInt64 = (1 << 53) - 1

  /// The identity of the content. Versions with equal catalogs contain equal files.
  public let catalog: CatalogID

  /// The date of the commit, by the clock of the machine that made it.
  public let committedAt: Date

  public let fileCount: Int
  public let linkCount: Int

  /// Recorded folders: the empty ones.
  public let folderCount: Int

  /// The sum of the files' sizes, in bytes.
  public let byteCount: Int

  /// The SHA-256 of its attributes; `nil` without attributes.
  package let attributesDigest: Digest256?

  /// The id of the root page of its layout, which depends on the store's history.
  package let layout: Digest256

  /// ``committedAt``, in nanoseconds since 1970.
  package let committedAtNanoseconds: Int64

  /// Whether it is kept regardless of the number of versions to keep.
  public let isPinned: Bool

  init(_ version: pks_pack_version, of pack: PackID) {
    self.pack = pack
    number = version.number
    catalog = CatalogID(digest: withUnsafeBytes(of: version.catalog) { Digest256(copying: $0) })
    committedAt = Date(timeIntervalSince1970: Double(version.committed_at_ns) / 1e9)
    fileCount = Int(clamping: version.file_count)
    linkCount = Int(clamping: version.link_count)
    folderCount = Int(clamping: version.folder_count)
    byteCount = Int(clamping: version.logical_bytes)
    isPinned = version.pinned
    layout = withUnsafeBytes(of: version.layout) { Digest256(copying: $0) }
    let attributes = withUnsafeBytes(of: version.attributes) { Digest256(copying: $0) }
    attributesDigest = attributes == .zero ? nil : attributes
    committedAtNanoseconds = version.committed_at_ns
  }
}

extension PackVersion: CustomStringConvertible {
  /// `Tutorial@3`.
  public var description: String { "\(pack)@\(number)" }
}
