extension Report {
  /// This report with what another one found out about the same questions. Participants of both have the samples of both.
  func joined(_ other: Report) -> Report {
    var report = self
    for contestant in other.contestants where !contestants.contains(where: { $0.name == contestant.name }) {
      report.contestants.append(contestant)
    }
    report.absences += other.absences.filter { !absences.contains($0) }
    report.omissions += other.omissions.filter { !omissions.contains($0) }
    report.seconds += other.seconds
    for section in other.sections {
      if let index = sections.firstIndex(where: { $0.title == section.title }) {
        report.sections[index] = sections[index].joined(section)
      } else {
        report.sections.append(section)
      }
    }
    return report
  }
}

extension Report.Section {
  fileprivate func joined(_ other: Self) -> Self {
    var section = self
    for comparison in other.comparisons {
      if let index = comparisons.firstIndex(where: { $0.heading == comparison.heading }) {
        section.comparisons[index] = comparisons[index].joined(comparison)
      } else {
        section.comparisons.append(comparison)
      }
    }
    return section
  }
}

extension Comparison {
  /// Limits stay last.
  fileprivate func joined(_ other: Comparison) -> Comparison {
    var comparison = self
    for entry in other.entries {
      if let index = comparison.entries.firstIndex(where: { $0.name == entry.name }) {
        comparison.entries[index] = comparison.entries[index].joined(entry)
      } else {
        let firstLimit = comparison.entries.firstIndex(where: \.isLimit) ?? comparison.entries.endIndex
        comparison.entries.insert(entry, at: entry.isLimit ? comparison.entries.endIndex : firstLimit)
      }
    }
    comparison.absences += other.absences.filter { !absences.contains($0) }
    return comparison
  }
}

extension Comparison.Entry {
  fileprivate func joined(_ other: Self) -> Self {
    var entry = self
    entry.samples += other.samples
    entry.latencies = [latencies, other.latencies].compactMap(\.self).mean(weights: [
      samples.count, other.samples.count,
    ])
    return entry
  }
}

extension [Latencies] {
  /// The mean of the percentiles of several runs, because their single operations are not kept.
  fileprivate func mean(weights: [Int]) -> Latencies? {
    guard count == weights.count else { return first }
    func mean(_ value: (Latencies) -> Double) -> Double {
      zip(self, weights).reduce(0) { $0 + value($1.0) * Double($1.1) } / Double(weights.reduce(0, +))
    }
    return Latencies(p50: mean(\.p50), p90: mean(\.p90), p99: mean(\.p99))
  }
}
