public import PackFormats
import PackStore

/// Archives of one publisher with verified signatures. `packstore import` would accept them.
public struct ArchivedPacks: Sendable {
  /// The metadata of an archive. The archive is opened again when its content is needed, because there may be more archives than
  /// open files allowed.
  struct Entry: Hashable {
    let path: FilePath

    /// The SHA-256 of the archive's root, to recognize the archive when it is opened again.
    let digest: Digest256
    let product: Store.Product
    let pack: PackID
    let number: UInt64
    let catalog: CatalogID
    let attributes: Digest256?

    func hasContent(of other: Entry) -> Bool { catalog == other.catalog && attributes == other.attributes }
  }

  /// The versions, each once, in order of packs and numbers. Never empty.
  let entries: [Entry]
  let key: SiteKey

  /// Opens archives, and checks that clients of a publisher would accept them.
  ///
  /// - Parameters:
  ///   - paths: files made by `package` or `export`.
  ///   - key: a key of the publisher.
  /// - Throws: `untrusted` for an archive that is unsigned, expired, or signed by another publisher, a replaced key or an ended
  ///   key; `exists` if two archives of one version differ; `invalidArgument` if they belong to several products, or if `paths` is
  ///   empty; `corrupt`, `notFound`, `ioError`.
  public init(at paths: [FilePath], signedBy key: SiteKey) throws {
    let now = nanosecondsSince1970()
    try self.init(at: paths, signedBy: key) { try $0.requirePublisher(key, at: now) }
  }

  /// Opens an archive of any publisher, for a site that only its own developer reads.
  package init(ofAnyPublisher path: FilePath, signedBy key: SiteKey) throws {
    try self.init(at: [path], signedBy: key) { _ in }
  }

  private init(at paths: [FilePath], signedBy key: SiteKey, _ check: (SignedArchive) throws -> Void) throws {
    var entries: [Entry] = []
    for path in paths {
      let archive = try SignedArchive(at: path)
      try check(archive)
      let entry = Entry(archive)
      if let first = entries.first, first.product != entry.product {
        throw PackStoreError(
          .invalidArgument, "belongs to the product '\(entry.product)', but '\(first.path)' to '\(first.product)'",
          file: path.string)
      }
      guard let same = entries.first(where: { $0.pack == entry.pack && $0.number == entry.number }) else {
        entries.append(entry)
        continue
      }
      guard entry.hasContent(of: same) else {
        throw PackStoreError(
          .exists, "contains \(entry.pack)@\(entry.number) with other content than '\(same.path)'",
          about: .file(path.string), detail: .otherContent)
      }
    }
    guard !entries.isEmpty else { throw PackStoreError(.invalidArgument, "no archives given") }
    self.entries = entries.sorted { ($0.pack, $0.number) < ($1.pack, $1.number) }
    self.key = key
  }

  /// Returns the archives in a folder: files whose names end in `.pack`, without subfolders.
  public static func paths(inFolder folder: FilePath) throws -> [FilePath] {
    try namesInFolder(folder).filter { $0.hasSuffix(".pack") && !$0.hasPrefix(".") }.sorted().map(folder.appending)
      .filter { !isFolder($0) }
  }
}

extension ArchivedPacks.Entry {
  fileprivate init(_ archive: SignedArchive) {
    self.init(
      path: archive.path, digest: archive.signed.digest, product: archive.signed.root.product, pack: archive.pack.id,
      number: archive.offer.number, catalog: archive.offer.catalog, attributes: archive.offer.attributes)
  }
}
