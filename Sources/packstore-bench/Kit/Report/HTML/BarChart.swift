/// A chart with one horizontal bar per participant, and a vertical line at the limit.
struct BarChart {
  let comparison: Comparison
  let palette: Palette
  /// Formats a median; `nil` to use the comparison's unit.
  var text: ((Double) -> String)?

  private let labelWidth = 330.0
  private let plotWidth = 340.0
  private let valueWidth = 110.0
  private let rowHeight = 26.0

  var svg: String {
    let entries = comparison.entries
    let medians = entries.map { comparison.statistics(of: $0).median }
    let longest = entries.map { comparison.statistics(of: $0).quantile(0.75) }.max() ?? 1
    let scale = plotWidth / max(longest, .leastNormalMagnitude)
    let height = Double(entries.count) * rowHeight + 8
    func top(_ row: Int) -> Double { Double(row) * rowHeight + 4 }
    var marks = entries.enumerated().map { bar($0.element, medians[$0.offset], scale, top: top($0.offset)) }.joined()
    if let index = entries.firstIndex(where: { $0.isLimit && $0.name == comparison.limit }) {
      let x = number(labelWidth + medians[index] * scale)
      marks += element("line", ["class": "limit-line", "x1": x, "x2": x, "y1": "0", "y2": number(height)])
    }
    // The values are on top of the limit's line, which would otherwise cross them.
    marks += entries.enumerated().map { value($0.element, medians[$0.offset], scale, top: top($0.offset)) }.joined()
    return chart(width: labelWidth + plotWidth + valueWidth, height: height, comparison.heading, marks)
  }

  private func bar(_ entry: Comparison.Entry, _ median: Double, _ scale: Double, top: Double) -> String {
    let style = palette.style(of: entry)
    let middle = number(top + rowHeight / 2 - 2)
    let spread = comparison.statistics(of: entry)
    let (low, high) = (spread.quantile(0.25) * scale, spread.quantile(0.75) * scale)
    let label = element(
      "text", ["class": comparison.labelStyle(of: entry), "x": number(labelWidth - 8), "y": middle],
      escaped(shortened(entry.name, 44)))
    let bar = element(
      "rect",
      [
        "class": style, "x": number(labelWidth), "y": number(top + 2), "width": number(max(median * scale, 1)),
        "height": number(rowHeight - 8), "rx": "2",
      ])
    let whisker = element(
      "line",
      ["class": "whisker", "x1": number(labelWidth + low), "x2": number(labelWidth + high), "y1": middle, "y2": middle])
    return label + bar + whisker
  }

  private func value(_ entry: Comparison.Entry, _ median: Double, _ scale: Double, top: Double) -> String {
    let end = max(median, comparison.statistics(of: entry).quantile(0.75)) * scale
    return element(
      "text", ["class": "value", "x": number(labelWidth + end + 8), "y": number(top + rowHeight / 2 - 2)],
      escaped(text?(median) ?? "\(comparison.unit.text(median)) \(comparison.unit.symbol)"))
  }
}
