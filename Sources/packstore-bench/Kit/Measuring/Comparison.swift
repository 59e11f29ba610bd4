/// One question, answered by several participants who took turns.
struct Comparison: Codable {
  let title: String
  /// What is measured and how, for the reader of the report.
  let explanation: String
  let quantity: Quantity
  /// For the same question asked at several sizes: which series this belongs to, and the size.
  var point: Point?
  var entries: [Entry] = []
  /// Who was left out, and why.
  var absences: [Absence] = []
  /// The entry that the others are compared with: what the machine allows.
  var limit: String?

  struct Point: Codable, Equatable {
    let series: String
    /// What is counted along the axis, as `assets`.
    let axis: String
    let size: Int
  }

  struct Absence: Codable, Hashable {
    let name: String
    let reason: String
  }

  /// One participant's results.
  struct Entry: Codable {
    let name: String
    let isLimit: Bool
    var samples: [Sample]
    /// Of single operations in all repetitions together.
    var latencies: Latencies?

    init(_ name: String, isLimit: Bool, _ samples: [Sample]) {
      self.name = name
      self.isLimit = isLimit
      self.samples = samples
      latencies = Latencies(nanoseconds: samples.flatMap(\.nanoseconds))
    }
  }
}

extension Comparison {
  func statistics(of entry: Entry) -> Statistics { Statistics(entry.samples.map(quantity.value)) }

  /// The entry's median, as a multiple of the limit's.
  func ratio(of entry: Entry) -> Double? {
    guard let limitEntry = entries.first(where: { $0.name == limit && $0.isLimit }) else { return nil }
    return statistics(of: entry).median / statistics(of: limitEntry).median
  }
}
