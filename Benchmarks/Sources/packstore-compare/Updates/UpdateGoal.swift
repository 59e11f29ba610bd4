/// A limit for a cost of an update, compared with another row of the same run or absolute.
struct UpdateGoal: Codable, Equatable {
  let title: String
  /// PackStore's figure divided by the other's, or the figure itself.
  let value: Double
  let limit: Double
  /// The compared row, or the unit of the figure.
  let reference: String
  /// Whether larger figures are better.
  var isAtLeast = false

  var isMet: Bool { isAtLeast ? value >= limit : value <= limit }

  /// With as many digits as it takes to tell it from the limit, within reason.
  var valueText: String {
    let text = significant(value)
    return text == significant(limit) && value != limit ? decimals(value, 4) : text
  }

  /// An absolute limit of one pair.
  struct ByteLimit: Equatable {
    enum What { case delta, ranges, rangesMetadata }

    let what: What
    let byteCount: Int
  }
}

extension UpdateGoal {
  /// The goals that the rows of a pair have figures for.
  ///
  /// - Parameter newByteCount: bytes of the new version, to compute rates.
  static func all(of rows: [UpdateRow], newByteCount: Int, limits: [ByteLimit] = []) -> [Self] {
    func row(_ key: String) -> UpdateRow? { rows.first { $0.key == key } }
    func ratio(
      _ title: String, _ own: String, to others: [String], atMost limit: Double,
      of figure: (UpdateRow) -> Double? = { Double($0.byteCount) }
    ) -> Self? {
      let found = others.compactMap(row).compactMap { other in figure(other).map { (other.name, $0) } }
      guard let value = row(own).flatMap(figure), let best = found.min(by: { $0.1 < $1.1 }), best.1 > 0 else {
        return nil
      }
      return Self(title: title, value: value / best.1, limit: limit, reference: best.0)
    }
    func bytes(_ limit: ByteLimit) -> Self? {
      switch limit.what {
      case .delta:
        row("packstore-delta-default").map {
          Self(
            title: "bytes of the delta", value: Double($0.byteCount), limit: Double(limit.byteCount), reference: "bytes"
          )
        }
      case .ranges:
        row("packstore-ranges-12").map {
          Self(
            title: "bytes by ranges", value: Double($0.byteCount), limit: Double(limit.byteCount), reference: "bytes")
        }
      case .rangesMetadata:
        row("packstore-ranges-12")?.metadataByteCount.map {
          Self(title: "metadata by ranges", value: Double($0), limit: Double(limit.byteCount), reference: "bytes")
        }
      }
    }
    return [
      ratio("ranges, bytes", "packstore-ranges-12", to: ["casync", "zchunk"], atMost: 0.75),
      ratio("ranges, bytes", "packstore-ranges-12", to: ["restic-max", "borg-zstd-12"], atMost: 0.88),
      ratio("delta, bytes", "packstore-delta-default", to: ["zstd-19-patch"], atMost: 1),
      ratio("delta, build time", "packstore-delta-default", to: ["zstd-19-patch"], atMost: 1.0 / 3) {
        $0.build?.seconds
      },
      ratio("best delta, bytes", "packstore-delta-best", to: ["hdiffpatch-m6", "hdiffpatch-s64"], atMost: 1),
      metadata(row("packstore-ranges-12")),
    ].compactMap { $0 } + client(row("packstore-ranges-12"), row("packstore-delta-default"), newByteCount)
      + limits.compactMap(bytes)
  }

  /// A client's download of metadata is small compared with its download of content.
  private static func metadata(_ ranges: UpdateRow?) -> Self? {
    // Below that, root, manifest and response heads are most of it.
    guard let ranges, ranges.byteCount >= 100_000, let metadata = ranges.metadataByteCount else { return nil }
    return Self(
      title: "ranges, metadata", value: Double(metadata) / Double(ranges.byteCount), limit: 0.1,
      reference: "all that is fetched")
  }

  /// Absolute goals for a client.
  private static func client(_ ranges: UpdateRow?, _ delta: UpdateRow?, _ newByteCount: Int) -> [Self] {
    var goals: [Self] = []
    if let memory = ranges?.apply?.privateByteCount, let idle = ranges?.idlePrivateByteCount {
      goals.append(
        Self(
          title: "pull, private memory", value: mebibytes(memory - idle), limit: 4,
          reference: "MiB above a client that finds nothing new"))
    }
    if let memory = delta?.apply?.privateByteCount, let idle = delta?.idlePrivateByteCount {
      goals.append(
        Self(
          title: "apply, private memory", value: mebibytes(memory - idle), limit: 8,
          reference: "MiB above a client that has the new version"))
    }
    if let applied = delta?.apply {
      goals.append(
        Self(
          title: "apply, rate", value: Double(newByteCount) / 1e6 / applied.seconds, limit: 450, reference: "MB/s",
          isAtLeast: true))
    }
    if let applied = delta?.apply, let ingested = ranges?.ingest {
      goals.append(
        Self(
          title: "apply, rate beside adding", value: ingested.seconds / applied.seconds, limit: 0.8,
          reference: "packstore, the new version beside the old", isAtLeast: true))
    }
    for (title, row) in [("pull, written", ranges), ("apply, written", delta)] {
      // Below that a few pages of bookkeeping are most of it.
      guard let row, row.newStoredByteCount ?? 0 >= 1_000_000, let ratio = row.writtenRatio else { continue }
      goals.append(Self(title: title, value: ratio, limit: 1.05, reference: "new chunks as stored"))
    }
    return goals
  }

  private static func mebibytes(_ byteCount: Int) -> Double { Double(byteCount) / 1_048_576 }
}
