/// A chart of the durations of single operations on a logarithmic axis: the 50th, 90th and 99th percentiles.
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
