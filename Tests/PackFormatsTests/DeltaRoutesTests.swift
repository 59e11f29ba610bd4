import Testing

@testable import PackFormats
@testable import PackStore

/// The deltas on a route, with any deltas in a root.
@Suite struct DeltaRoutesTests {
  private func content(_ number: Int) -> CatalogID {
    CatalogID(digest: Digest256(hashing: Array("content \(number)".utf8)))
  }

  private func delta(_ from: Int, _ to: Int, _ byteCount: UInt64) -> SiteRoot.Delta {
    .init(
      from: content(from), to: content(to), header: Digest256(hashing: Array("\(from) \(to) \(byteCount)".utf8)),
      headerByteCount: 200, byteCount: byteCount)
  }

  private func way(_ from: Int, to: Int, _ deltas: [SiteRoot.Delta]) -> [SiteRoot.Delta]? {
    DeltaRoutes(to: content(to), by: deltas).shortest(from: content(from))
  }

  @Test func theShortestIsTaken() {
    let steps = [delta(1, 2, 300), delta(2, 3, 300), delta(3, 4, 300)]
    #expect(way(1, to: 4, steps) == steps)
    #expect(way(1, to: 4, steps.reversed()) == steps)
    #expect(way(1, to: 4, steps + [delta(1, 4, 899)]) == [delta(1, 4, 899)])
    #expect(way(1, to: 4, steps + [delta(1, 4, 900)]) == [delta(1, 4, 900)], "as long, and fewer")
    #expect(way(1, to: 4, steps + [delta(1, 4, 901)]) == steps)
    #expect(way(1, to: 4, steps + [delta(1, 3, 500)]) == [delta(1, 3, 500), steps[2]])
    #expect(way(1, to: 4, steps + [delta(2, 3, 299)]) == [steps[0], delta(2, 3, 299), steps[2]])
    #expect(way(2, to: 4, steps) == Array(steps[1...]))
  }

  @Test func whereThereIsNone() {
    let steps = [delta(1, 2, 300), delta(2, 3, 300)]
    #expect(way(1, to: 9, steps) == nil && way(9, to: 3, steps) == nil && way(1, to: 3, []) == nil)
    #expect(way(3, to: 1, steps) == nil, "none leads back")
    #expect(way(3, to: 3, steps) == nil, "it is there")
    #expect(DeltaRoutes(to: content(3), by: steps).sources == [content(1), content(2)])
  }

  @Test func noMoreThanEight() {
    let steps = (1...9).map { delta($0, $0 + 1, 300) }
    #expect(way(2, to: 10, steps) == Array(steps[1...]))
    #expect(way(1, to: 10, steps) == nil)
    #expect(way(1, to: 10, steps + [delta(4, 6, 10_000)])?.count == 8, "longer, and few enough")
  }

  @Test func circles() {
    let circle = [delta(1, 2, 300), delta(2, 3, 300), delta(3, 1, 300), delta(2, 1, 300), delta(1, 1, 300)]
    #expect(way(1, to: 9, circle) == nil)
    #expect(way(1, to: 9, circle + [delta(3, 9, 300)]) == [circle[0], circle[1], delta(3, 9, 300)])
    #expect(way(9, to: 1, circle) == nil)
    #expect(way(1, to: 1, circle) == nil)
  }

  @Test func numbersThatOverflow() {
    let steps = (1...3).map { delta($0, $0 + 1, .max) }
    #expect(way(1, to: 4, steps) == nil && way(3, to: 4, steps) == nil)
    #expect(way(1, to: 4, steps + [delta(1, 4, .max - 1)]) == [delta(1, 4, .max - 1)])
    #expect(steps.byteCount == .max)
  }

  /// The maximum number of deltas of a root, from all versions to all versions.
  @Test func manyDeltas() {
    let deltas = (0..<10_000).map { delta($0 / 100, $0 % 100, UInt64(300 + $0 * 7919 % 1000)) }
    let routes = DeltaRoutes(to: content(99), by: deltas)
    #expect(routes.sources.count == 99)
    for from in 0..<99 {
      let way = routes.shortest(from: content(from)) ?? []
      #expect(1...8 ~= way.count && way.first?.from == content(from) && way.last?.to == content(99))
      #expect(zip(way, way.dropFirst()).allSatisfy { $0.to == $1.from })
      let direct = deltas[from * 100 + 99].byteCount
      #expect(way.byteCount <= direct)
    }
  }
}
