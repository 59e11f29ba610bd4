import PackFormats
import PackStore

extension Site.Alarm {
  /// The alarm for open releases whose last step does not count under the present root and key, with the time at which they stop.
  ///
  /// - Parameter now: in nanoseconds since 1970.
  static func stoppingRollouts(of signed: SignedSiteRoot, now: Int64) -> Self? {
    let root = signed.root
    let ends = [root.horizon.map { _ in root.horizonEnd }, root.expiresAt, signed.authority?.delegation.endsAt]
    guard let end = ends.compactMap({ $0 }).min() else { return nil }
    var count = 0, seen: Set<PackReleaseID> = []
    for offer in root.packs.lazy.flatMap(\.offers) {
      guard let rollout = offer.rollout, rollout.state == .open, let last = rollout.steps.last,
        last.time > max(now, end), offer.release.map({ seen.insert($0.id).inserted }) ?? true
      else { continue }
      count += 1
    }
    return count == 0
      ? nil : Self(.rolloutStops, root.channel, date: Date(nanosecondsSince1970: end), count: count)
  }
}
