import PackStore

/// The consequences of releases for the selected offers of several packs: which other packs a pull includes, and which packs keep
/// their versions because another pack of a release cannot be installed.
///
/// The rules are in the format's description of releases. This is a function of the root, the selections and the current versions.
package struct ReleaseSelection: Sendable {
  private struct Pack {
    /// The release of the selected offer; `nil` if the selected offer is not a member.
    let chosen: PackReleaseID?
    /// Whether the selected offer is the current version.
    let isUnchanged: Bool
    /// The releases with a member that concerns the client, and whether the current version satisfies them.
    let concerned: [PackReleaseID: Bool]
  }

  private var packs: [PackID: Pack] = [:]
  /// The packs whose selected offers are members, by release, in order of their names.
  private var choosers: [PackReleaseID: [PackID]] = [:]
  /// The packs that releases concern, in order of their names.
  private var concerned: [PackReleaseID: [PackID]] = [:]

  /// - Parameters:
  ///   - selections: the selections of packs that are requested, wanted or installed.
  ///   - isCurrent: whether an offer describes the client's current version of the pack.
  ///   - applies: whether an offer applies to the client.
  package init(
    in root: SiteRoot, _ selections: [PackID: OfferSelection], isCurrent: (SiteRoot.Pack, SiteRoot.Offer) -> Bool,
    applies: (SiteRoot.Pack, SiteRoot.Offer) throws -> Bool
  ) rethrows {
    guard root.hasReleases else { return }
    for entry in root.packs {
      guard let selection = selections[entry.id], entry.offers.contains(where: { $0.release != nil }) else { continue }
      let current = entry.offers.firstIndex { isCurrent(entry, $0) } ?? .max
      var concerned: [PackReleaseID: Bool] = [:]
      for (index, offer) in entry.offers.enumerated() {
        guard let id = offer.release?.id, try applies(entry, offer) else { continue }
        concerned[id] = current <= index
      }
      let number = selection.offer?.number
      let place = number.flatMap { number in entry.offers.firstIndex { $0.number == number } }
      packs[entry.id] = Pack(
        chosen: selection.offer?.release?.id, isUnchanged: place == current, concerned: concerned)
    }
    for (id, pack) in packs.sorted(by: { $0.key < $1.key }) {
      if let chosen = pack.chosen { choosers[chosen, default: []].append(id) }
      for release in pack.concerned.keys { self.concerned[release, default: []].append(id) }
    }
  }

  /// Returns the requested packs, and the packs that their releases concern.
  package func included(with requested: Set<PackID>) -> Set<PackID> {
    var all = requested
    var open = Array(requested)
    while let next = open.popLast() {
      guard let release = packs[next]?.chosen else { continue }
      for pack in concerned[release] ?? [] where all.insert(pack).inserted { open.append(pack) }
    }
    return all
  }

  /// Returns the packs that keep their versions, each with the unable pack of the lowest name that blocks it.
  ///
  /// - Parameters:
  ///   - unable: packs whose selected offers cannot be installed. They are not in the result.
  ///   - included: the packs of the pull.
  package func blocked(by unable: Set<PackID>, among included: Set<PackID>) -> [PackID: PackID] {
    var blocked: [PackID: PackID] = [:]
    for cause in unable.sorted() {
      var open = [cause]
      while let next = open.popLast() {
        for pack in packsBlocked(directlyBy: next) where included.contains(pack) && !unable.contains(pack) {
          guard blocked[pack] == nil else { continue }
          blocked[pack] = cause
          open.append(pack)
        }
      }
    }
    return blocked
  }

  /// Returns the packs that cannot be installed if a pack keeps its version.
  private func packsBlocked(directlyBy pack: PackID) -> [PackID] {
    (packs[pack]?.concerned ?? [:]).filter { !$0.value }.keys.flatMap { release in
      (choosers[release] ?? []).filter { $0 != pack && packs[$0]?.isUnchanged == false }
    }
  }

  /// Whether a pack's selected offer is the member of a release that is not installed yet.
  package func changes(_ pack: PackID) -> Bool { packs[pack].map { $0.chosen != nil && !$0.isUnchanged } ?? false }
}
