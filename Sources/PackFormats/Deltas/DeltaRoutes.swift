import PackStore

/// The shortest ways by deltas to one content: one delta, or a chain in which each goes on where the one before ends.
///
/// A way has at most ``stepLimit`` deltas and comes to no content twice, whatever deltas are named: so those that lead in a circle,
/// or nowhere, do no harm. The time is linear in the deltas.
package struct DeltaRoutes: Sendable {
  /// The most deltas of a way: as many as the core applies as one.
  package static let stepLimit = 8

  /// The first delta of a way, and the length of all.
  private struct Way {
    let delta: SiteRoot.Delta
    let byteCount: UInt64
  }

  private let to: CatalogID

  /// By the number of deltas less one: ways that are shorter than all that have fewer deltas.
  private var ways: [[CatalogID: Way]] = []

  package init(to: CatalogID, by deltas: [SiteRoot.Delta]) {
    self.to = to
    var shortest: [CatalogID: UInt64] = [:]
    for _ in 0..<Self.stepLimit {
      var found: [CatalogID: Way] = [:]
      for delta in deltas where delta.from != to {
        guard let rest = rest(behind: delta) else { continue }
        let byteCount = rest.addingClamped(delta.byteCount)
        if byteCount < shortest[delta.from] ?? .max {
          shortest[delta.from] = byteCount
          found[delta.from] = Way(delta: delta, byteCount: byteCount)
        }
      }
      guard !found.isEmpty else { return }
      ways.append(found)
    }
  }

  /// How long the way is, with as many deltas as were found last, from where a delta leads to.
  private func rest(behind delta: SiteRoot.Delta) -> UInt64? {
    guard let last = ways.last else { return delta.to == to ? 0 : nil }
    return last[delta.to]?.byteCount
  }

  /// Whence there are ways.
  package var sources: Set<CatalogID> { ways.reduce(into: []) { $0.formUnion($1.keys) } }

  /// The deltas of the shortest way, in the order in which they are applied; nil where there is none.
  package func shortest(from: CatalogID) -> [SiteRoot.Delta]? {
    guard var count = ways.lastIndex(where: { $0[from] != nil }) else { return nil }
    var deltas: [SiteRoot.Delta] = [], place = from
    while let way = ways[count][place] {
      deltas.append(way.delta)
      place = way.delta.to
      guard count > 0 else { break }
      count -= 1
    }
    return deltas
  }
}

extension Collection<SiteRoot.Delta> {
  /// How long all are together.
  package var byteCount: UInt64 { map(\.byteCount).clampedSum() }
}
