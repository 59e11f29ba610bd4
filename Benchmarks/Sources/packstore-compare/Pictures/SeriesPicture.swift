/// One measurement at several sizes as an independent picture, for a page of any colour: for reports without a
/// headline.
struct SeriesPicture {
  let lines: LineChart

  /// Nil where nothing was asked at several sizes.
  init?(_ report: Report) {
    let comparisons = report.sections.flatMap(\.comparisons)
    let series = comparisons.lazy.compactMap { $0.point?.series }
    let charts = series.map { name in
      let points = comparisons.filter { $0.point?.series == name }
      var names: [String] = []
      for entry in points.flatMap(\.entries) where !entry.isLimit && !names.contains(entry.name) {
        names.append(entry.name)
      }
      return LineChart(series: name, comparisons: points, palette: Palette(names))
    }
    guard let chart = charts.first(where: { $0.isWorthwhile }) else { return nil }
    lines = chart
  }

  var svg: String {
    let title = element("text", ["class": "title", "x": "18", "y": "26"], escaped(lines.series))
    let background = element(
      "rect", ["class": "card", "x": "0.5", "y": "0.5", "width": "825", "height": "371", "rx": "8"])
    let picture = element("svg", ["x": "18", "y": "44", "width": "790", "height": "310"], lines.marks)
    return chart(
      width: 826, height: 372, lines.series, element("style", [:], Self.style) + background + title + picture) + "\n"
  }

  private static let style = """
    text { font: 12px system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; fill: #1d2126; }
    text { dominant-baseline: central; }
    .card { fill: #ffffff; stroke: #d5d9de; }
    .title { font-weight: 600; font-size: 14px; }
    .label { text-anchor: end; }
    .tick { text-anchor: middle; }
    .muted { fill: #68707a; }
    .grid { stroke: #e3e1dc; }
    .curve { fill: none; stroke-width: 2; }
    .c0 { fill: #0a66c2; } .c1 { fill: #5aa0e0; } .c2 { fill: #7b5cc4; } .c3 { fill: #c2751b; } .c4 { fill: #2f8f5b; }
    .c5 { fill: #b8434e; } .c6 { fill: #8a7a1f; } .c7 { fill: #1c8a94; } .c8 { fill: #a04a93; } .c9 { fill: #6b5b4d; }
    .limit { fill: #a9afb6; }
    .curve.c0 { stroke: #0a66c2; } .curve.c1 { stroke: #5aa0e0; } .curve.c2 { stroke: #7b5cc4; }
    .curve.c3 { stroke: #c2751b; } .curve.c4 { stroke: #2f8f5b; } .curve.c5 { stroke: #b8434e; }
    .curve.c6 { stroke: #8a7a1f; } .curve.c7 { stroke: #1c8a94; } .curve.c8 { stroke: #a04a93; }
    .curve.c9 { stroke: #6b5b4d; } .curve.limit { stroke: #a9afb6; }
    polyline.curve { fill: none; }
    """
}
