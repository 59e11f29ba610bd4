/// What an update may cost, beside others in the same run or by itself.
struct UpdateGoal: Codable, Equatable {
  let title: String
  /// PackStore's figure divided by the other's, or the figure itself.
  let value: Double
  let limit: Double
  /// Who the other is, or in what the figure is.
  let reference: String

  var isMet: Bool { value <= limit }

  /// An absolute limit of one pair.
  struct ByteLimit: Equatable {
    enum What { case delta, rangesMetadata }

    let what: What
    let byteCount: Int
  }
}

extension UpdateGoal {
  /// The goals that a pair's rows have answers to.
  static func all(of rows: [UpdateRow], limits: [ByteLimit] = []) -> [Self] {
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
    ].compactMap { $0 } + limits.compactMap(bytes)
  }
}
