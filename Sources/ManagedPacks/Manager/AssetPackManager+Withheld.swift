extension AssetPackManager {
  /// The newest version of a pack that is not installed, and the reason.
  public struct WithheldPack: Hashable, Codable, Sendable {
    /// The newest version that the channel ever offered; `nil` if the pack's site could not be used.
    public let version: Int?

    public let reason: WithheldReason

    /// The id of the pack that cannot be installed, if the reason is `releaseIncomplete`: the releases of packs are installed
    /// completely or not at all.
    public let blockingPack: String?

    init(version: Int?, reason: WithheldReason, blockingPack: String? = nil) {
      self.version = version
      self.reason = reason
      self.blockingPack = blockingPack
    }
  }

  /// The packs whose newest version an update would not install, by id, with the reasons: packs that sites list, and installed
  /// packs whose sites cannot be used because of their keys or dates. Contacts the sites; downloads nothing.
  ///
  /// - Throws: the errors of ``manifest``, except errors with a reason of `WithheldReason`.
  public var withheldPacks: [String: WithheldPack] {
    get async throws {
      let core = try coreToAsk()
      do {
        let catalog = try await core.catalog()
        return try core.withheldPacks(in: catalog)
      } catch {
        guard let reason = WithheldReason(siteError: error) else { throw error }
        return try core.packs.current().packs.mapValues { _ in WithheldPack(version: nil, reason: reason) }
      }
    }
  }
}

extension ManagedCore {
  func withheldPacks(in catalog: PackCatalog) throws -> [String: AssetPackManager.WithheldPack] {
    let local = try packs.current().packs
    var found: [String: AssetPackManager.WithheldPack] = [:]
    // An installed pack that no answer lists may belong to the site that failed.
    if let reason = catalog.errors.lazy.compactMap(WithheldReason.init(siteError:)).first {
      for id in local.keys where !catalog.isListed(id) { found[id] = .init(version: nil, reason: reason) }
    }
    for pack in catalog.packs where try lacksSpace(for: pack, local[pack.id]?.pack.version.number) {
      found[pack.id] = .init(version: pack.version, reason: .noSpace)
    }
    for (id, withheld) in catalog.withheld {
      found[id] = .init(
        version: Int(clamping: withheld.version), reason: withheld.reason, blockingPack: withheld.blockingPack?.name)
    }
    return found
  }

  /// Whether a version is not installed, and does not fit on the disk even if purgeable data is deleted. An update shares most of
  /// its data with the installed version, so that only the reserve counts.
  private func lacksSpace(for pack: AssetPack, _ installed: UInt64?) throws -> Bool {
    let rules = options.rules
    guard installed != UInt64(clamping: pack.version), let free = rules.freeByteCount(folder.home) else { return false }
    let needed = rules.reservedByteCount.addingClamped(installed == nil ? pack.downloadSize : 0)
    guard free < needed else { return false }
    return try free.addingClamped(store.makeSnapshot().space().cache.byteCount) < needed
  }
}

extension WithheldReason {
  /// Returns the reason why a site that failed cannot be used; `nil` for other errors, such as a missing connection.
  init?(siteError error: any Error) {
    switch error {
    case let error as DeliveryError where [.expired, .tooOld].contains(error.code): self = .expired
    case let error as DeliveryError where Self.keyErrors.contains(error.code): self = .keyNotTrusted
    case let error as ManagedPacksError where error.code == .staleSite: self = .stale
    case let error as PackStoreError where error.code == .noSpace: self = .noSpace
    default: return nil
    }
  }

  private static let keyErrors: Set<DeliveryError.Code> = [.notSigned, .badSignature, .otherKey, .forkedRoot]
}
