import PackFormats
import PackStore

/// The packs that a pull includes because of releases, and the packs that releases block.
struct PulledReleases {
  private let selection: ReleaseSelection?
  private let included: Set<PackID>
  private let blocked: [PackID: PackID]

  /// - Parameters:
  ///   - packs: all packs of one root that the pull may include.
  ///   - follows: whether releases matter.
  ///   - applies: whether an offer applies to the client.
  init(
    of packs: [AssessedPack], follows: Bool,
    applies: (AssessedPack, SiteRoot.Pack, SiteRoot.Offer) throws -> Bool
  ) rethrows {
    let requested = Set(packs.filter { !$0.chosen.isImplied }.map(\.id))
    guard follows, let root = packs.first?.chosen.root else {
      selection = nil
      included = requested
      blocked = [:]
      return
    }
    let byID = Dictionary(packs.map { ($0.id, $0) }) { first, _ in first }
    let selection = try ReleaseSelection(in: root, byID.compactMapValues(\.selection)) { entry, offer in
      offer.describes(byID[entry.id]?.current)
    } applies: { entry, offer in
      try byID[entry.id].map { try applies($0, entry, offer) } ?? false
    }
    let included = selection.included(with: requested)
    let unable = packs.filter { included.contains($0.id) && $0.result.isUnable }
    self.selection = selection
    self.included = included
    blocked = selection.blocked(by: Set(unable.map(\.id)), among: included)
  }

  func includes(_ pack: PackID) -> Bool { included.contains(pack) }

  /// Returns the result of a pack that keeps its version because of its release; `nil` for other packs.
  func blocked(_ pack: AssessedPack) -> Store.PullResult.Pack? {
    guard let cause = blocked[pack.id] else { return nil }
    var result = pack.result
    (result.outcome, result.blockingPack) = (.releaseIncomplete, cause)
    return result
  }

  /// Whether a release changes a pack.
  func change(_ pack: PackID) -> Bool { selection?.changes(pack) ?? false }

  /// Whether other packs keep their versions if a pack keeps its own.
  func areBlocked(by pack: PackID) -> Bool {
    guard let selection else { return false }
    return !selection.blocked(by: [pack], among: included).isEmpty
  }
}
