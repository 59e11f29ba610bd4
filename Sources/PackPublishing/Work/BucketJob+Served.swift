import PackDelivery
import PackFormats
import PackStore

/// Compares the ledger with the served roots: anyone with write access to only the private prefix can restore an older ledger, but
/// cannot change roots.
extension BucketJob {
  /// A served root as it was read.
  struct ServedRoot: Sendable {
    let digest: Digest256
    let bytes: [UInt8]
    let tag: ObjectTag
  }

  /// The roots that devices get, of these channels.
  func servedRoots(_ channels: some Sequence<SiteChannel>) async throws -> [SiteChannel: ServedRoot] {
    var roots: [SiteChannel: ServedRoot] = [:]
    for channel in channels { roots[channel] = try await servedRoot(channel) }
    return roots
  }

  func servedRoot(_ channel: SiteChannel) async throws -> ServedRoot? {
    guard let object = try await storage.read(.file(.root(channel)), limit: SiteRoot.byteCountLimit) else { return nil }
    return ServedRoot(digest: Digest256(hashing: object.bytes), bytes: object.bytes, tag: object.tag)
  }

  /// The channels whose roots are compared with a ledger.
  static func channels(of ledger: Ledger, _ image: SignedSiteImage?) -> [SiteChannel] {
    let ready = ledger.readyJob.flatMap { ledger.jobs[$0] }
    guard image != nil || ready != nil else { return [] }
    var channels: Set<SiteChannel> = [.live]
    if let image { channels.formUnion(image.image.roots.keys) }
    return channels.union(ready?.intents?.keys.map { $0 } ?? []).sorted()
  }

  /// Finds a root of the publisher that is newer than the committed image, or belongs to another site.
  ///
  /// Damaged roots and roots of other or revoked keys are ignored: the next publication replaces them.
  ///
  /// - Parameters:
  ///   - base: the committed image; `nil` before the first.
  ///   - next: an image whose roots may be served already.
  func newerRoot(
    among served: [SiteChannel: ServedRoot], than base: SignedSiteImage?, _ next: SignedSiteImage?
  ) async throws -> SiteChannel? {
    guard let owner = next ?? base else { return nil }
    for (channel, root) in served.sorted(by: { $0.key < $1.key }) {
      let known = [base, next].compactMap { $0?.image.roots[channel]?.digest }
      guard !known.contains(root.digest),
        let other = try? decodeRoot(root.bytes, of: channel),
        let authority = other.authority, authority.firstKey == owner.authority.firstKey,
        authority.delegation.serial >= max(revokedBelow, owner.authority.delegation.revokedBelow)
      else { continue }
      guard other.root.site == owner.image.site, let base, base.image.roots[channel] != nil else { return channel }
      // If two roots have one number, a job that was never committed made one of them.
      if RootOrder(other) >= RootOrder(try await self.root(channel, of: base, served)) { return channel }
    }
    return nil
  }

  /// The root of an image, taken from the served ones if it is among them.
  func root(
    _ channel: SiteChannel, of image: SignedSiteImage, _ served: [SiteChannel: ServedRoot]
  ) async throws -> SignedSiteRoot {
    guard let file = image.image.roots[channel] else { throw MissingObject(key: .file(.root(channel))) }
    let bytes =
      if let root = served[channel], root.digest == file.digest { root.bytes } else {
        try await rootBytes(channel, file.digest, of: image.image)
      }
    return try decodeRoot(bytes, of: channel)
  }

  /// Decodes a root, if the job converts a site also one of the previous draft.
  func decodeRoot(_ bytes: [UInt8], of channel: SiteChannel) throws -> SignedSiteRoot {
    try SignedSiteRoot(decoding: bytes, file: name(of: channel), readsPreviousDraft: isConverting)
  }

  /// Checks that no root is served that is newer than the ledger: the files that it leads to would be lost.
  func requireKnown(_ served: [SiteChannel: ServedRoot], _ next: SignedSiteImage, _ base: Base) async throws {
    guard let channel = try await newerRoot(among: served, than: base.image, next) else { return }
    // Another publisher may have been faster.
    for _ in 0..<3 {
      let ledger = try await ledgerFile.read().ledger
      guard ledger.committed?.image == base.image?.digest, ledger.readyJob == nil else {
        throw Ledger.Refusal.otherImage
      }
    }
    guard try await servedRoot(channel)?.digest == served[channel]?.digest else { throw Ledger.Refusal.otherImage }
    throw conflict(channel, base.image)
  }

  func conflict(_ channel: SiteChannel, _ image: SignedSiteImage?) -> PackStoreError {
    let ledger = image.map { "the ledger, which names image \($0.image.number)" } ?? "the ledger"
    var error = PackStoreError(
      .conflict, "the root of '\(channel)' was replaced by a newer one that is not in \(ledger)",
      file: name(of: channel), detail: .foreignChange)
    error.specificRemedy =
      "if an older ledger was put back, restore the newest version of the ledger and the image that it names; else put the root of"
      + " the ledger back, and publish only by commands that use the ledger"
    return error
  }

  /// When the image was committed, in seconds since 1970.
  ///
  /// The ledger is not signed. A time before the date of the newest root would end the grace period of retired files too early.
  func committedTime(of base: Base) async throws -> Ledger.Time {
    guard let image = base.image else { return 0 }
    var time = base.committed
    for (channel, root) in base.served where image.image.roots[channel]?.digest == root.digest {
      guard let signed = try? decodeRoot(root.bytes, of: channel) else { continue }
      time = max(time, signed.root.madeAt / 1_000_000_000)
    }
    return min(time, max(try await storage.now(), 0))
  }

  func name(of channel: SiteChannel) -> String { "\(storage.location): \(SitePath.root(channel))" }
}
