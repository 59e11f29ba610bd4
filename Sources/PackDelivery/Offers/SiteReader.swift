import PackFormats
import PackStore

/// Reads a site's root, attribute sheets and manifests: each once, with the cost counted. Files identified by a SHA-256 are checked
/// against it.
final class SiteReader {
  let source: any SiteSource
  private let memory: RememberedSites?
  /// A root that was read before, used for the first reading.
  private var given: WholeFile?
  /// The root of the last reading.
  private var root: WholeFile?
  private var remembered: RememberedSite?
  private var hasRecalled = false
  private var sheets: [Digest256: Sheet] = [:]
  /// The attributes of offers requested so far.
  private var attributes: [Digest256: Attributes] = [:]
  private var manifests = ManifestCache()
  private let budget: MetadataBudget

  /// The `Date` of the answer that delivered or confirmed the last root, in nanoseconds since 1970; `nil` if it had none.
  private(set) var answeredAt: Int64?

  /// The total cost, including failed requests.
  let tally: WireTally

  private struct Sheet {
    let bytes: [UInt8]
    let sheet: AttributeSheet
  }

  /// - Parameters:
  ///   - root: the root, if it was read before.
  ///   - tally: the cost of reading that root.
  ///   - budget: the maximum number of bytes to read.
  ///   - memory: the records of the store; `nil`: nothing is remembered. Folders and archives need none.
  init(
    _ source: any SiteSource, root: WholeFile? = nil, counting tally: WireTally = WireTally(),
    within budget: MetadataBudget,
    memory: RememberedSites? = nil
  ) {
    self.source = source
    self.tally = tally
    self.budget = budget
    self.memory = source.isLocal || source.isArchive ? nil : memory
    given = root
  }

  // MARK: - Root

  /// Reads the root of a channel. The first time, uses the remembered root if it is unchanged, and judges it like a new one; if it
  /// is refused, reads the root from the site.
  ///
  /// - Parameter admit: judges the root.
  func readRoot(
    of channel: SiteChannel, admit: (RootClaims) throws -> TrustBook.Verdict
  ) async throws -> (SignedSiteRoot, TrustBook.Verdict) {
    if let root = try await unchangedRoot(of: channel, admit) { return root }
    let file = if let given = takeGiven() { given } else { try await source.readRoot(of: channel, counting: tally) }
    let root = try source.decodeRoot(file.bytes, of: channel)
    let verdict = try admit(RootClaims(root))
    try budget.spend(file.bytes.count, on: root.digest, at: source.location)
    self.root = file
    answeredAt = file.answeredAt
    return (root, verdict)
  }

  /// Returns the remembered root, if the site has no other one; otherwise keeps the answer for ``readRoot(of:admit:)``.
  private func unchangedRoot(
    of channel: SiteChannel, _ admit: (RootClaims) throws -> TrustBook.Verdict
  ) async throws -> (SignedSiteRoot, TrustBook.Verdict)? {
    guard !hasRecalled, let memory else { return nil }
    hasRecalled = true
    remembered = try memory.read(place(of: channel))
    guard given == nil, let remembered, let known = remembered.validators else { return nil }
    if let file = try await source.readRoot(of: channel, unless: known, counting: tally) {
      given = file
      return nil
    }
    do {
      let root = try source.decodeRoot(remembered.root, of: channel)
      let verdict = try admit(RootClaims(root))
      if case .stale = verdict { return nil }
      self.root = WholeFile(bytes: remembered.root, validators: known)
      answeredAt = source.confirmedAt
      return (root, verdict)
    } catch is DeliveryError {
      return nil
    }
  }

  private func takeGiven() -> WholeFile? {
    defer { given = nil }
    return given
  }

  private func place(of channel: SiteChannel) -> TrustBook.PlaceKey {
    TrustBook.PlaceKey(location: source.location, channel: channel)
  }

