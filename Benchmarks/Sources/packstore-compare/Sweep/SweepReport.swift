/// The sweep as Markdown and JSON.
struct SweepReport: Codable {
  /// The version of the JSON layout: rises when a field changes its meaning or goes away.
  var format = 1
  let environment: Environment
  let rounds: Int
  let corpora: [SweepCorpus]

  var markdown: String {
    """
    # Sweep of chunk sizes, frame sizes, levels and dictionaries

    Made by `packstore-compare sweep`. MB are 10^6 bytes. Sizes are exact. Times are the best of \(rounds) rounds in which settings took \
    turns (levels above 6: one round); they are seconds of processor time unless they say wall, for others used the machine meanwhile.

    - \(environment.line)
    - **stored** is the sum of **frames** (assets' bytes as stored), **tables** (chunk ids and frame rows of segments), **metadata** \
    (catalog and layout) and **index**. **new** is the same for the second version: the bytes of all files that its commit wrote.
    - **store s**: storing the folder without syncs, on all processors. **memory**: private memory above what the process had before. \
    **read**: all assets in order through the API, one thread. **random**: one read of 64 KiB at a random place of a random asset, or of \
    all of a smaller one, one thread.

    """ + corpora.map(\.markdown).joined()
  }
}

extension SweepCorpus {
  fileprivate var markdown: String {
    "\n## \(name): \(summary)\n" + studies.map(section).joined()
  }

  private func section(of asked: Asked) -> String {
    let body =
      switch asked.study {
      case .dictionaries: Self.table(of: smallAssets)
      case .parameters: Self.table(of: parameters)
      default: storeTable(of: asked.points)
      }
    guard let body else { return "" }
    return "\n### \(asked.study.title)\n\n" + body.markdown
  }

  private func storeTable(of points: [SweepPoint]) -> Table? {
    let results = points.compactMap { point in stores.first { $0.point == point } }
    guard !results.isEmpty else { return nil }
    var table = Table(
      [
        "chunk / frame / shared / level", "stored MB", "frames", "tables", "metadata", "index", "frame count", "new MB",
        "wall s", "store s",
        "memory MB", "read MB/s", "random us",
      ])
    table.rows = results.map(\.row)
    return table
  }

  private static func table(of trials: [FrameTrial]) -> Table? {
    guard !trials.isEmpty else { return nil }
    var table = Table([
      "frames", "MB with rows", "frames MB", "frame count", "dictionary KB", "encode MB/s", "decode MB/s", "random us",
    ])
    table.rows = trials.map(\.row)
    return table
  }
}

extension SweepResult {
  fileprivate var row: [String] {
    [
      [point.chunkAverage, point.frameSize, point.sharedFrameSize].map(binarySize).joined(separator: " / ")
        + " / \(point.level)",
      megabytes(first.byteCount), megabytes(first.frameByteCount), megabytes(first.tableByteCount, 2),
      megabytes(first.metadataByteCount, 2),
      megabytes(first.indexByteCount, 2), "\(first.frameCount)",
      second.map { megabytes($0.byteCount, 2) } ?? "-",
      decimals(ingest.wall, 2), decimals(ingest.cpu, 2), peakMemory.map { megabytes($0, 0) } ?? "-",
      decimals(readMegabytesPerSecond, 0), decimals(randomRead.cpu * 1e6, 1),
    ]
  }
}

extension FrameTrial {
  fileprivate var row: [String] {
    [
      label, megabytes(byteCount, 2), megabytes(frameByteCount, 2), "\(frameCount)",
      decimals(Double(dictionaryByteCount) / 1e3, 0),
      decimals(encodeMegabytesPerSecond, 0), decimals(decodeMegabytesPerSecond, 0),
      randomDecode.map { decimals($0.cpu * 1e6, 1) } ?? "-",
    ]
  }
}
