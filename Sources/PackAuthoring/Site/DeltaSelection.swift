import PackFormats
import PackStore

/// Which deltas the root of a channel names for a pack.
///
/// - All that lead to an offer from a version that the site keeps.
/// - The shortest way to each offer from wherever the channel's root had a delta until now: so clients that are several versions
///   behind find a chain of the deltas that were made for the versions between, though neither these nor what it begins with is
///   kept any more. A way that is no shorter than the whole version is none.
/// - Ways to versions that are kept and no longer offered, as long as there is no way on from there: a delta may yet be made.
///
/// **Withdrawal.** A delta that leads to what is not offered comes from the channel's own root, and nowhere else; and a root
/// that withdraws a version names none that leads to it. So none comes back: what was withdrawn from a channel is in the middle
/// of no chain of that channel, whatever others offer. A version is withdrawn when its offer is taken away, or when it has to
/// give way to a lower one (``ChannelPlan/withdrawn``); where only lower ones are left, all that came between them is.
struct DeltaSelection {
  private let offers: [SiteRoot.Offer]

  /// The content that the site keeps of the pack.
  private let kept: Set<CatalogID>

  /// The folder does not have all that the site keeps: what the root named until now begins with what is kept.
  private let trustsRoot: Bool

  /// Deltas that the channel's root named until now, and that do not lead to what was withdrawn.
  private let history: Set<SiteRoot.Delta>

  /// - Parameters:
  ///   - current: what the channel's root says of the pack until now.
  ///   - numbers: those of versions that the channel withdraws.
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

  /// Whether it may be a part of a way to an offer.
  func isCandidate(_ delta: KnownDeltas.Delta) -> Bool {
    // One that makes other attributes of what is offered leads astray.
    guard !offers.contains(where: { $0.catalog == delta.row.to }) else {
      return leadsToOffer(delta) && (isCertain(delta) || history.contains(delta.row))
    }
    return history.contains(delta.row)
  }

  /// Those of the candidates that are named, in their order.
  func choose(from candidates: [KnownDeltas.Delta]) -> [SiteRoot.Delta] {
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

  /// Versions from which deltas may yet be made.
  private func pending(_ reached: Set<CatalogID>) -> Set<CatalogID> {
    Set(history.map(\.to)).subtracting(offers.map(\.catalog)).intersection(kept).subtracting(reached)
  }

  /// Whether it is named however long it is.
  private func isCertain(_ delta: KnownDeltas.Delta) -> Bool {
    leadsToOffer(delta) && (trustsRoot || kept.contains(delta.row.from))
  }

  private func leadsToOffer(_ delta: KnownDeltas.Delta) -> Bool {
    offers.contains { $0.catalog == delta.row.to && delta.numbers.contains($0.number) }
  }
}
