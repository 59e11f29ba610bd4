import PackStore

/// The shortest routes to one content. A route is one delta, or a chain of deltas that each start from the previous result.
///
/// A route has at most ``stepLimit`` deltas and never visits a content twice, so cycles and dead ends are harmless.
///
/// - Complexity: O(*n*) in the number of deltas.
package struct DeltaRoutes: Sendable {
  /// The maximum number of deltas in a route. The core applies at most as many in one step.
  package static let stepLimit = 8

  /// The first delta of a route, and the size of all its deltas in bytes.
  private struct Route {
    let delta: SiteRoot.Delta
    let byteCount: UInt64
  }

  private let to: CatalogID

  /// Routes by their first content. Entry *i* contains the routes of *i* + 1 deltas that are shorter, in bytes, than every route of
  /// fewer deltas.
  private var ways: [[CatalogID: Route]] = []

  package init(to: CatalogID, by deltas: [SiteRoot.Delta]) {
    self.to = to
    var shortest: [CatalogID: UInt64] = [:]
    for _ in 0..<Self.stepLimit {
      var found: [CatalogID: Route] = [:]
      for delta in deltas where delta.from != to {
        guard let rest = rest(behind: delta) else { continue }
        let byteCount = rest.addingClamped(delta.byteCount)
        if byteCount < shortest[delta.from] ?? .max {
          shortest[delta.from] = byteCount
          found[delta.from] = Route(delta: delta, byteCount: byteCount)
        }
      }
      guard !found.isEmpty else { return }
      ways.append(found)
    }
  }

  /// Returns the size of the route from the result of `delta` that the previous round found; `nil` if it found none. In the first
  /// round the size is 0 if `delta` results in the destination.
  private func rest(behind delta: SiteRoot.Delta) -> UInt64? {
    guard let last = ways.last else { return delta.to == to ? 0 : nil }
    return last[delta.to]?.byteCount
  }

  /// The contents from which a route exists.
  package var sources: Set<CatalogID> { ways.reduce(into: []) { $0.formUnion($1.keys) } }

  /// Returns the deltas of the shortest route in the order in which they are applied; `nil` if no route exists.
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
  /// The total size of the deltas.
  package var byteCount: UInt64 { map(\.byteCount).clampedSum() }
}
