extension AssetPackManager {
  /// The manifest: the packs offered to this app and its languages. Contacts the sites.
  ///
  /// - Throws: `DeliveryError`, `PackStoreError` or ``ManagedPacksError`` if no site answers.
  public var manifest: AssetPackManifest {
    get async throws {
      let core = try coreToAsk(), catalog = try await core.catalog()
      return AssetPackManifest(
        appGroupID: core.configuration.appGroupID.name, assetPacks: Set(catalog.packs),
        primaryLanguage: catalog.primaryLanguage, resolvedLanguage: core.resolvedLanguage(of: catalog))
    }
  }

  /// The packs offered to this app. Contacts the sites.
  public var allAssetPacks: Set<AssetPack> {
    get async throws { try await manifest.assetPacks }
  }

  /// Returns the offered pack with an id. Contacts the sites.
  ///
  /// - Throws: ``ManagedBackgroundAssetsError/assetPackNotFound(withID:)``; the error of a site that did not answer, because that
  ///   site may offer the pack; the errors of ``manifest``.
  public func assetPack(withID id: String) async throws -> AssetPack {
    let catalog = try await coreToAsk().catalog()
    if let pack = catalog.pack(id) { return pack }
    // A site that did not answer may offer the pack.
    throw catalog.disagreements[id]?.error(id) ?? catalog.errors.first ?? catalog.error(ofMissing: id)
  }

  // MARK: - Status

  /// Returns a pack's status on this machine and on its site. A pack that has lost data counts as not downloaded. Contacts the
  /// sites.
  ///
  /// - Throws: ``ManagedBackgroundAssetsError/assetPackNotFound(withID:)`` if the pack is neither installed nor listed.
  public func status(ofAssetPackWithID id: String) async throws -> AssetPack.Status {
    let state = try await state(of: id)
    guard state.local != nil || state.isListed else { throw ManagedBackgroundAssetsError.assetPackNotFound(withID: id) }
    return state.status
  }

  /// Returns the status of the installed version compared with the version in `pack`. Contacts the sites, because the offer may
  /// have changed; downloads nothing.
  public func status(relativeTo pack: AssetPack) async throws -> AssetPack.Status {
    try await state(of: pack.id).status(relativeTo: UInt64(clamping: pack.version), of: pack.origin)
  }

  /// Returns a pack's status without contacting a site: whether it is complete, and whether it was out of date or obsolete when
  /// this process last contacted its sites. Empty if the pack is not installed or not complete.
  public func localStatus(ofAssetPackWithID id: String) async -> AssetPack.Status {
    guard let core = try? core, let state = try? core.state(of: id, core.knownCatalog), state.local != nil else {
      return []
    }
    let known: AssetPack.Status = core.knownCatalog == nil ? [] : [.outOfDate, .obsolete]
    return state.status.intersection(known.union(.downloaded))
  }

  private func state(of id: String) async throws -> PackState {
    let core = try coreToAsk(), catalog = try await core.catalog()
    if !catalog.isListed(id), let error = catalog.errors.first { throw error }
    return try core.state(of: id, catalog)
  }

  // MARK: - Languages

  /// The language in which packs are read. A language set here takes precedence over the user's preferences, until it is set to
  /// `nil`. ``reconcilePreferredLanguages()`` downloads the packs in that language.
  public nonisolated var resolvedLanguage: Locale.Language? {
    get {
      guard let core = try? core else { return nil }
      let tags = (try? core.packs.current().order.compactMap(\.language)) ?? []
      let offered = core.knownCatalog?.packs.compactMap(\.languageTag) ?? []
      let matcher = LanguageMatcher(available: Set(tags + offered), primary: core.knownCatalog?.primaryLanguage)
      return matcher.resolve(preferred: core.preferredTags()).map { Locale.Language(identifier: $0.text) }
    }
    set {
      guard let core = try? core else { return }
      core.choose(newValue.flatMap { try? LanguageTag($0.minimalIdentifier) })
    }
  }

  /// The languages of the installed packs.
  public nonisolated var locallyAvailableLanguages: Set<Locale.Language> {
    let tags = (try? core.packs.current().order.compactMap(\.language)) ?? []
    return Set(tags.map { Locale.Language(identifier: $0.text) })
  }
}

extension ManagedCore {
  /// - Parameter catalog: `nil` if no site was contacted; every pack then counts as listed.
  func state(of id: String, _ catalog: PackCatalog?) throws -> PackState {
    var state = PackState()
    if let pack = try packs.current().packs[id]?.pack, try packs.isWhole(id) {
      state.local = pack.version.number
      state.localOrigin = pack.origin
      state.isHeld = pack.isHeld
    }
    state.isListed = catalog?.isListed(id) ?? true
    if let offer = catalog?.pack(id) {
      state.offered = UInt64(clamping: offer.version)
      state.offeredOrigin = offer.origin
    }
    state.isDownloading = scheduler.isOpen(id)
    return state
  }
}
