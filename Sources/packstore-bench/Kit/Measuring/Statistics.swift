/// A summary of several measurements of one quantity: the median and the interquartile range, not only the best value.
struct Statistics: Equatable {
  private let sorted: [Double]

  /// - Precondition: `values` is not empty.
  init(_ values: [Double]) {
    precondition(!values.isEmpty)
    sorted = values.sorted()
  }

  var median: Double { quantile(0.5) }

  var interquartileRange: Double { quantile(0.75) - quantile(0.25) }

  /// Returns the quantile for `share`, from 0 to 1, interpolated linearly between neighbouring values.
  func quantile(_ share: Double) -> Double {
    let position = share * Double(sorted.count - 1)
    let below = Int(position.rounded(.down))
    let above = min(below + 1, sorted.count - 1)
    return sorted[below] + (sorted[above] - sorted[below]) * (position - Double(below))
  }
}

/// Percentiles of the durations of single operations, in seconds.
struct Latencies: Codable, Equatable {
  let p50: Double
  let p90: Double
  let p99: Double

  init(p50: Double, p90: Double, p99: Double) {
    self.p50 = p50
    self.p90 = p90
    self.p99 = p99
  }

  /// Returns `nil` if `nanoseconds` is empty.
  init?(nanoseconds: [UInt32]) {
    guard !nanoseconds.isEmpty else { return nil }
    let statistics = Statistics(nanoseconds.map { Double($0) / 1e9 })
    p50 = statistics.quantile(0.5)
    p90 = statistics.quantile(0.9)
    p99 = statistics.quantile(0.99)
  }
}