  /// Remembers the last root and the sheets read for it.
  ///
  /// - Parameter waits: whether to wait for another process that changes the store's trust, rather than fail with `busy`.
  func remember(_ signed: SignedSiteRoot, waits: Bool) throws {
    guard let memory, let root else { return }
    let new = RememberedSite(
      root: root.bytes, validators: root.validators, sheets: signed.root.sheets.compactMap(readBefore))
    guard new != remembered else { return }
    try memory.write(new, of: place(of: signed.root.channel), waits: waits)
    remembered = new
  }

  /// Returns the bytes of a sheet that this pull or an earlier one read.
  private func readBefore(_ sheet: SiteRoot.Sheet) -> [UInt8]? {
    sheets[sheet.digest]?.bytes
      ?? remembered?.sheets.first { $0.count == Int(sheet.byteCount) && Digest256(hashing: $0) == sheet.digest }
  }

  // MARK: - Attributes

  /// Reads the attributes of offers.
  func readAttributes(_ digests: some Sequence<Digest256>, in root: SiteRoot) async throws {
    let wanted = Set(digests).subtracting(attributes.keys)
    guard !wanted.isEmpty else { return }
    for sheet in root.sheets where sheets[sheet.digest] == nil { sheets[sheet.digest] = try await read(sheet) }
    for digest in wanted {
      let found = try root.sheets.lazy.compactMap { try self.sheets[$0.digest]?.sheet.attributes(digest) }.first
      guard let found else {
        throw DeliveryError(
          .corrupt, "the attributes of a version are missing on the site's sheets", at: source.location)
      }
      attributes[digest] = found
    }
  }

  private func read(_ sheet: SiteRoot.Sheet) async throws -> Sheet {
    if let bytes = readBefore(sheet), let known = try? sheet.open(bytes) { return Sheet(bytes: bytes, sheet: known) }
    return try await read(.sheet(sheet.digest), byteCount: Int(sheet.byteCount), digest: sheet.digest) { bytes in
      Sheet(bytes: bytes, sheet: try sheet.open(bytes))
    }
  }

  /// Returns the attributes of an offer, if they were read.
  func attributes(of offer: SiteRoot.Offer) -> Attributes? { offer.attributes.flatMap { attributes[$0] } }

  // MARK: - Manifests

  func readManifest(of offer: SiteRoot.Offer, _ pack: PackID) async throws -> VersionManifest {
    if let known = manifests[offer.manifest] { return known }
    let path = SitePath.version(offer.manifest)
    let manifest = try await read(path, byteCount: Int(offer.manifestByteCount), digest: offer.manifest) {
      try offer.openManifest($0, of: pack)
    }
    guard !manifest.hasTooManySegments else {
      throw DeliveryError(
        .corrupt, "the manifest lists more segments than the version can need", at: source.place(of: path.description))
    }
    manifests.keep(manifest, offer.manifest, byteCount: Int(offer.manifestByteCount))
    return manifest
  }

  /// Releases a used manifest: it is kept for another round only if it is small.
  func didUseManifest(of offer: SiteRoot.Offer) { manifests.release(offer.manifest) }

  /// Reads a whole file identified by its SHA-256. If it is damaged, requests it once more, bypassing all caches.
  private func read<Value>(
    _ path: SitePath, byteCount: Int, digest: Digest256, _ open: ([UInt8]) throws -> Value
  ) async throws -> Value {
    let file = SiteFile(path.description, byteCount: UInt64(byteCount))
    try budget.spend(byteCount, on: digest, at: source.place(of: file.path))
    var isFresh = false
    while true {
      let bytes = try await readBytes(of: file, isFresh: isFresh)
      do {
        return try open(bytes)
      } catch let error as PackStoreError {
        guard !isFresh, Digest256(hashing: bytes) != digest else {
          throw DeliveryError(error, at: source.place(of: file.path))
        }
        isFresh = true
      }
    }
  }

  /// The buffer is freed before the bytes are decoded.
  private func readBytes(of file: SiteFile, isFresh: Bool) async throws -> [UInt8] {
    let memory = OwnedMemory(Int(file.byteCount))
    let buffer = TransferBuffer(memory.bytes)
    defer { tally.take(buffer) }
    try await source.read(file, at: 0, into: buffer, isFresh: isFresh)
    return Array(memory.bytes)
  }
}
