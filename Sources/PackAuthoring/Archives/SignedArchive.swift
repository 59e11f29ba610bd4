import PackFormats
import PackStore

/// An archive of one version of a pack, with verified signatures. ``requirePublisher(_:at:)`` checks whether its signer is trusted.
struct SignedArchive {
  let path: FilePath
  let files: SiteFiles
  let signed: SignedSiteRoot
  let pack: SiteRoot.Pack
  let offer: SiteRoot.Offer
  let manifest: VersionManifest

  /// - Throws: `notFound`; `corrupt`, `untrusted` for a wrong signature.
  init(at path: FilePath) throws {
    do {
      self = try Self.read(path)
    } catch var error as PackStoreError where error.code == .corrupt || error.code == .untrusted {
      if error.specificRemedy == nil { error.specificRemedy = Self.packageRemedy }
      throw error
    }
  }

  private static func read(_ path: FilePath) throws -> SignedArchive {
    let files = try SiteFiles(at: path)
    let signed = try files.readRoot(of: .live)
    guard signed.root.packs.count == 1, let pack = signed.root.packs.first, let offer = pack.offers.first else {
      throw PackStoreError(.corrupt, "does not contain exactly one pack", file: path.string)
    }
    let manifest = try offer.openManifest(
      try files.read(.version(offer.manifest), limit: VersionManifest.byteCountLimit), of: pack.id)
    return SignedArchive(path: path, files: files, signed: signed, pack: pack, offer: offer, manifest: manifest)
  }

  private init(
    path: FilePath, files: SiteFiles, signed: SignedSiteRoot, pack: SiteRoot.Pack, offer: SiteRoot.Offer,
    manifest: VersionManifest
  ) {
    (self.path, self.files, self.signed) = (path, files, signed)
    (self.pack, self.offer, self.manifest) = (pack, offer, manifest)
  }

  /// Checks the archive by the rules of clients: it belongs to the key's publisher, its signer is authorized and not replaced, and
  /// it is neither expired nor dated in the future.
  ///
  /// - Parameter now: the current time, in nanoseconds since 1970.
  /// - Throws: `untrusted`.
  func requirePublisher(_ key: SiteKey, at now: Int64) throws {
    guard let authority = signed.authority else { throw refusal("not signed", Self.importRemedy) }
    guard authority.firstKey == key.firstKey else {
      throw refusal("signed by another publisher's key, \(authority.rootKey)", Self.importRemedy)
    }
    let isOfOldRootKey = !authority.rootKeys.contains(key.rootKey)
    guard !isOfOldRootKey, !isReplaced(by: key.delegation) else { throw replacedSigner }
    if let end = authority.delegation.endsAt, end <= now {
      throw refusal("signed by a key that expired at \(Self.date(end))", Self.packageRemedy)
    }
    if let end = signed.root.expiresAt, end <= now {
      throw refusal("expired at \(Self.date(end))", Self.packageRemedy)
    }
    guard signed.root.madeAt <= now.addingClamped(SiteRoot.clockTolerance) else {
      throw refusal(
        "dated \(Self.date(signed.root.madeAt)), more than a day from now", nil)
    }
  }

  /// Checks that the keys in a site's roots do not replace the archive's signer: the signature of a replaced key is invalid.
  ///
  /// - Throws: `untrusted`.
  func requireNotReplaced(by authorities: [SigningAuthority]) throws {
    guard let own = signed.authority else { return }
    for authority in authorities where authority.firstKey == own.firstKey {
      if !own.rootKeys.contains(authority.rootKey) || isReplaced(by: authority.delegation) { throw replacedSigner }
    }
  }

  /// Whether a later delegation of the root key for the archive's channel replaces the archive's delegation.
  private func isReplaced(by delegation: KeyDelegation?) -> Bool {
    guard let delegation, let own = signed.authority?.delegation, delegation.product == own.product else {
      return false
    }
    return delegation.allows(signed.root.channel) && delegation.serial > own.serial
  }

  private static let importRemedy = "to publish its content as your own, import it into a store and publish the store"
  private static let packageRemedy = "create the archive again, or fetch it again from its publisher"

  private var replacedSigner: PackStoreError {
    refusal("signed by a key that its publisher has since replaced", Self.packageRemedy)
  }

  private func refusal(_ reason: String, _ remedy: String?) -> PackStoreError {
    var error = PackStoreError(.untrusted, reason, file: path.string)
    error.specificRemedy = remedy
    return error
  }

  private static func date(_ nanoseconds: Int64) -> String {
    Date(nanosecondsSince1970: nanoseconds).formatted(.iso8601)
  }
}
