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

  /// Settings take turns, so that a disturbance hits all of them. What `earlier` has is not measured again.
  static func measure(
    _ corpus: Corpus, _ studies: [SweepStudy], rounds: Int, in work: String, keeping earlier: SweepCorpus? = nil
  ) throws -> Self {
    let kept = earlier?.studies.map(\.study).filter { !studies.contains($0) } ?? []
    let asked = (kept + studies).inOrder.map { Asked(study: $0, points: $0.points(for: corpus)) }
    var smallAssets = earlier?.smallAssets ?? []
    if studies.contains(.dictionaries), smallAssets.isEmpty {
      smallAssets = try SmallAssetStudy.measure(corpus, rounds: rounds)
    }
    var parameters = earlier?.parameters ?? []
    if studies.contains(.parameters), parameters.isEmpty {
      parameters = try ParameterStudy.measure(corpus, rounds: rounds)
    }
    return Self(
      name: corpus.name,
      summary: corpus.summary,
      studies: asked,
      stores: try measureStores(
        corpus, asked.filter { studies.contains($0.study) }.flatMap(\.points), rounds: rounds, in: work,
        keeping: earlier?.stores ?? []
      ),
      smallAssets: smallAssets,
      parameters: parameters
    )
  }

  private static func measureStores(
    _ corpus: Corpus, _ wanted: [SweepPoint], rounds: Int, in work: String, keeping earlier: [SweepResult]
  ) throws -> [SweepResult] {
    var points: [SweepPoint] = []
    for point in wanted where !points.contains(point) && !earlier.contains(where: { $0.point == point }) {
      points.append(point)
    }

    var results: [SweepPoint: SweepResult] = [:]
    for round in 1...rounds {
      for point in points where round == 1 || !point.isSlow {
        let result = try SweepResult(point, of: corpus, in: work)
        let size = megabytes(result.first.byteCount)
        let seconds = decimals(result.ingest.cpu, 2)
        note("\(corpus.name), round \(round): \(point.label): \(size) MB, \(seconds) s")
        if results[point]?.keepBest(of: result) == nil { results[point] = result }
      }
    }
    return earlier + points.compactMap { results[$0] }
  }
}

extension [SweepStudy] {
  fileprivate var inOrder: [SweepStudy] { SweepStudy.allCases.filter(contains) }
}

extension SweepPoint {
  var label: String {
    "chunks \(binarySize(chunkAverage)), frames \(binarySize(frameSize)), shared \(binarySize(sharedFrameSize)), level \(level)"
  }
}
