/// The headlines as one independent picture, for a page of any colour: it has its own background.
struct HeadlinePicture {
  let headlines: [Headline]
  var title = "PackStore and its peers"
  /// The line below all of them.
  var legend = "Grey: limits of the machine or of libzstd, without a store. Medians of one run."

  private let columnWidth = 460.0
  private let labelWidth = 190.0
  private let barWidth = 170.0
  private let titleHeight = 30.0
  private let rowHeight = 19.0
  private let margin = 18.0

  var svg: String {
    // The left column is filled to half of the height, in the order of the headlines.
    let half = headlines.map(height).reduce(0, +) / 2
    var tops = [0.0, 0.0]
    var marks = ""
    for headline in headlines {
      let column = tops[0] + height(of: headline) / 2 < half || tops[0] == 0 ? 0 : 1
      marks += block(headline, left: margin + Double(column) * columnWidth, top: margin + tops[column])
      tops[column] += height(of: headline)
    }
    let (width, height) = (2 * columnWidth + margin, max(tops[0], tops[1]) + 2 * margin + 8)
    let background = element(
      "rect",
      [
        "class": "card", "x": "0.5", "y": "0.5", "width": number(width - 1), "height": number(height - 1), "rx": "8",
      ])
    let style = element("style", [:], Self.style)
    let content = style + background + marks + legend(bottom: height)
    return chart(width: width, height: height, title, content) + "\n"
  }

  private func height(of headline: Headline) -> Double { titleHeight + Double(headline.bars.count) * rowHeight + 14 }

  private func block(_ headline: Headline, left: Double, top: Double) -> String {
    let hint = "\(headline.unit), \(headline.isMoreBetter ? "longer" : "shorter") is better"
    let title = element(
      "text", ["class": "title", "x": number(left), "y": number(top + 10)],
      escaped(headline.title) + " " + element("tspan", ["class": "hint"], escaped(hint)))
    let longest = headline.bars.map(\.value).max() ?? 1
    let rows = headline.bars.enumerated().map { index, bar in
      row(bar, share: bar.value / longest, left: left, top: top + titleHeight + Double(index) * rowHeight)
    }
    return title + rows.joined()
  }

  private func legend(bottom: Double) -> String {
    element(
      "text", ["class": "hint", "x": number(margin), "y": number(bottom - margin)],
      escaped(legend))
  }

  private func row(_ bar: Headline.Bar, share: Double, left: Double, top: Double) -> String {
    let middle = number(top + rowHeight / 2 - 4)
    let begin = left + labelWidth
    let length = max(share * barWidth, 1)
    return element(
      "text", ["class": "label \(bar.kind.rawValue)", "x": number(begin - 7), "y": middle],
      escaped(shortened(bar.name, 29)))
      + element(
        "rect",
        [
          "class": bar.kind.rawValue, "x": number(begin), "y": number(top - 2), "width": number(length),
          "height": number(rowHeight - 5), "rx": "2",
        ])
      + element("text", ["class": "value", "x": number(begin + length + 6), "y": middle], escaped(bar.text))
  }

  private static let style = """
    text { font: 12px system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; fill: #1d2126; }
    text { dominant-baseline: central; }
    .card { fill: #ffffff; stroke: #d5d9de; }
    .title { font-weight: 600; font-size: 13px; }
    .hint { font-weight: 400; font-size: 11.5px; fill: #68707a; }
    .label { text-anchor: end; }
    text.packStore { font-weight: 600; }
    text.limit { fill: #68707a; font-style: italic; }
    rect.packStore { fill: #0a66c2; }
    rect.peer { fill: #c99a5b; }
    rect.limit { fill: #c3c8cd; }
    """
}
