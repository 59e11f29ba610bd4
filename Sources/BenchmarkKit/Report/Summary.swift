/// The comparisons in a line each: PackStore, who else is best, and the limit.
struct Summary {
  struct Line {
    let title: String
    let packStore: String
    /// The best that is not PackStore, and its figure.
    let peer: String
    /// PackStore's figure divided by the peer's.
    let toPeer: String
    let toLimit: String
  }

  let lines: [Line]

  init(_ report: Report) { lines = report.sections.flatMap(\.comparisons).compactMap(Line.init) }

  var table: Table {
    var table = Table(["", "PackStore", "best other", "/ other", "/ limit"])
    table.rows = lines.map { [$0.title, $0.packStore, $0.peer, $0.toPeer, $0.toLimit] }
    return table
  }
}

extension Summary.Line {
  /// Nil where PackStore took no part.
  fileprivate init?(_ comparison: Comparison) {
    let name = PackStoreContestant.swift.name
    guard let own = comparison.entries.first(where: { $0.name == name && !$0.isLimit }) else { return nil }
    func median(_ entry: Comparison.Entry) -> Double { comparison.statistics(of: entry).median }
    func figure(_ entry: Comparison.Entry) -> String {
      "\(comparison.unit.text(median(entry))) \(comparison.unit.symbol)"
    }
    let others = comparison.entries.filter { !$0.isLimit && !$0.name.hasPrefix(name) }
    let best =
      comparison.quantity.isBetterHigher
      ? others.max { median($0) < median($1) } : others.min { median($0) < median($1) }
    title = comparison.heading
    packStore = figure(own)
    peer = best.map { "\($0.name): \(figure($0))" } ?? "-"
    toPeer = best.map { significant(median(own) / median($0)) } ?? "-"
    toLimit = comparison.ratio(of: own).map(significant) ?? "-"
  }
}
