import PackAuthoring
import PackDelivery
import PackStore

/// Brings back data of packs that is gone from the cache folder, from a site or from another store.
struct PurgedDataRecovery {
  let store: Store
  let waits: Bool
  let bar: ProgressBar
  let authorizations: SiteAuthorizations

  /// Heals the current version of a pack, if it lacks anything.
  ///
  /// - Returns: bytes of assets that were missing, and are there again.
  @discardableResult
  func heal(_ pack: PackID, from place: String) async throws -> Int {
    guard let gap = try missing(pack, nil) else { return 0 }
    try await bring(gap.version, from: place, holds: false)
    return gap.byteCount
  }

  /// Heals the current versions of all packs that lack anything, each from the first place that has it.
  ///
  /// - Returns: the restored gaps, and the gaps that remain.
  func healAll(from places: [String]) async throws -> (healed: [Gap], left: [Gap]) {
    var healed: [Gap] = [], left: [Gap] = []
    for pack in try store.read({ (snapshot: borrowing Snapshot) in snapshot.packs.map(\.id) }) {
      guard let gap = try missing(pack, nil) else { continue }
      if try await heal(gap, fromFirstOf: places) { healed.append(gap) } else { left.append(gap) }
    }
    return (healed, left)
  }

  /// The current versions of packs whose cached data is damaged, with the bytes of assets that it concerns. Data that is missing
  /// altogether is not counted.
  static func damagedGaps(in store: Store) throws -> [Gap] {
    let snapshot = try store.makeSnapshot()
    return try snapshot.packs.compactMap { pack in
      let before = try snapshot.availability(of: pack.version).missingByteCount
      try snapshot.checkCachedData(of: pack.version)
      let byteCount = try snapshot.availability(of: pack.version).missingByteCount - before
      return byteCount > 0 ? Gap(version: pack.version, byteCount: byteCount) : nil
    }
  }

  private func heal(_ gap: Gap, fromFirstOf places: [String]) async throws -> Bool {
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

  /// Whether another place may have what one has not.
  private static func isNotThere(_ code: PackStoreError.Code) -> Bool {
    [.notFound, .exists, .otherOrigin, .downgrade, .purged, .corrupt].contains(code)
  }

  /// Whether a site can be read and may not change the pack. A repair may take chunks from it all the same, by their SHA-256.
  private static func isRefusal(_ code: DeliveryError.Code) -> Bool {
    [.noPack, .notSigned, .otherKey, .otherChannel, .tooOld, .expired].contains(code)
  }

  /// The missing data of a version.
  struct Gap {
    let version: PackVersion
    let byteCount: Int
  }

  /// Makes a kept version current, and holds the pack there.
  ///
  /// - Parameter number: nil: the version before.
  func rollBack(_ pack: PackID, to number: UInt64, from place: String) async throws {
    guard let gap = try missing(pack, number) else { return }
    try await bring(gap.version, from: place, holds: true)
  }

  /// A kept version, by default the current one, and how many bytes of it are gone; nil: none.
  private func missing(_ pack: PackID, _ number: UInt64?) throws -> Gap? {
    let snapshot = try store.makeSnapshot()
    guard let version = snapshot.versions(of: pack).first(where: { number == nil || $0.number == number }) else {
      return nil
    }
    try snapshot.checkCachedData(of: version)
    let availability = try snapshot.availability(of: version)
    return availability.isWhole ? nil : Gap(version: version, byteCount: availability.missingByteCount)
  }

  private func bring(_ version: PackVersion, from place: String, holds: Bool) async throws {
    // The packs of a site's own store belong to its publisher, whose roots sign them.
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

/// A pull also ends well where it left a pack alone.
private func requireBrought(_ version: PackVersion, _ result: Store.PullResult, _ place: String) throws {
  let reason: String
  switch result.packs.first?.outcome {
  case .updated, .unchanged, .healed: return
  case .stale: reason = "the site's state is older than the state pulled before, so nothing was fetched"
  case .held: reason = "the site has other content for \(version), and the pack is held"
  case .reusedNumber: reason = "the site has other content for \(version)"
  case .publisherOutOfDate: reason = "the site's publisher signed an older state again, so nothing was fetched"
  default: reason = "\(result.channel.map { "the channel '\($0)'" } ?? "the archive") has no pack '\(version.pack)'"
  }
  var error = DeliveryError(.noPack, reason, at: place)
  error.specificRemedy = "name another store that has \(version), or ask the publisher to promote it again"
  throw error
}

/// A folder that can be opened as a store: also that of a site, unless it is a copy of what the site serves.
func isStore(_ place: String) -> Bool {
  !place.contains("://") && pathExists(FilePath(place).appending("CONTROL"))
}
