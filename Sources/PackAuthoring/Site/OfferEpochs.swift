import PackFormats
import PackStore

/// Assigns epochs to the offers of a channel's next root.
///
/// A change that takes an offer away from devices gives all offers of the pack a new epoch: the sequence number of the next root.
/// Such changes are a step back to a lower version, a withdrawal, a halt, a lower share, and fewer app versions.
///
/// Devices go back only to an offer with a higher epoch than they have accepted, and skip offers with a lower epoch. A publisher
/// who signs an older state of the site again therefore takes nothing back by mistake.
///
/// Offers with higher numbers also get the new epoch: a device that accepted the epoch with a lower version could otherwise not
/// update to a higher version.
struct OfferEpochs {
  /// The root that the next root replaces; `nil` if it is not readable. All offers then get a new epoch, because the earlier offers
  /// are unknown.
  let current: SiteRoot?

  /// The highest numbers that earlier roots offered, if ``current`` does not record them because the site lost its root, or because
  /// its earlier key was revoked.
  let known: [PackID: UInt64]

  /// The sequence number of the next root.
  let sequence: UInt64

  /// The date of the next root, in nanoseconds since 1970: shares are compared from then on.
  var date: Int64 = 0

  /// Returns the platforms that a version is for; `nil` if the site does not keep the version.
  let platforms: (PackID, UInt64) -> Set<Platform>?

  /// Returns the packs of the next root with the epochs of their offers, and its table of highest numbers.
  func stamp(_ packs: [SiteRoot.Pack]) -> (packs: [SiteRoot.Pack], highest: [PackID: SiteRoot.Highest]) {
    var table = current?.highest ?? [:]
    for (pack, number) in known {
      table[pack] = .init(number: max(number, table[pack]?.number ?? 0), epoch: newEpoch(after: table[pack]))
    }
    for old in current?.packs ?? [] where !packs.contains(where: { $0.id == old.id }) {
      table[old.id]?.epoch = sequence
    }
    let stamped = packs.map { pack in
      var pack = pack
      var row = table[pack.id] ?? .init(number: 1, epoch: current == nil ? sequence : 0)
      let before = current?.offers(of: pack.id) ?? []
      let isTaken = before.contains { takesAway($0, before, pack.offers, of: pack.id) }
      if isTaken { row.epoch = sequence }
      for index in pack.offers.indices {
        let old = before.first { $0.number == pack.offers[index].number }
        let isUnchanged = old.map { $0.saysTheSame(as: pack.offers[index]) } ?? false
        pack.offers[index].epoch = isUnchanged && !isTaken ? old?.epoch ?? row.epoch : row.epoch
        row.number = max(row.number, pack.offers[index].number)
      }
      table[pack.id] = row
      return pack
    }
    return (stamped, table)
  }

  private func newEpoch(after row: SiteRoot.Highest?) -> UInt64 { current == nil ? sequence : row?.epoch ?? 0 }

  /// Whether the next offers of a pack take an old offer away from some of its devices.
  private func takesAway(
    _ old: SiteRoot.Offer, _ before: [SiteRoot.Offer], _ after: [SiteRoot.Offer], of pack: PackID
  ) -> Bool {
    guard let place = after.firstIndex(where: { $0.number == old.number }) else {
      return !after.contains { $0.number > old.number && covers($0, old, of: pack) }
    }
    let new = after[place]
    guard new.hasShares(of: old, from: date), includes(new.appVersions, old.appVersions) else { return true }
    let ahead = before.prefix { $0.number != old.number }
    return after[..<place].contains { lower in
      lower.number < old.number && !ahead.contains { $0.number == lower.number && $0.covers(lower, from: date) }
    }
  }

  /// Whether an offer is for every device of another offer.
  private func covers(_ offer: SiteRoot.Offer, _ other: SiteRoot.Offer, of pack: PackID) -> Bool {
    guard offer.share == OfferTerms.everyDevice, offer.rollout == nil, includes(offer.appVersions, other.appVersions),
      let own = platforms(pack, offer.number), let others = platforms(pack, other.number)
    else { return false }
    return own.isEmpty || (!others.isEmpty && own.isSuperset(of: others))
  }
}

/// Whether a range contains every app version in another range.
private func includes(_ range: AppVersionRange?, _ other: AppVersionRange?) -> Bool {
  guard let range else { return true }
  return other.map(range.contains) ?? false
}

extension SiteRoot.Offer {
  /// Whether the offer is for every device of another offer of the same version.
  fileprivate func covers(_ other: SiteRoot.Offer, from date: Int64) -> Bool {
    hasShares(of: other, from: date) && includes(appVersions, other.appVersions)
  }

  /// Whether the share includes all devices of another offer's share, from a date on. Horizons do not matter, because each root has
  /// another one. In another release, devices have other numbers: only a share of all devices includes the previous ones.
  fileprivate func hasShares(of other: SiteRoot.Offer, from date: Int64) -> Bool {
    let steps = (rollout?.steps ?? []) + (other.rollout?.steps ?? []), isSameRelease = release?.id == other.release?.id
    return ([date] + steps.map(\.time).filter { $0 > date }).allSatisfy { time in
      let next = share(at: time), previous = other.share(at: time)
      return next >= (isSameRelease || previous == 0 ? previous : OfferTerms.everyDevice)
    }
  }

  private func share(at time: Int64) -> UInt32 { rollout?.share(base: share, at: time) ?? share }

  /// Whether both offer the same version to the same devices.
  fileprivate func saysTheSame(as other: SiteRoot.Offer) -> Bool {
    number == other.number && share == other.share && rollout == other.rollout && appVersions == other.appVersions
      && release == other.release
  }
}
