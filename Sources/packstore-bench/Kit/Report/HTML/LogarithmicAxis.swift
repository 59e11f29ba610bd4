import Foundation

/// Positions of values on a logarithmic axis: equal distances are equal ratios.
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
    // Adds a margin at both ends. The axis spans at least a factor of ten, so that a few percent do not look like a large
    // difference.
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

  /// Powers of ten, and on a short axis also two and five times the powers of ten.
  var ticks: [Double] {
    let factors: [Double] = high - low > 2.2 ? [1] : [1, 2, 5]
    let exponents = Int(low.rounded(.down))...Int(high.rounded(.up))
    return exponents.flatMap { exponent in factors.map { $0 * pow(10, Double(exponent)) } }
      .filter { log10($0) >= low && log10($0) <= high }
  }
}
