/// All that the sweep found out about one corpus.
struct SweepCorpus: Codable {
  let name: String
  let summary: String
  let studies: [Asked]
  /// A store that several studies compare appears once.
  let stores: [SweepResult]
  let smallAssets: [FrameTrial]
  let parameters: [FrameTrial]

  /// A study and the stores it compares.
  struct Asked: Codable {
    let study: SweepStudy
    let points: [SweepPoint]
  }

  /// Settings take turns, so that a disturbance hits all of them.
  static func measure(_ corpus: Corpus, _ studies: [SweepStudy], rounds: Int, in work: String) throws -> Self {
    let asked = studies.map { Asked(study: $0, points: $0.points(for: corpus)) }
    return Self(
      name: corpus.name,
      summary: corpus.summary,
      studies: asked,
      stores: try measureStores(corpus, asked.flatMap(\.points), rounds: rounds, in: work),
      smallAssets: studies.contains(.dictionaries) ? try SmallAssetStudy.measure(corpus, rounds: rounds) : [],
      parameters: studies.contains(.parameters) ? try ParameterStudy.measure(corpus, rounds: rounds) : []
    )
  }

  private static func measureStores(
    _ corpus: Corpus, _ wanted: [SweepPoint], rounds: Int, in work: String
  ) throws -> [SweepResult] {
    var points: [SweepPoint] = []
    for point in wanted where !points.contains(point) { points.append(point) }

    var results: [SweepPoint: SweepResult] = [:]
    for round in 1...rounds {
      for point in points where round == 1 || !point.isSlow {
        let result = try SweepResult(point, of: corpus, in: work)
        note("\(corpus.name), round \(round): \(point.label): \(megabytes(result.first.byteCount)) MB, \(decimals(result.ingest.cpu, 2)) s")
        if results[point]?.keepBest(of: result) == nil { results[point] = result }
      }
    }
    return points.compactMap { results[$0] }
  }
}

extension SweepPoint {
  var label: String {
    "chunks \(binarySize(chunkAverage)), frames \(binarySize(frameSize)), shared \(binarySize(sharedFrameSize)), level \(level)"
  }
}
