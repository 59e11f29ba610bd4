import PackFormats
import PackStore

/// The version before the one that is packed: its segments go into the new archive as they are, as far as that needs them.
struct PreviousVersion {
  let product: Store.Product
  let version: SiteRoot.Offer
  let manifest: VersionManifest

  /// What compressed it, as far as it says so.
  let zstdVersion: String?

  private let files: SiteFiles

  /// Reads what an archive, or a site in a folder, says of the pack's current version. Its publisher must be the key's: what
  /// it holds will be signed again.
  ///
  /// - Throws: `notFound` when there is neither archive nor site, or no such pack in it; `untrusted` when it is unsigned or
  ///   of another publisher; `corrupt`.
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
      throw PackStoreError.noPack(pack, among: signed.root.packs.map(\.id))
    }
    product = signed.root.product
    self.version = version
    manifest = try version.openManifest(
      try files.read(.version(version.manifest), limit: VersionManifest.byteCountLimit), of: pack)
    zstdVersion = try files.packagerNote().flatMap(PackagerNote.zstdVersion)
  }

  /// Makes a store of the segments: they say of themselves what they hold.
  ///
  /// - Throws: `corrupt` when they are not what the manifest says.
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

  /// Takes the pack over, of which the segments do not say where it is from, so that a version can follow.
  private func adopt(in store: Store) throws {
    var transactionOptions = Transaction.Options(durability: .atomic)
    transactionOptions.followsPlacement = false
    var transaction = try store.makeTransaction(options: transactionOptions)
    var copyOptions = Store.CopyOptions()
    copyOptions.isOwn = true
    try transaction.copy(manifest.pack, from: try store.makeSnapshot(), options: copyOptions)
    try transaction.commit()
  }

  /// Checks that segments which the new version shares are to the last bit what was signed.
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
