/// The comparisons, one line each: PackStore compared with plain files, the best other participant, and the limit.
struct Summary {
  struct Line {
    let title: String
    let packStore: String
    let files: String
    /// PackStore's figure divided by the figure of plain files.
    let toFiles: String
    /// The best participant other than PackStore and plain files, and its figure.
    let peer: String
    let toPeer: String
    let toLimit: String
  }

  let lines: [Line]

  init(_ report: Report) { lines = report.sections.flatMap(\.comparisons).compactMap(Line.init) }

  /// The first comparisons as sentences, at most five, for users who measured their own folder.
  var words: [String] {
    lines.prefix(5).map { line in
      let title = line.title.dropFirst(2)
      let files =
        line.files == "-" ? "" : "; plain files \(line.files), so PackStore has \(line.toFiles) times that figure"
      return "\(title): PackStore \(line.packStore)\(files)."
    }
  }

  var table: Table {
    var table = Table(["↑ more is better, ↓ less", "PackStore", "files", "/ files", "best peer", "/ peer", "/ limit"])
    table.rows = lines.map { [$0.title, $0.packStore, $0.files, $0.toFiles, $0.peer, $0.toPeer, $0.toLimit] }
    let isAnyPeer = lines.contains { $0.peer != "-" }
    return isAnyPeer ? table : table.without(columns: 4...5)
  }
}

extension Summary.Line {
  /// `nil` if PackStore did not take part.
  fileprivate init?(_ comparison: Comparison) {
    let name = PackStoreContestant.swift.name
    guard let own = comparison.entries.first(where: { $0.name == name && !$0.isLimit }) else { return nil }
    func median(_ entry: Comparison.Entry) -> Double { comparison.statistics(of: entry).median }
    func figure(_ entry: Comparison.Entry) -> String {
      "\(comparison.unit.text(median(entry))) \(comparison.unit.symbol)"
    }
    func ratio(_ entry: Comparison.Entry?) -> String {
      entry.map { median(own) / median($0) }.map(significant) ?? "-"
    }
    let others = comparison.entries.filter { !$0.isLimit && !$0.name.hasPrefix(name) }
    let plain = others.first { $0.name == PlainFiles().name }
    let peers = others.filter { $0.name != plain?.name }
    let isMoreBetter = comparison.quantity.isBetterHigher
    let best = isMoreBetter ? peers.max { median($0) < median($1) } : peers.min { median($0) < median($1) }
    title = "\(isMoreBetter ? "↑" : "↓") \(comparison.heading)"
    packStore = figure(own)
    files = plain.map(figure) ?? "-"
    toFiles = ratio(plain)
    peer = best.map { "\(figure($0)), \($0.name)" } ?? "-"
    toPeer = ratio(best)
    toLimit = comparison.ratio(of: own).map(significant) ?? "-"
  }
}
