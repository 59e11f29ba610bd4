import PackFormats
import PackStore

/// The version before the new version. Its segments that are still needed are copied into the new archive unchanged.
struct PreviousVersion {
  let product: Store.Product
  let version: SiteRoot.Offer
  let manifest: VersionManifest

  /// The libzstd version that compressed the version, if known.
  let zstdVersion: String?

  private let files: SiteFiles

  /// Reads the pack's current version in an archive, or in a site in a folder. It must belong to the key's publisher, because its
  /// data is signed again.
  ///
  /// - Throws: `notFound` if neither an archive nor a site exists, or it lacks the pack; `untrusted` if it is unsigned or belongs
  ///   to another publisher; `corrupt`.
  init(at path: FilePath, of pack: PackID, signedBy key: SiteKey) throws {
    files = try SiteFiles(at: path)
    let signed = try files.readRoot(of: key.archiveChannel)
    guard signed.authority?.firstKey == key.firstKey else {
      let signer = signed.rootKey.map { "by another publisher's key, \($0)" } ?? "by no key"
      var error = PackStoreError(.untrusted, "the previous version is signed \(signer)", file: path.string)
      error.specificRemedy = "use the key that signed it, because clients of that version refuse any other"
      throw error
    }
    guard let named = signed.root.packs.first(where: { $0.id == pack }), let version = named.offers.first else {
      throw PackStoreError.noPack(pack, among: signed.root.packs.map(\.id), of: "the previous archive or site")
    }
    product = signed.root.product
    self.version = version
    manifest = try version.openManifest(
      try files.read(.version(version.manifest), limit: VersionManifest.byteCountLimit), of: pack)
    zstdVersion = try files.packagerNote().flatMap(PackagerNote.zstdVersion)
  }

  /// Creates a store from the segments, which describe their own contents.
  ///
  /// - Throws: `corrupt` if they do not match the manifest.
  func makeStore(at path: FilePath, _ options: Store.Options) throws -> Store {
    let folder = path.appending("segments")
    try makeFolder(path)
    for name in ["index", "segments", "tmp"] { try makeFolder(path.appending(name)) }
    for segment in manifest.segments {
      try files.copy(.segment(segment.id), byteCount: segment.byteCount, to: FilePlace("\(segment.id)", in: folder))
    }
    _ = try Store.repairNow(path, [], isDryRun: false, waitsForWriters: true, isPublication: false, nil)
    let store = try Store(at: path, options: options)
    let found = try store.makeSnapshot().pack(manifest.pack)?.version
    guard found?.number == manifest.number, found?.catalog == manifest.catalog,
      found?.attributesDigest == manifest.attributes
    else {
      throw PackStoreError(
        .corrupt, "the segments of the previous version do not contain all of it",
        file: files.name(of: .version(version.manifest)))
    }
    try adopt(in: store)
    return store
  }

  /// Adopts the pack, because segments do not record its origin, so that a version can follow.
  private func adopt(in store: Store) throws {
    var transactionOptions = Transaction.Options(durability: .atomic)
    transactionOptions.followsPlacement = false
    var transaction = try store.makeTransaction(options: transactionOptions)
    var copyOptions = Store.CopyOptions()
    copyOptions.isOwn = true
    try transaction.copy(manifest.pack, from: try store.makeSnapshot(), options: copyOptions)
    try transaction.commit()
  }

  /// Checks that segments used by the new version match their signed digests.
  ///
  /// - Throws: `corrupt`.
  func check(_ segments: [VersionManifest.Segment]) throws {
    let known = Dictionary(manifest.segments.map { ($0.id, $0) }) { first, _ in first }
    for segment in segments {
      guard let before = known[segment.id], before != segment else { continue }
      throw PackStoreError(
        .corrupt, "a segment of the previous version has other content than its publisher signed",
        file: files.name(of: .segment(segment.id)))
    }
  }

  func has(_ segment: SegmentID) -> Bool { manifest.segments.contains { $0.id == segment } }
}
