import PackAuthoring
import PackDelivery
import PackStore

/// Restores purged data of packs from a site or another store.
struct PurgedDataRecovery {
  let store: Store
  let waits: Bool
  let bar: ProgressBar
  let authorizations: SiteAuthorizations

  /// Restores missing data of a pack's current version.
  ///
  /// - Returns: the number of restored bytes of assets; 0 if nothing was missing.
  @discardableResult
  func heal(_ pack: PackID, from place: String) async throws -> Int {
    guard let gap = try missing(pack, nil) else { return 0 }
    try await bring(gap.version, from: place, holds: false)
    return gap.byteCount
  }

  /// Restores missing data of all packs' current versions, each from the first place that has the data.
  ///
  /// - Returns: the restored gaps, and the remaining gaps.
  func healAll(from places: [String]) async throws -> (healed: [MissingData], left: [MissingData]) {
    var healed: [MissingData] = [], left: [MissingData] = []
    for pack in try store.read({ (snapshot: borrowing Snapshot) in snapshot.packs.map(\.id) }) {
      guard let gap = try missing(pack, nil) else { continue }
      if try await heal(gap, fromFirstOf: places) { healed.append(gap) } else { left.append(gap) }
    }
    return (healed, left)
  }

  /// Returns the current versions with damaged cached data, and the number of affected bytes of assets. Missing data is not
  /// counted.
  static func damagedGaps(in store: Store) throws -> [MissingData] {
    let snapshot = try store.makeSnapshot()
    return try snapshot.packs.compactMap { pack in
      let before = try snapshot.availability(of: pack.version).missingByteCount
      try snapshot.checkCachedData(of: pack.version)
      let byteCount = try snapshot.availability(of: pack.version).missingByteCount - before
      return byteCount > 0 ? MissingData(version: pack.version, byteCount: byteCount) : nil
    }
  }

  private func heal(_ gap: MissingData, fromFirstOf places: [String]) async throws -> Bool {
    for place in places {
      do {
        try await bring(gap.version, from: place, holds: false)
        return true
      } catch let error as PackStoreError where Self.isNotThere(error.code) {
      } catch let error as DeliveryError where Self.isRefusal(error.code) {
      }
    }
    return false
  }

  /// Whether the error means that this place lacks the data, and the next place may have it.
  private static func isNotThere(_ code: PackStoreError.Code) -> Bool {
    [.notFound, .exists, .otherOrigin, .downgrade, .purged, .corrupt].contains(code)
  }

  /// Whether the error means that a readable site must not change the pack. A repair may still copy its chunks, which are
  /// identified by their SHA-256.
  private static func isRefusal(_ code: DeliveryError.Code) -> Bool {
    [.noPack, .notSigned, .otherKey, .otherChannel, .tooOld, .expired].contains(code)
  }

  /// The missing data of a version.
  struct MissingData {
    let version: PackVersion
    let byteCount: Int
  }

  /// Makes a kept version with missing data current: restores its data, and holds the pack at it. Does nothing if no data is
  /// missing.
  func rollBack(_ pack: PackID, to number: UInt64, from place: String) async throws {
    guard let gap = try missing(pack, number) else { return }
    try await bring(gap.version, from: place, holds: true)
  }

  /// Returns a kept version with the number of its missing bytes; `nil` if no data is missing, or if no such version is kept.
  ///
  /// - Parameter number: the version's number; `nil` for the current version.
  private func missing(_ pack: PackID, _ number: UInt64?) throws -> MissingData? {
    let snapshot = try store.makeSnapshot()
    guard let version = snapshot.versions(of: pack).first(where: { number == nil || $0.number == number }) else {
      return nil
    }
    try snapshot.checkCachedData(of: version)
    let availability = try snapshot.availability(of: version)
    return availability.isWhole ? nil : MissingData(version: version, byteCount: availability.missingByteCount)
  }

  private func bring(_ version: PackVersion, from place: String, holds: Bool) async throws {
    // A site's store is read like a site, because its packs belong to the publisher who signs its roots.
    guard isStore(place), !Site.exists(at: FilePath(place)) else {
      var options = Store.PullOptions(waitsForWriters: waits)
      options.authorization = try authorizations.authorization(for: place)
      options.wantedVersion = .init(number: version.number, isHeld: holds)
      options.allowsDowngrade = true  // the user chose the version
      let result = try await store.pull(from: place, packs: [version.pack], options: options) {
        bar.update(Progress($0))
      }
      return try requireBrought(version, result, place)
    }
    let donor = try openStore(at: place, options: .readOnly).makeSnapshot()
    var options = Store.CopyOptions(allowsDowngrade: true)
    options.heals = !holds
    let copying = options
    try await store.change(options: .init(waitsForWriters: waits)) { transaction in
      if holds { try transaction.release(version.pack) }
      try transaction.copy(
        version.pack, version: version.number, from: donor, options: copying
      ) { bar.update(Progress(activity: "copying", $0)) }
      if holds { try transaction.rollBack(version.pack, toVersion: version.number) }
    }
  }
}

/// Fails if the pull did not change the pack: a pull also succeeds if it skips a pack.
private func requireBrought(_ version: PackVersion, _ result: Store.PullResult, _ place: String) throws {
  let reason: String
  switch result.packs.first?.outcome {
  case .updated, .unchanged, .healed: return
  case .stale: reason = "the site's state is older than the state pulled before, so nothing was fetched"
  case .held: reason = "the site has other content for \(version), and the pack is held"
  case .reusedNumber: reason = "the site has other content for \(version)"
  case .missingFiles: reason = "the site lacks files of \(version)"
  case .publisherOutOfDate: reason = "the site's publisher signed an older state again, so nothing was fetched"
  default: reason = "\(result.channel.map { "the channel '\($0)'" } ?? "the archive") has no pack '\(version.pack)'"
  }
  var error = DeliveryError(.noPack, reason, at: place)
  error.specificRemedy = "name another store that has \(version), or ask the publisher to promote it again"
  throw error
}

/// Whether a place is a folder that can be opened as a store. This includes a site's folder, except a copy of only the served
/// files.
func isStore(_ place: String) -> Bool {
  !place.contains("://") && pathExists(FilePath(place).appending("CONTROL"))
}
