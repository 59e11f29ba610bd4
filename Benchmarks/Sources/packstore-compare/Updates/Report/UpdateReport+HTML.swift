import Foundation

extension UpdateReport {
  /// The report as one page that needs no scripts and nothing from the network.
  var html: String {
    let head =
      element("meta", ["charset": "utf-8"])
      + element("meta", ["name": "viewport", "content": "width=device-width, initial-scale=1"])
      + element("title", [:], escaped(Self.title)) + element("style", [:], "\n" + Report.style)
    let links = pairs.enumerated().map { element("a", ["href": "#p\($0.offset)"], escaped($0.element.name)) }
    let palette = Palette(
      pairs.flatMap(\.rows).map(\.name).reduce(into: []) { if !$0.contains($1) { $0.append($1) } })
    let body =
      element("h1", [:], escaped(Self.title)) + Self.list(facts) + element("nav", [:], links.joined())
      + element("h2", [:], "Goals")
      + element(
        "p", ["class": "muted-text"],
        "PackStore's figure divided by the other's; the best of them where there are several.")
      + goalTable.html() + element("h2", [:], "Rates")
      + element("p", ["class": "muted-text"], escaped(Self.aboutRates)) + rateTable.html()
      + pairs.enumerated().map { Self.section($0.element, at: $0.offset, palette) }.joined()
      + (absences.isEmpty
        ? "" : element("h2", [:], "Left out") + Self.list(absences.map { "\($0.name): \($0.reason)" }))
      + element("h2", [:], "How to read the figures") + Self.list(Self.howToRead)
    return "<!DOCTYPE html>\n"
      + element(
        "html", ["xmlns": "http://www.w3.org/1999/xhtml", "lang": "en"],
        element("head", [:], head) + element("body", [:], body)) + "\n"
  }

  private static func section(_ pair: Pair, at index: Int, _ palette: Palette) -> String {
    func quiet(_ text: String) -> String { element("p", ["class": "muted-text"], escaped(text)) }
    let pictures = pair.comparisons.map { comparison in
      element("h3", [:], escaped(comparison.title)) + quiet(comparison.explanation)
        + BarChart(
          comparison: comparison, palette: palette,
          text: comparison.quantity == .held ? { byteText(Int($0)) } : nil
        ).svg
    }
    let installs =
      pair.installs.isEmpty ? "" : quiet("The old version, for a client that has nothing:") + pair.installTable.html()
    let figures = element("details", [:], element("summary", [:], "Figures") + pair.table.html() + installs)
    return element("h2", ["id": "p\(index)"], escaped(pair.name))
      + element(
        "article", [:],
        (pair.explanation.isEmpty ? "" : quiet(pair.explanation)) + quiet(pair.summary + ".") + pictures.joined()
          + figures + pair.absences.map { quiet("Left out: \($0.name): \($0.reason)") }.joined())
  }

  private static func list(_ items: [String]) -> String {
    element("ul", ["class": "facts"], items.map { element("li", [:], escaped($0)) }.joined())
  }
}

extension UpdateReport.Pair {
  /// The main figures as bars.
  var comparisons: [Comparison] {
    func comparison(
      _ title: String, _ explanation: String, _ quantity: Quantity, _ sample: (UpdateRow) -> Sample?
    ) -> Comparison {
      var comparison = Comparison(title: title, explanation: explanation, quantity: quantity)
      comparison.entries = rows.compactMap { row in sample(row).map { .init(row.name, isLimit: false, [$0]) } }
      return comparison
    }
    func duration(_ usage: ProgramUsage?) -> Sample? {
      usage.map { Sample(Timing(wall: $0.seconds, cpu: $0.cpuSeconds)) }
    }
    return [
      comparison("To fetch", "Bytes from the old version to the new one. Shorter is better.", .held) { row in
        var sample = Sample(Timing(wall: 0, cpu: 0))
        sample.heldByteCount = row.byteCount
        return sample
      },
      comparison("To make", "Time to make what is fetched. Shorter is better.", .duration) { duration($0.build) },
      comparison("To apply", "Time to the new version on disk. Shorter is better.", .duration) { duration($0.apply) },
    ].filter { !$0.entries.isEmpty }
  }
}

// MARK: - Picture

extension UpdateReport {
  /// Each pair's download sizes, for the participants that a publisher would choose between.
  var headlines: [Headline] {
    pairs.compactMap { pair in
      func best(_ keys: [String]) -> UpdateRow? {
        keys.compactMap { key in pair.rows.first { $0.key == key } }.min { $0.byteCount < $1.byteCount }
      }
      let chosen = [
        ["packstore-ranges-12"], ["packstore-delta-default"], ["casync", "zchunk"], ["zsync"],
        ["restic-max", "borg-zstd-12"],
        ["zstd-19-patch"], ["whole-zstd-19"],
      ].compactMap(best)
      guard chosen.contains(where: \.isPackStore) else { return nil }
      let bars = chosen.map { row in
        Headline.Bar(
          name: row.name, kind: row.isPackStore ? .packStore : .peer, value: Double(row.byteCount),
          text: byteText(row.byteCount))
      }
      return Headline(title: pair.name, unit: "bytes", isMoreBetter: false, bars: bars)
    }
  }
}

/// A size in the unit that fits it: `402 B`, `25.5 KB`, `1.14 MB`, in powers of ten.
func byteText(_ byteCount: Int) -> String {
  switch byteCount {
  case ..<1_000: "\(byteCount) B"
  case ..<1_000_000: "\(significant(Double(byteCount) / 1e3)) KB"
  default: "\(significant(Double(byteCount) / 1e6)) MB"
  }
}

extension ReportDestination {
  /// Writes the report to each file that was asked for.
  func write(_ report: UpdateReport, _ picture: PictureFile) throws {
    try writePages(markdown: report.markdown, html: report.html)
    try picture.write(
      HeadlinePicture(
        headlines: report.headlines, title: "Bytes to fetch for an update",
        legend: "What a client fetches from one version to the next. One run."
      ).svg)
    try writeJSON(report)
  }
}
