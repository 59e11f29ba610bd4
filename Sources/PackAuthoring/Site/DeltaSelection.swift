import PackFormats
import PackStore

/// Selects the deltas that the root of a channel lists for a pack.
///
/// - All deltas to an offer from a version that the site keeps.
/// - The shortest chain to each offer from every version with a delta in the channel's previous root. Clients several versions
///   behind thus find a chain of deltas, even if the site no longer keeps the first version and the intermediate versions. A chain
///   that is not shorter than the whole version is omitted.
/// - Chains to kept versions that the channel does not offer any more, if no chain continues from there: a delta may still be
///   built.
///
/// **Withdrawal.** A delta to a version that is not offered can come only from the channel's own previous root. A root that
/// withdraws a version lists no delta to it. Therefore, no chain of the channel ever leads through a withdrawn version, regardless
/// of other channels. A version is withdrawn when its offer is removed, or when a lower version replaces it
/// (``ChannelPlan/withdrawn``). If only lower versions remain, all versions in between are also withdrawn.
struct DeltaSelection {
  private let offers: [SiteRoot.Offer]

  /// The contents of the pack that the site keeps.
  private let kept: Set<CatalogID>

  /// Whether the folder lacks files that the site keeps. The deltas of the previous root are then assumed to begin with kept
  /// versions.
  private let trustsRoot: Bool

  /// Deltas of the channel's previous root that do not lead to withdrawn versions.
  private let history: Set<SiteRoot.Delta>

  /// - Parameters:
  ///   - current: the pack's entry in the channel's previous root.
  ///   - numbers: the numbers of versions that the channel withdraws.
  init(
    for offers: [SiteRoot.Offer], kept: Set<CatalogID>, trustsRoot: Bool, after current: SiteRoot.Pack?,
    withdrawing numbers: Set<UInt64>
  ) {
    self.offers = offers
    self.kept = kept
    self.trustsRoot = trustsRoot
    let withdrawn = current?.offers.filter { numbers.contains($0.number) } ?? []
    let goesBack = withdrawn.contains { gone in offers.allSatisfy { $0.number < gone.number } }
    history = Set(
      current?.deltas.filter { delta in
        offers.contains { $0.catalog == delta.to } || !(goesBack || withdrawn.contains { $0.catalog == delta.to })
      } ?? [])
  }

  /// Whether a delta may be part of a chain to an offer.
  func isCandidate(_ delta: DeltaIndex.Delta) -> Bool {
    // A delta to other attributes of offered content would lead to the wrong version.
    guard !offers.contains(where: { $0.catalog == delta.row.to }) else {
      return leadsToOffer(delta) && (isCertain(delta) || history.contains(delta.row))
    }
    return history.contains(delta.row)
  }

  /// Returns the candidates to list, in their order.
  func choose(from candidates: [DeltaIndex.Delta]) -> [SiteRoot.Delta] {
    let rows = candidates.map(\.row)
    var chosen = Set(candidates.filter(isCertain).map(\.row))
    var reached: Set<CatalogID> = []
    for offer in offers {
      let routes = DeltaRoutes(to: offer.catalog, by: rows)
      reached.formUnion(routes.sources)
      for source in routes.sources {
        guard let way = routes.shortest(from: source), way.byteCount < offer.downloadByteCount else { continue }
        chosen.formUnion(way)
      }
    }
    for end in pending(reached) {
      let routes = DeltaRoutes(to: end, by: rows)
      chosen.formUnion(routes.sources.compactMap(routes.shortest).joined())
    }
    return rows.filter(chosen.contains)
  }

  /// Returns the versions from which deltas may still be built.
  private func pending(_ reached: Set<CatalogID>) -> Set<CatalogID> {
    Set(history.map(\.to)).subtracting(offers.map(\.catalog)).intersection(kept).subtracting(reached)
  }

  /// Whether a delta is listed regardless of its length.
  private func isCertain(_ delta: DeltaIndex.Delta) -> Bool {
    leadsToOffer(delta) && (trustsRoot || kept.contains(delta.row.from))
  }

  private func leadsToOffer(_ delta: DeltaIndex.Delta) -> Bool {
    offers.contains { $0.catalog == delta.row.to && delta.numbers.contains($0.number) }
  }
}
