import PackFormats
import PackStore

// The existing roots of a site, and the keys that may sign the next ones.

extension SiteFolder {
  /// Reads the root of a channel, which this key must follow; `nil` if it does not exist.
  ///
  /// - Parameters:
  ///   - key: the key to sign the next root with; `nil` to accept a root signed by any key.
  ///   - product: the product that the site must have, if known.
  ///   - acceptsDamage: whether a damaged root counts as missing, if it contains this key.
  func readRoot(
    of channel: SiteChannel, signedBy key: SiteKey?, of product: Store.Product?, acceptsDamage: Bool
  ) throws -> SignedSiteRoot? {
    guard let signed = try readRoot(of: channel, acceptsDamage: acceptsDamage) else {
      guard !acceptsDamage || !(key.map { namesAnotherKey(of: channel, than: $0) } ?? false) else {
        var error = PackStoreError(.untrusted, "its root is damaged and names another key", about: .site(path.string))
        error.specificRemedy = "use the key that signed the site; if it is this key, remove the root first"
        throw error
      }
      return nil
    }
    if let key { try require(key, toFollow: signed) }
    guard product == nil || product == signed.root.product else {
      var error = PackStoreError(
        .invalidArgument, "belongs to the product '\(signed.root.product)'", about: .site(path.string))
      error.specificRemedy = "publish each product to its own site, because clients would refuse this site"
      throw error
    }
    return signed
  }

  /// Whether a key may sign the root of a channel. If another key was delegated later, clients refuse this key. A key for all
  /// channels does not sign a channel with its own key, because clients would then refuse the channel's key.
  ///
  /// If damage hides a root's signer, a key may replace the root on `live`, or if it was made for the channel. For other keys, the
  /// channel may be closed.
  ///
  /// - Parameter isMeant: whether this is the target channel. Then the result is true if the key is for the channel, and other
  ///   faults are reported later.
  func maySign(_ channel: SiteChannel, _ key: SiteKey, isMeant: Bool) throws -> Bool {
    guard key.maySign(channel) else { return false }
    guard !isMeant else { return true }
    let before: SigningAuthority?
    do { before = try authority(of: channel) } catch let error as PackStoreError where error.saysDamage {
      return channel == .live || key.delegation?.channels.contains(channel) == true
    }
    guard let before, before.firstKey == key.firstKey else { return true }
    let own = try key.authority(for: before.delegation.product).delegation
    let hasKeyOfItsOwn = own.channels.isEmpty && !before.delegation.channels.isEmpty
    return own.serial >= before.delegation.serial && !hasKeyOfItsOwn
  }

  /// Returns the authority that signed the root of a channel, even if the root itself is damaged; `nil` if the root is unsigned or
  /// missing.
  ///
  /// - Throws: `corrupt`, `untrusted`, `wrongKind` if the signing authority is damaged.
  private func authority(of channel: SiteChannel) throws -> SigningAuthority? {
    do {
      let bytes = try read(.root(channel), limit: SiteRoot.byteCountLimit)
      let file = SitePath.root(channel).description
      guard isConverting, SignedSiteRoot.isOfPreviousDraft(bytes) else {
        return try SignedSiteRoot.authority(in: bytes[...], file: file)
      }
      return try SignedSiteRoot.previousAuthority(in: bytes.dropLast(SiteKey.signatureByteCount), file: file)
    } catch let error as PackStoreError where error.code == .notFound { return nil }
  }

  /// Whether the site lost its root of `live`. A key that may sign `live` writes that root with the site's first commit.
  ///
  /// - Parameter key: the publisher's key; `nil` to consider all keys that signed existing roots.
  func hasLostLive(among channels: [SiteChannel], _ key: SiteKey?) throws -> Bool {
    guard !channels.contains(.live), !channels.isEmpty else { return channels.isEmpty }
    if let key { return key.maySign(.live) }
    return try channels.contains { channel in
      try readRoot(of: channel, acceptsDamage: true)?.authority?.delegation.allows(.live) ?? false
    }
  }

  /// Whether the site is being converted and the channel's root is of the previous draft.
  func isOfPreviousDraft(_ channel: SiteChannel) throws -> Bool {
    guard isConverting else { return false }
    do {
      return SignedSiteRoot.isOfPreviousDraft(try read(.root(channel), limit: SiteRoot.byteCountLimit))
    } catch let error as PackStoreError where error.code == .notFound { return false }
  }

  /// Fails unless clients of the site accept signatures of the key.
  private func require(_ key: SiteKey, toFollow signed: SignedSiteRoot) throws {
    guard let before = signed.authority else { throw otherKey("not signed") }
    let next = try key.authority(for: signed.root.product)
    guard next.firstKey == before.firstKey, next.rootKeys.contains(before.rootKey) else {
      throw otherKey("signed by another key, \(before.rootKey)")
    }
    guard next.delegation.serial >= before.delegation.serial else {
      throw otherKey("signed by a later key than this key")
    }
  }

  private func otherKey(_ reason: String) -> PackStoreError {
    var error = PackStoreError(.untrusted, reason, about: .site(path.string))
    error.specificRemedy = "use the key that signed it, because clients refuse any other"
    return error
  }

  /// Reads the root of a channel, signed by any key; `nil` if it does not exist.
  ///
  /// - Parameter acceptsDamage: whether a damaged root counts as missing.
  func readRoot(of channel: SiteChannel = .live, acceptsDamage: Bool) throws -> SignedSiteRoot? {
    do {
      return try readRoot(of: channel)
    } catch var error as PackStoreError where error.saysDamage {
      if acceptsDamage { return nil }
      error.specificRemedy =
        "call Site.repair with a key that may sign the channel; or remove the file, and promote the versions of the channel"
        + " again"
      error.detail = .damagedRoot
      throw error
    }
  }

  /// Whether a damaged root contains another key that differs in more bytes than damage could explain.
  private func namesAnotherKey(of channel: SiteChannel, than key: SiteKey) -> Bool {
    guard let bytes = try? read(.root(channel), limit: SiteRoot.byteCountLimit),
      let named = SignedSiteRoot.namedKey(in: bytes)
    else { return false }
    return zip(named, key.firstKey.bytes).count { $0 != $1 } > 4
  }

  /// Fails unless the options contain the settings that only the lost root contained: a guess could make clients refuse the site.
  ///
  /// - Throws: `invalidArgument`.
  func requireNewRoot(_ options: Site.PublishOptions) throws {
    guard options.product == nil || options.expiry == .asBefore else { return }
    var error = PackStoreError(
      .invalidArgument, "the root is lost, with its product and its expiry", about: .site(path.string),
      detail: .lostRoot)
    error.specificRemedy = "set the options product and expiry to their former values"
    throw error
  }
}

extension PackStoreError {
  /// Whether a root appears to be damaged.
  fileprivate var saysDamage: Bool { [.corrupt, .untrusted, .wrongKind].contains(code) }
}
