/// A chart of one measurement at several sizes: one line per participant, with two logarithmic axes.
struct LineChart {
  let series: String
  /// The comparisons in order of size.
  let comparisons: [Comparison]
  let palette: Palette

  private let left = 70.0
  private let right = 520.0
  private let top = 12.0
  private let bottom = 260.0

  /// Whether the chart contains a line, which needs at least two sizes.
  var isWorthwhile: Bool { comparisons.count > 1 }

  var svg: String { chart(width: 790, height: height, series, marks) }

  /// The content of the chart, without its frame.
  var marks: String {
    let sizes = comparisons.map { Double($0.point?.size ?? 0) }
    let medians = comparisons.flatMap { comparison in comparison.entries.map { comparison.statistics(of: $0).median } }
    let across = LogarithmicAxis(sizes, from: left, to: right)
    let up = LogarithmicAxis(medians, from: bottom, to: top)
    var marks = grid(sizes, across, up)
    for (row, entry) in participants.enumerated() {
      marks += line(of: entry, across, up) + legend(entry, row)
    }
    return marks
  }

  private var height: Double { max(bottom + 44, top + Double(participants.count) * 22 + 20) }

  /// The participants of all sizes, each once.
  private var participants: [Comparison.Entry] {
    comparisons.flatMap(\.entries).reduce(into: []) { names, entry in
      if !names.contains(where: { $0.name == entry.name }) { names.append(entry) }
    }
  }

  private func grid(_ sizes: [Double], _ across: LogarithmicAxis, _ up: LogarithmicAxis) -> String {
    let horizontal = up.ticks.map { tick in
      let y = number(up.position(of: tick))
      return element("line", ["class": "grid", "x1": number(left), "x2": number(right), "y1": y, "y2": y])
        + element("text", ["class": "label", "x": number(left - 8), "y": y], escaped(text(tick)))
    }
    let vertical = sizes.map { size in
      let x = number(across.position(of: size))
      return element("line", ["class": "grid", "x1": x, "x2": x, "y1": number(top), "y2": number(bottom)])
        + element("text", ["class": "tick", "x": x, "y": number(bottom + 18)], grouped(Int(size)))
    }
    let title = element(
      "text", ["class": "tick", "x": number((left + right) / 2), "y": number(bottom + 36)],
      escaped(comparisons.first?.point?.axis ?? ""))
    return (horizontal + vertical).joined() + title
  }

  private func line(of entry: Comparison.Entry, _ across: LogarithmicAxis, _ up: LogarithmicAxis) -> String {
    let style = palette.style(of: entry)
    let points = comparisons.compactMap { comparison -> (x: String, y: String)? in
      guard let same = comparison.entries.first(where: { $0.name == entry.name }) else { return nil }
      let median = comparison.statistics(of: same).median
      return (number(across.position(of: Double(comparison.point?.size ?? 0))), number(up.position(of: median)))
    }
    let path = points.map { "\($0.x),\($0.y)" }.joined(separator: " ")
    return element("polyline", ["class": "curve \(style)", "points": path])
      + points.map { element("circle", ["class": style, "cx": $0.x, "cy": $0.y, "r": "4"]) }.joined()
  }

  private func legend(_ entry: Comparison.Entry, _ row: Int) -> String {
    let y = top + 10 + Double(row) * 22
    return element(
      "rect",
      [
        "class": palette.style(of: entry), "x": number(right + 24), "y": number(y - 6), "width": "12", "height": "12",
        "rx": "2",
      ])
      + element(
        "text", ["class": entry.isLimit ? "key muted" : "key", "x": number(right + 44), "y": number(y)],
        escaped(shortened(entry.name, 34)))
  }

  private func text(_ value: Double) -> String {
    comparisons.first?.quantity == .held ? sizeText(value) : durationText(value)
  }
}
