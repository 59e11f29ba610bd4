import PackFormats
public import PackStore

extension Site {
  /// The download of a device that updates from one version to another.
  public struct Update: Hashable, Codable, Sendable {
    public let from: PackVersion
    public let to: PackVersion

    /// The approximate download by ranges, in bytes: the frames with new chunks, as a pull requests them, without metadata.
    public let rangeByteCount: Int

    /// The length of the site's delta for the update, or of the shortest chain of deltas; `nil` if no delta exists yet.
    public let deltaByteCount: Int?

    /// The number of these deltas. More than one delta is a chain; 0 if no delta exists yet.
    public let deltaCount: Int

    /// - Parameters:
    ///   - rangeByteCount: the size of the frames to fetch.
    ///   - routes: the delta routes to the new version.
    init(
      from: PackVersion, to: PackVersion, rangeByteCount: Int, _ routes: DeltaRoutes
    ) {
      self.from = from
      self.to = to
      self.rangeByteCount = rangeByteCount
      let deltas = routes.shortest(from: from.catalog)
      deltaByteCount = deltas.map { Int(clamping: $0.byteCount) }
      deltaCount = deltas?.count ?? 0
    }
  }
}

extension Publication {
  /// Returns the downloads of devices with the currently offered versions.
  func updates(
    to published: [Store.InstallResult], from offered: [PackID: [PackVersion]], _ change: SiteChange,
    in transaction: borrowing Transaction
  ) throws -> [Site.Update] {
    var updates: [Site.Update] = []
    for result in published {
      let new = result.version
      let routes = change.routes(to: new, on: channel)
      for old in Set(offered[new.pack] ?? []).sorted(by: { $0.number < $1.number }) where old.number != new.number {
        do {
          let byteCount = try transaction.updateByteCount(of: new.pack, from: old.number, to: new.number)
          updates.append(.init(from: old, to: new, rangeByteCount: byteCount, routes))
        } catch let error as PackStoreError where [.notFound, .purged, .corrupt].contains(error.code) {
          // The version was dropped or is damaged, so its download size is unknown.
        }
      }
    }
    return updates
  }
}

extension SiteEdit {
  /// Returns the downloads of devices that update from a channel's current offers to a version.
  func updates(
    to new: PackVersion, on channel: SiteChannel, from offers: [ChannelPlan.Offer], _ change: SiteChange,
    in snapshot: Snapshot
  ) throws -> [Site.Update] {
    let routes = change.routes(to: new, on: channel)
    return try offers.compactMap { snapshot.version($0.number, of: new.pack) }.filter { $0.number != new.number }
      .map { .init(from: $0, to: new, rangeByteCount: try snapshot.updateByteCount(from: $0, to: new), routes) }
  }
}
