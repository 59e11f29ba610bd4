import PackFormats
public import PackStore

extension Site {
  /// The download of a device that updates from one version to another.
  public struct Update: Hashable, Codable, Sendable {
    public let from: PackVersion
    public let to: PackVersion

    /// The approximate download by ranges: the bytes of new chunks, at the compression ratio of the whole version, without
    /// metadata.
    public let rangeByteCount: Int

    /// The length of the site's delta for it, or of the shortest chain of deltas; `nil` if none exists yet.
    public let deltaByteCount: Int?

    /// The number of these deltas: more than one form a chain; 0: none exists yet.
    public let deltaCount: Int

    /// - Parameters:
    ///   - totals: the difference between the versions.
    ///   - ratio: the compressed size of a byte.
    ///   - routes: the delta routes to the new version.
    init(
      from: PackVersion, to: PackVersion, _ totals: Snapshot.DifferenceTotals, ratio: Double, _ routes: DeltaRoutes
    ) {
      self.from = from
      self.to = to
      rangeByteCount = Int(min(Double(totals.newByteCount) * min(ratio, 1), 1e18))
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
      let ratio = result.newByteCount > 0 ? Double(result.newStoredByteCount) / Double(result.newByteCount) : 1
      for old in Set(offered[new.pack] ?? []).sorted(by: { $0.number < $1.number }) where old.number != new.number {
        do {
          let totals = try transaction.difference(of: new.pack, from: old.number, to: new.number)
          updates.append(.init(from: old, to: new, totals, ratio: ratio, routes))
        } catch let error as PackStoreError where [.notFound, .purged, .corrupt].contains(error.code) {
          // Dropped or damaged: its download is unknown.
        }
      }
    }
    return updates
  }
}

extension ChannelEdit {
  /// Returns the downloads of devices that update from the channel's current offers to a version.
  func updates(
    to new: PackVersion, from offers: [ChannelPlan.Offer], _ change: SiteChange, in snapshot: Snapshot
  ) throws -> [Site.Update] {
    let routes = change.routes(to: new, on: channel)
    let download = try snapshot.downloadByteCount(of: new)
    let ratio = new.byteCount > 0 ? Double(download) / Double(new.byteCount) : 1
    return try offers.compactMap { snapshot.version($0.number, of: new.pack) }.filter { $0.number != new.number }
      .map { .init(from: $0, to: new, try snapshot.compare($0, with: new) { _ in }, ratio: ratio, routes) }
  }
}
