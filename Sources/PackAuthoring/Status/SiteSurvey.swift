import PackFormats
import PackStore

/// The state of a site, read from its own files without a key.
///
/// A damaged root is an alarm, not an error: its channel is missing in the status.
package struct SiteSurvey: Sendable {
  package var status: Site.Status

  /// The files that roots refer to, the files of kept versions, and the records of the history, without roots, and their lengths.
  package let files: [SitePath: UInt64]

  /// - Parameter now: in nanoseconds since 1970.
  /// - Throws: `ioError`, `outOfMemory`; `corrupt` if the list of retired files is damaged.
  package init(of site: Site, now: Int64) throws {
    let folder = site.folder, channels = try folder.channels()
    var roots: [SignedSiteRoot] = [], damaged: [SiteChannel] = []
    for channel in channels {
      if let signed = try folder.readRoot(of: channel, acceptsDamage: true) {
        roots.append(signed)
      } else {
        damaged.append(channel)
      }
    }
    let sheets = Set(roots.flatMap(\.root.sheets)).compactMap { try? folder.sheet($0) }
    var status = Site.Status(
      roots, labels: sheets.reduce(into: [:]) { $0.merge($1.labels) { first, _ in first } }, now: now)
    for channel in damaged { status.add(.init(.damagedRoot, channel)) }
    let hasLostLive = try !channels.isEmpty && folder.hasLostLive(among: channels, nil)
    if hasLostLive { status.add(.init(.lostRoot, .live)) }
    let snapshot = try site.store.makeSnapshot()
    let uses = try SiteFileUses(of: roots.map(\.root), kept: snapshot.keptVersions, in: folder)
    let live = roots.first { $0.root.channel == .live }?.root
    let policy = Result { try live?.retentionPolicy() }, present = (try? policy.get()) ?? nil
    let lost = (present?.pins ?? []).count { snapshot.version($0.version, of: $0.pack) == nil }
    if lost > 0 { status.add(.init(.policyUnmet, .live, count: lost)) }
    if case .failure = policy { status.add(.init(.policyUnmet, .live)) }
    status.policy = present
    var (space, due) = try uses.space(grace: (present ?? .standard).grace, now: now)
    // Files that a lost or damaged root refers to look like files without a use.
    let isKnown = damaged.isEmpty && !hasLostLive
    if !isKnown { (space.deadByteCount, space.retired) = (nil, nil) }
    status.space = space
    if isKnown, due > 0 { status.add(.init(.dueFiles, count: due)) }
    let deltas = try Self.missingDeltas(roots, site, in: snapshot)
    status.missingDeltas = deltas
    if !deltas.isEmpty { status.add(.init(.missingDelta, count: deltas.count)) }
    self.status = status
    let others = [uses.kept, try folder.linkedRecords(of: roots.map(\.root)), folder.recordsElsewhere]
    files = others.reduce(into: uses.needed) { $0.merge($1) { first, _ in first } }
  }

  /// The deltas that a publisher would build next, one for each offered version.
  private static func missingDeltas(
    _ roots: [SignedSiteRoot], _ site: Site, in snapshot: Snapshot
  ) throws -> [Site.Status.MissingDelta] {
    let states = try roots.map { try ChannelState($0.root.channel, $0, byteCount: 0, files: [:], key: nil) }
    let work = DeltaWork(site.store, folder: site.folder, deltaCount: 1, level: 1, progress: nil)
    let pairs = work.pairs(
      snapshot.offered(by: states, among: states), DeltaIndex(roots.map(\.root)), in: snapshot,
      without: states.haltedVersions(in: snapshot))
    return pairs.map { from, to in
      .init(
        pack: to.pack, from: from.number, to: to.number,
        rangeByteCount: try? snapshot.updateByteCount(from: from, to: to))
    }
  }
}

extension Site {
  /// Returns the files among these that are missing in the site's folder or have other lengths.
  ///
  /// - Throws: `ioError` if a file cannot be examined.
  package func faults(among files: [SitePath: UInt64]) throws -> [ObjectFault] {
    try files.compactMap { path, byteCount in
      let found = try folder.byteCount(of: path)
      return found == byteCount
        ? nil : ObjectFault(path: path.description, byteCount: byteCount, foundByteCount: found)
    }.sorted { $0.path < $1.path }
  }
}
