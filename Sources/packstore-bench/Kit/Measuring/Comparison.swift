/// One measurement of several participants, which took turns.
struct Comparison: Codable {
  let title: String
  /// The measured quantity and the method, for readers of the report.
  let explanation: String
  let quantity: Quantity
  /// If the same is measured at several sizes: the series, and the size.
  var point: Point?
  var entries: [Entry] = []
  /// Participants that were left out, with reasons.
  var absences: [Absence] = []
  /// The reference entry: the limit of the machine.
  var limit: String?

  struct Point: Codable, Equatable {
    let series: String
    /// The unit of the axis, such as `assets`.
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
    /// Latencies of single operations in all repetitions together.
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
