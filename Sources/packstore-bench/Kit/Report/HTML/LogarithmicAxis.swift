import Foundation

/// Positions of values on an axis where equal distances are equal ratios.
struct LogarithmicAxis {
  private let low: Double
  private let high: Double
  private let begin: Double
  private let end: Double

  /// - Parameter values: the values to show. Values of zero or less count as the smallest positive value.
  init(_ values: [Double], from begin: Double, to end: Double) {
    let positive = values.filter { $0 > 0 && $0.isFinite }
    let least = log10(positive.min() ?? 1)
    let most = log10(positive.max() ?? 10)
    // A little room at both ends; and a factor of ten at least, so that a few percent do not look like much.
    let room = max((most - least) * 0.04, (1 - (most - least)) / 2)
    low = least - room
    high = most + room
    self.begin = begin
    self.end = end
  }

  func position(of value: Double) -> Double {
    let exponent = value > 0 ? min(max(log10(value), low), high) : low
    return begin + (exponent - low) / (high - low) * (end - begin)
  }

  /// Powers of ten, and where there are few of them also twice and five times those.
  var ticks: [Double] {
    let factors: [Double] = high - low > 2.2 ? [1] : [1, 2, 5]
    let exponents = Int(low.rounded(.down))...Int(high.rounded(.up))
    return exponents.flatMap { exponent in factors.map { $0 * pow(10, Double(exponent)) } }
      .filter { log10($0) >= low && log10($0) <= high }
  }
}
