import Foundation

/// Times of single operations on a logarithmic axis: from half of them to all but one in a hundred.
struct PercentileChart {
  let comparison: Comparison
  let palette: Palette

  private let labelWidth = 330.0
  private let plotWidth = 420.0
  private let rowHeight = 26.0

  var svg: String {
    let rows = comparison.entries.compactMap { entry in entry.latencies.map { (entry, $0) } }
    let axis = LogarithmicAxis(rows.flatMap { [$0.1.p50, $0.1.p99] }, from: labelWidth, to: labelWidth + plotWidth)
    let bottom = Double(rows.count) * rowHeight + 8
    var marks = axis.ticks.map { tick in
      let x = number(axis.position(of: tick))
      return element("line", ["class": "grid", "x1": x, "x2": x, "y1": "0", "y2": number(bottom)])
        + element("text", ["class": "tick", "x": x, "y": number(bottom + 14)], escaped(durationText(tick)))
    }.joined()
    for (row, (entry, latencies)) in rows.enumerated() {
      marks += line(entry, latencies, axis, middle: Double(row) * rowHeight + 4 + rowHeight / 2)
    }
    if let limit = rows.first(where: { $0.0.isLimit && $0.0.name == comparison.limit }) {
      let x = number(axis.position(of: limit.1.p50))
      marks += element("line", ["class": "limit-line", "x1": x, "x2": x, "y1": "0", "y2": number(bottom)])
    }
    return chart(width: labelWidth + plotWidth + 30, height: bottom + 20, comparison.heading, marks)
  }

  private func line(
    _ entry: Comparison.Entry, _ latencies: Latencies, _ axis: LogarithmicAxis, middle: Double
  ) -> String {
    let style = palette.style(of: entry)
    let y = number(middle)
    func x(_ value: Double) -> String { number(axis.position(of: value)) }
    let label = element(
      "text", ["class": comparison.labelStyle(of: entry), "x": number(labelWidth - 8), "y": y],
      escaped(shortened(entry.name, 44)))
    let range = element(
      "line", ["class": "range \(style)", "x1": x(latencies.p50), "x2": x(latencies.p99), "y1": y, "y2": y])
    let p90 = element("circle", ["class": "hollow \(style)", "cx": x(latencies.p90), "cy": y, "r": "4"])
    let p99 = element(
      "line",
      [
        "class": "range \(style)", "x1": x(latencies.p99), "x2": x(latencies.p99), "y1": number(middle - 6),
        "y2": number(middle + 6),
      ])
    let p50 = element("circle", ["class": style, "cx": x(latencies.p50), "cy": y, "r": "5.5"])
    return label + range + p90 + p99 + p50
  }
}

/// Where a value lies on an axis on which equal distances are equal ratios.
struct LogarithmicAxis {
  private let low: Double
  private let high: Double
  private let begin: Double
  private let end: Double

  /// - Parameter values: what has to find room; those that are not above zero are taken for the smallest that is.
  init(_ values: [Double], from begin: Double, to end: Double) {
    let positive = values.filter { $0 > 0 && $0.isFinite }
    let least = log10(positive.min() ?? 1)
    let most = log10(positive.max() ?? 10)
    // A little room at both ends, and no axis without a width.
    low = least - max((most - least) * 0.04, 0.05)
    high = most + max((most - least) * 0.04, 0.05)
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
