import PackFormats
import PackStore

/// Which versions stay on a site, and why.
///
/// Builds that were never offered are counted separately from offered versions. Builds for tests therefore do not displace the
/// version that a publisher can go back to.
struct VersionRetention {
  /// The first of these reasons that applies to a version.
  enum Reason: Hashable {
    /// A channel offers it.
    case offered

    case pinned

    /// It is the current version of the site's store.
    case current

    /// A channel offered it before its current version.
    case previous

    /// It is among the last versions that were offered.
    case offeredBefore

    /// It is among the latest builds that wait for a channel.
    case build

    /// It belongs to a pack that is not durable, and devices may need its data until then, in nanoseconds since 1970.
    case purgeable(until: Int64)
  }

  /// How many versions of a pack stay, the current one included. With 1, no version to go back to stays.
  let offeredCount: Int

  /// How many builds that wait to be offered stay.
  let buildCount: Int

  let pins: Set<RetentionPolicy.Pin>

  /// How long versions of packs that are not durable stay, in nanoseconds.
  let purgeableGrace: Int64

  let history: OfferHistory

  /// The current time, in nanoseconds since 1970.
  let now: Int64

  /// - Parameter count: the number of offered versions and of builds, the current version included in both, instead of the policy's;
  ///   `nil`: the policy's.
  init(_ policy: RetentionPolicy, keeping count: Int? = nil, history: OfferHistory, now: Int64) {
    offeredCount = max(count ?? policy.offeredVersionCount, 1)
    buildCount = count.map { max($0 - 1, 0) } ?? policy.buildCount
    pins = Set(policy.pins)
    purgeableGrace = policy.purgeableGrace.nanoseconds
    self.history = history
    self.now = now
  }

  /// Returns the reasons of the versions that stay, by their numbers.
  ///
  /// - Parameters:
  ///   - versions: the kept versions of a pack, the current one first, then the latest.
  ///   - offers: the numbers that each channel offers of the pack. The version before them stays.
  ///   - isPurgeable: whether devices may delete a version's data and fetch it again.
  func reasons(
    for versions: [PackVersion], of pack: PackID, beside offers: [SiteChannel: [UInt64]],
    isPurgeable: (PackVersion) throws -> Bool
  ) rethrows -> [UInt64: Reason] {
    var reasons: [UInt64: Reason] = [:]
    if let current = versions.first { reasons[current.number] = .current }
    for version in versions where version.isPinned || pins.contains(.init(pack, version.number)) {
      reasons[version.number] = .pinned
    }
    for number in offers.values.joined() { reasons[number] = .offered }
    choose(among: versions.filter { reasons[$0.number] == nil }, of: pack, beside: offers, &reasons)
    for version in versions where try reasons[version.number] == nil && isPurgeable(version) {
      guard let end = history.ending(of: version.number, of: pack)?.addingClamped(purgeableGrace), end > now else {
        continue
      }
      reasons[version.number] = .purgeable(until: end)
    }
    return reasons
  }

  /// - Parameter others: versions of a pack that neither a channel offers nor a pin keeps, the latest first.
  private func choose(
    among others: [PackVersion], of pack: PackID, beside offers: [SiteChannel: [UInt64]],
    _ reasons: inout [UInt64: Reason]
  ) {
    let numbers = Set(others.map(\.number)), highestOffer = offers.values.joined().max() ?? 0
    let previous = Set(
      offeredCount > 1 ? offers.keys.compactMap { history.previous(of: pack, on: $0, among: numbers) } : [])
    var waiting: [UInt64] = [], offered: [UInt64] = [], superseded: [UInt64] = []
    for version in others where !previous.contains(version.number) {
      if history.contains(version.number, of: pack) {
        offered.append(version.number)
      } else if version.number > highestOffer {
        waiting.append(version.number)
      } else {
        superseded.append(version.number)
      }
    }
    for number in previous { reasons[number] = .previous }
    for number in waiting.prefix(buildCount) { reasons[number] = .build }
    for number in (offered + superseded).prefix(max(offeredCount - 1 - previous.count, 0)) {
      reasons[number] = .offeredBefore
    }
  }
}

extension Attributes {
  /// Whether devices may delete the data of a version and fetch it again.
  var isPurgeable: Bool { placement != .durable }
}
