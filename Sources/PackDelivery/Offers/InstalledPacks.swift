import PackFormats
import PackStore

/// The packs of a store, as offers of a site see them.
struct InstalledPacks {
  let packs: [PackID: Store.Pack]

  /// The current versions of the packs from the site's origin.
  let current: [PackID: PackVersion]

  /// - Parameter snapshot: `nil` if the store does not exist yet.
  init(of snapshot: Snapshot?, from origin: Store.Origin) {
    let all = snapshot?.packs ?? []
    packs = Dictionary(all.map { ($0.id, $0) }) { first, _ in first }
    current = packs.filter { $0.value.origin == origin }.mapValues(\.version)
  }

  func releases(of root: SiteRoot) -> InstalledReleases {
    InstalledReleases(in: root, isInstalled: { current[$0] != nil }) { $1.describes(current[$0.id]) }
  }

  /// Returns the installed packs that keep their versions because a pack of their release is held or has another origin, each with
  /// that pack.
  ///
  /// - Parameter selections: the selections of all packs, in the order of the root.
  func blocked(
    by selections: [OfferSelection], of root: SiteRoot, _ finder: OfferFinder, storeDevice: () throws -> DeviceID?
  ) throws -> [PackID: PackID] {
    guard root.hasReleases else { return [:] }
    var known: [PackID: OfferSelection] = [:], unable: Set<PackID> = []
    for (entry, selection) in zip(root.packs, selections) {
      guard let pack = packs[entry.id] else { continue }
      known[entry.id] = selection
      let isCurrent = selection.offer?.describes(current[entry.id]) ?? true
      if current[entry.id] == nil || pack.isHeld && !isCurrent { unable.insert(entry.id) }
    }
    let selection = try ReleaseSelection(in: root, known) {
      $1.describes(current[$0.id])
    } applies: { entry, offer in
      try finder.applies(offer, in: entry, current: current[entry.id], storeDevice: storeDevice)
    }
    return selection.blocked(by: unable, among: Set(known.keys))
  }
}
