/// Summary of a few measurements of one quantity: the median and the interquartile range, never only the best.
struct Statistics: Equatable {
  private let sorted: [Double]

  /// - Precondition: `values` is not empty.
  init(_ values: [Double]) {
    precondition(!values.isEmpty)
    sorted = values.sorted()
  }

  var median: Double { quantile(0.5) }

  var interquartileRange: Double { quantile(0.75) - quantile(0.25) }

  /// Returns the value below which `share` of the values are, interpolated linearly between neighbours.
  func quantile(_ share: Double) -> Double {
    let position = share * Double(sorted.count - 1)
    let below = Int(position.rounded(.down))
    let above = min(below + 1, sorted.count - 1)
    return sorted[below] + (sorted[above] - sorted[below]) * (position - Double(below))
  }
}

/// How long single operations took, in seconds.
struct Latencies: Codable, Equatable {
  let p50: Double
  let p90: Double
  let p99: Double

  init(p50: Double, p90: Double, p99: Double) {
    self.p50 = p50
    self.p90 = p90
    self.p99 = p99
  }

  /// `nil` without operations.
  init?(nanoseconds: [UInt32]) {
    guard !nanoseconds.isEmpty else { return nil }
    let statistics = Statistics(nanoseconds.map { Double($0) / 1e9 })
    p50 = statistics.quantile(0.5)
    p90 = statistics.quantile(0.9)
    p99 = statistics.quantile(0.99)
  }
}
