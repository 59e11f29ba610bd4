import Foundation

extension Report {
  /// The report as Markdown.
  var markdown: String {
    var text = "# PackStore beside its peers\n\n"
    text += facts.map { "- \($0)\n" }.joined() + "\n"
    text += Self.howToRead + "\n"
    let summary = Summary(self)
    if !summary.lines.isEmpty { text += "## At a glance\n\n" + summary.table.markdown }
    for section in sections where !section.comparisons.isEmpty {
      text += "\n## \(section.title)\n"
      for comparison in section.comparisons { text += "\n" + comparison.markdown }
    }
    text += "\n## Who took part\n\n"
    text += contestants.map { $0.note.isEmpty ? "- \($0.name)\n" : "- \($0.name): \($0.note)\n" }.joined()
    let missing = absences.map { "- \($0.name): \($0.reason)\n" } + omissions.map { "- \($0)\n" }
    if !missing.isEmpty { text += "\nLeft out:\n\n" + missing.joined() }
    return text
  }

  /// Facts about the machine and the run, one line each.
  var facts: [String] {
    let machine =
      "Machine: \(environment.processor), \(environment.processorCount) processors, "
      + "\(environment.memoryByteCount / 1_000_000_000) GB, \(fileSystem), \(environment.system), "
      + "Linux \(environment.kernel ?? "?"); load average at the start \(decimals(environment.loadAtStart, 1))"
    let versions =
      "Versions: PackStore \(environment.packStoreVersion ?? "of unknown commit"), libzstd \(environment.zstdVersion), "
      + "xxHash \(environment.xxhashVersion ?? "?"), Swift \(environment.swiftVersion ?? "?")"
    let run =
      "Run: \(environment.date), \(decimals(seconds, 0)) s, \(settings.repetitions) repetitions at most, \(cacheState)"
    let data =
      "Data: \(settings.data); threads: \(settings.threadsForLarge) for large reads and storing, "
      + "\(settings.threadsForSmall) for small ones"
    return [machine, versions, run, data] + (settings.isQuick ? ["A quick run: not for figures"] : [])
  }

  static let howToRead = """
    Each figure is the median of the repetitions. In each repetition, the participants took turns in another order. The spread is \
    the distance between the quartiles. Percentiles are of single operations in all repetitions. Rows in italics are limits: the \
    machine or libzstd without a store. The last column is the row's figure divided by the figure of the limit in bold. All read \
    bytes were compared with the source. MB are 10^6 bytes.

    """
}

extension Comparison {
  /// The heading, with the size if the comparison belongs to a series.
  var heading: String { point.map { "\(title), \(grouped($0.size)) \($0.axis)" } ?? title }

  var markdown: String {
    var text =
      "### \(heading)\n\n\(explanation) \(quantity.isBetterHigher ? "Higher is better." : "Lower is better.")\n\n"
    text += table.markdown
    if !absences.isEmpty {
      text += "\n" + absences.map { "- Left out: \($0.name): \($0.reason)\n" }.joined()
    }
    return text
  }

  private var table: Table {
    var table = plainTable
    for (index, entry) in entries.enumerated() where entry.isLimit {
      table.rows[index][0] = entry.name == limit ? "***\(entry.name)***" : "*\(entry.name)*"
    }
    return table
  }

  /// The figures without highlighting, one row per entry.
  var plainTable: Table {
    let unit = self.unit
    let hasLatencies = entries.contains { $0.latencies != nil }
    let percentiles = hasLatencies ? ["p50", "p90", "p99"].map { "\($0) \(unit.symbol)" } : []
    var table = Table(["", unit.symbol, "spread"] + percentiles + (limit == nil ? ["n"] : ["n", "/ limit"]))
    for entry in entries {
      let statistics = statistics(of: entry)
      var row = [entry.name, unit.text(statistics.median), unit.text(statistics.interquartileRange)]
      if hasLatencies {
        row += entry.latencies.map { [$0.p50, $0.p90, $0.p99].map(unit.text) } ?? ["", "", ""]
      }
      row.append("\(entry.samples.count)")
      if limit != nil { row.append(ratio(of: entry).map(significant) ?? "") }
      table.rows.append(row)
    }
    return table
  }
}
