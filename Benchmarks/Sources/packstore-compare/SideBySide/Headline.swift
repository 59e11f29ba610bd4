/// A comparison as shown in the table and the picture of Docs/Figures.md: the participants with comparable figures.
struct Headline: Codable {
  let title: String
  let unit: String
  let isMoreBetter: Bool
  let bars: [Bar]

  struct Bar: Codable {
    let name: String
    let kind: Kind
    /// In the headline's unit.
    let value: Double
    let text: String
  }

  enum Kind: String, Codable { case packStore, peer, limit }
}

extension Headline {
  /// The headlines that a report has figures for.
  static func all(of report: Report) -> [Headline] {
    let comparisons = report.sections.flatMap(\.comparisons)
    return Question.all.compactMap { question in
      guard let comparison = comparisons.first(where: { $0.heading == question.comparison }) else { return nil }
      return Headline(question, comparison)
    }
  }

  /// Nil where PackStore took no part.
  private init?(_ question: Question, _ comparison: Comparison) {
    let unit = comparison.unit
    let entries = comparison.entries.filter { $0.isLimit ? $0.name == comparison.limit : question.asks($0.name) }
    bars = entries.map { entry in
      let median = comparison.statistics(of: entry).median
      let kind: Kind =
        entry.isLimit ? .limit : entry.name.hasPrefix(PackStoreContestant.swift.name) ? .packStore : .peer
      return Bar(name: entry.name, kind: kind, value: median * unit.perOne, text: unit.text(median))
    }
    guard bars.contains(where: { $0.kind == .packStore }) else { return nil }
    title = question.title
    self.unit = unit.symbol
    isMoreBetter = comparison.quantity.isBetterHigher
  }
}

/// A headline's comparison, and its participants.
private struct Question {
  let title: String
  /// The comparison's heading.
  let comparison: String
  /// Beginnings of the names of the participants shown with the limit; all if empty.
  var participants: [String] = []

  func asks(_ name: String) -> Bool { participants.isEmpty || participants.contains { name.hasPrefix($0) } }

  static let all = [
    // Only contestants that compress: others read at the speed of memory, and take several times the space.
    Question(
      title: "First read of large compressed assets",
      comparison: "Compressible, first read, into memory that is there",
      participants: ["PackStore", "squashfs", "EROFS"]),
    Question(
      title: "64 KiB inside large compressed assets",
      comparison: "Compressible, 64 KiB at random, each place once", participants: ["PackStore", "squashfs", "EROFS"]),
    Question(
      title: "Small compressible assets, 10 KB", comparison: "Compressible, small assets copied out",
      participants: ["PackStore", "LMDB", "SQLite", "plain files"]),
    Question(
      title: "Small text assets, 10 KB", comparison: "Text, small assets copied out",
      participants: ["PackStore", "LMDB", "SQLite", "plain files"]),
    Question(
      title: "Small incompressible assets, 10 KB", comparison: "Incompressible, small assets copied out",
      participants: ["PackStore", "LMDB", "SQLite", "plain files"]),
    Question(title: "Look-up among 20,000 assets", comparison: "Look-up, 20,000 assets"),
    Question(title: "Look-up among 1,000,000 assets", comparison: "Look-up, 1,000,000 assets"),
    Question(title: "Everything written to disk", comparison: "Write every asset to disk"),
    Question(title: "Open among 1,000,000 assets", comparison: "Open, and find one asset, 1,000,000 assets"),
  ]
}
