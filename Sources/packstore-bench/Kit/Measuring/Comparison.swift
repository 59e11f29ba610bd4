/// One measurement of several participants that took turns.
struct Comparison: Codable {
  let title: String
  /// The measured quantity and the method, for readers of the report.
  let explanation: String
  let quantity: Quantity
  /// The series and the size, if the measurement is made at several sizes.
  var point: Point?
  var entries: [Entry] = []
  /// The absent participants, with the reasons.
  var absences: [Absence] = []
  /// The name of the reference entry, which is a limit of the machine.
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
    /// The latencies of single operations in all repetitions.
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

  /// Returns the entry's median divided by the limit's median.
  func ratio(of entry: Entry) -> Double? {
    guard let limitEntry = entries.first(where: { $0.name == limit && $0.isLimit }) else { return nil }
    return statistics(of: entry).median / statistics(of: limitEntry).median
  }
}
