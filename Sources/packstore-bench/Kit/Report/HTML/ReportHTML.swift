/// Returns a page for a browser, without scripts and external resources.
///
/// - Parameter body: the markup after the title.
func page(titled title: String, _ body: String) -> String {
  let head =
    element("meta", ["charset": "utf-8"])
    + element("meta", ["name": "viewport", "content": "width=device-width, initial-scale=1"])
    + element("title", [:], escaped(title)) + element("style", [:], "\n" + Report.style)
  return "<!DOCTYPE html>\n"
    + element(
      "html", ["xmlns": "http://www.w3.org/1999/xhtml", "lang": "en"],
      element("head", [:], head) + element("body", [:], element("h1", [:], escaped(title)) + body))
    + "\n"
}

extension Report {
  /// The report as a page for a browser, without scripts and external resources.
  var html: String {
    let shown = sections.filter { !$0.comparisons.isEmpty }
    let summary = Summary(self)
    let links = shown.enumerated().map { element("a", ["href": "#s\($0.offset)"], escaped($0.element.title)) }
    let body =
      element("ul", ["class": "facts"], facts.map { element("li", [:], escaped($0)) }.joined())
      + element("nav", [:], links.joined())
      + (summary.lines.isEmpty ? "" : element("h2", [:], "At a glance") + summary.table.html())
      + element("p", ["class": "muted-text"], escaped(Self.howToReadThePage))
      + shown.enumerated().map { html(of: $0.element, at: $0.offset) }.joined() + participants
    return page(titled: "PackStore beside its peers", body)
  }

  private static let howToReadThePage =
    "Each figure is the median of the repetitions. In each repetition, the participants took turns in another order. Columns with "
    + "a slash are PackStore's figure divided by the named figure. In the charts, grey marks are limits: the machine or libzstd "
    + "without a store. The dashed line is the limit that ratios refer to. The thin line at a bar's end spans the middle half of "
    + "the samples. If single operations were timed, the dot is the median, the ring the 90th percentile, the stroke the 99th. All "
    + "read bytes were compared with the source. MB are 10^6 bytes."

  /// The colours of the contestants, then of entries with other names.
  private var palette: Palette {
    var names = contestants.map(\.name)
    for entry in sections.flatMap(\.comparisons).flatMap(\.entries) where !entry.isLimit && !names.contains(entry.name)
    {
      names.append(entry.name)
    }
    return Palette(names)
  }

  private func html(of section: Section, at index: Int) -> String {
    let heading = element("h2", ["id": "s\(index)"], escaped(section.title))
    var drawn: Set<String> = []
    let articles = section.comparisons.map { comparison -> String in
      guard let series = comparison.point?.series else { return article(comparison) }
      guard drawn.insert(series).inserted else { return "" }
      return article(series, section.comparisons.filter { $0.point?.series == series })
    }
    return heading + articles.joined()
  }

  private func article(_ comparison: Comparison) -> String {
    let picture =
      comparison.entries.contains { $0.latencies != nil }
      ? PercentileChart(comparison: comparison, palette: palette).svg
      : BarChart(comparison: comparison, palette: palette).svg
    return element(
      "article", [:],
      element("h3", [:], escaped(comparison.heading)) + explanation(of: comparison)
        + (comparison.entries.isEmpty ? "" : picture) + absences(of: comparison) + figures([comparison]))
  }

  /// Returns an article with one chart for a measurement at several sizes.
  private func article(_ series: String, _ comparisons: [Comparison]) -> String {
    let chart = LineChart(series: series, comparisons: comparisons, palette: palette)
    guard chart.isWorthwhile else { return comparisons.map(article).joined() }
    return element(
      "article", [:],
      element("h3", [:], escaped(comparisons[0].title)) + explanation(of: comparisons[0]) + chart.svg
        + comparisons.map(absences).joined() + figures(comparisons))
  }

  private func explanation(of comparison: Comparison) -> String {
    let direction = comparison.quantity.isBetterHigher ? "Higher is better." : "Lower is better."
    return element("p", ["class": "muted-text"], escaped("\(comparison.explanation) \(direction)"))
  }

  private func absences(of comparison: Comparison) -> String {
    comparison.absences.map { absence in
      element("p", ["class": "muted-text"], escaped("Left out: \(absence.name): \(absence.reason)"))
    }.joined()
  }

  private func figures(_ comparisons: [Comparison]) -> String {
    let tables = comparisons.map { comparison in
      let classes = comparison.entries.map { entry in
        guard entry.isLimit else { return "" }
        return entry.name == comparison.limit ? "is-limit is-reference" : "is-limit"
      }
      let title = comparisons.count > 1 ? element("p", ["class": "muted-text"], escaped(comparison.heading)) : ""
      return title + comparison.plainTable.html(classes: classes)
    }
    return element("details", [:], element("summary", [:], "Figures") + tables.joined())
  }

  private var participants: String {
    let items = contestants.map { $0.note.isEmpty ? $0.name : "\($0.name): \($0.note)" }
    let missing = absences.map { "\($0.name): \($0.reason)" } + omissions
    func list(_ items: [String]) -> String {
      element("ul", ["class": "facts"], items.map { element("li", [:], escaped($0)) }.joined())
    }
    return element("h2", [:], "Who took part") + list(items)
      + (missing.isEmpty ? "" : element("p", [:], "Left out:") + list(missing))
  }
}
