extension AssetPackManager {
  /// What is offered to this app. Asks the sites.
  ///
  /// - Throws: what keeps every site from answering: `DeliveryError`, `PackStoreError`, ``ManagedPacksError``.
  public var manifest: AssetPackManifest {
    get async throws {
      let core = try coreToAsk(), catalog = try await core.catalog()
      return AssetPackManifest(
        appGroupID: core.configuration.appGroupID.name, assetPacks: Set(catalog.packs),
        primaryLanguage: catalog.primaryLanguage, resolvedLanguage: core.resolvedLanguage(of: catalog))
    }
  }

  /// The packs that are offered to this app. Asks the sites.
  public var allAssetPacks: Set<AssetPack> {
    get async throws { try await manifest.assetPacks }
  }

  /// One of them.
  ///
  /// - Throws: ``ManagedBackgroundAssetsError/assetPackNotFound(withID:)``; what ``manifest`` throws.
  public func assetPack(withID id: String) async throws -> AssetPack {
    let catalog = try await coreToAsk().catalog()
    if let pack = catalog.pack(id) { return pack }
    // It may be that of a site that did not answer.
    throw catalog.disagreements[id]?.error(id) ?? catalog.errors.first ?? catalog.error(ofMissing: id)
  }

  // MARK: - Status

  /// What is here of a pack and what is offered. A pack that lost bytes counts as not here. Asks the sites.
  ///
  /// - Throws: ``ManagedBackgroundAssetsError/assetPackNotFound(withID:)`` for a pack that is neither here nor listed.
  public func status(ofAssetPackWithID id: String) async throws -> AssetPack.Status {
    let state = try await state(of: id)
    guard state.local != nil || state.isListed else { throw ManagedBackgroundAssetsError.assetPackNotFound(withID: id) }
    return state.status
  }

  /// What is here of a pack against one version of it. Asks the sites whether that version still counts; downloads nothing.
  public func status(relativeTo pack: AssetPack) async throws -> AssetPack.Status {
    try await state(of: pack.id).status(relativeTo: UInt64(clamping: pack.version), of: pack.origin)
  }

  /// What can be said of a pack without asking a site: whether it is here, whole, and whether it was out of date or gone when a
  /// site was last asked in this process. Empty for a pack that is not here.
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

  /// The language that packs are read in; setting it comes before what the user prefers, until it is set to nil. Packs in it are
  /// fetched by ``reconcilePreferredLanguages()``.
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

  /// The languages of packs that are here.
  public nonisolated var locallyAvailableLanguages: Set<Locale.Language> {
    let tags = (try? core.packs.current().order.compactMap(\.language)) ?? []
    return Set(tags.map { Locale.Language(identifier: $0.text) })
  }
}

extension ManagedCore {
  /// - Parameter catalog: nil: no site was asked, and every pack counts as listed.
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
