/// The costs of updates, as Markdown, JSON and a page.
struct UpdateReport: Codable {
  /// The version of the JSON layout: rises when a field changes its meaning or goes away.
  var format = 1
  let environment: Environment
  let fileSystem: String
  let seed: UInt64
  let isQuick: Bool
  /// Seconds that a run of a peer's program might take.
  let patience: Double
  let versions: [String]
  /// Who could not take part at all, and why; pairs that could not be read.
  var absences: [Comparison.Absence]
  var pairs: [Pair] = []
  var seconds = 0.0

  /// One pair of versions.
  struct Pair: Codable {
    let name: String
    let explanation: String
    let from: FolderSummary
    let to: FolderSummary
    /// The old version for a client that has nothing.
    var installs: [UpdateRow] = []
    /// From the old version to the new one.
    var rows: [UpdateRow] = []
    var goals: [UpdateGoal] = []
    var absences: [Comparison.Absence] = []
  }

  /// Whether a pair could not be read, or PackStore failed. A failed peer is only listed as absent.
  var hasFailures: Bool {
    (absences + pairs.flatMap(\.absences).filter { $0.name == "packstore" }).contains { $0.reason.hasPrefix("failed") }
  }
}

extension UpdateReport.Pair {
  mutating func append(_ row: UpdateRow) {
    if row.isInstall { installs.append(row) } else { rows.append(row) }
  }

  /// `3 files, 57.4 MB; then 3 files, 60.5 MB`.
  var summary: String {
    [from, to].map { "\(counted($0.fileCount, "file")), \(megabytes($0.byteCount)) MB" }.joined(separator: "; then ")
  }
}

// MARK: - Text

extension UpdateReport {
  static let title = "Updates: from one version of a folder to the next"

  var facts: [String] {
    let run =
      "Run: \(decimals(seconds, 0)) s, \(fileSystem), one run of each; made data from seed \(seed); a peer's program was "
      + "ended after \(decimals(patience, 0)) s"
    let own = environment.packStoreVersion.map { ["commit \($0)"] } ?? []
    return [environment.line, "Versions: \((own + versions).joined(separator: ", "))", run]
      + (isQuick ? ["A quick run: not for figures"] : [])
  }

  static let howToRead = [
    "fetch: what the client fetches. For PackStore and zsync it was counted by the web server, heads of answers included; "
      + "for casync it is the new chunks and the index, for zchunk what its own tool says, for restic and borg what their "
      + "repository grows by, for patches the file.",
    "metadata: of that, what is not content: root, manifests, frame tables, pages; indexes.",
    "site: what the publisher's run added to what it keeps. add: PackStore takes the new version into the publisher's store.",
    "make: making what the client fetches, with the old version published already. Making tar files, which patches work "
      + "on, does not count.",
    "apply: from what was fetched to the new version on disk; for PackStore's ranges and zsync fetching it as well, from this "
      + "machine. MB/s are those of the whole new version. What came out was compared with the new version.",
    "memory: the most private memory, sampled every 4 ms; a file that is mapped does not count.",
    "kept: the client's files that are new or have changed. written: what the process gave the system to write, in pages, "
      + "temporary files included; beside it that for each byte of the chunks that were new, as the client stores them.",
  ]

  var markdown: String {
    var text = "# \(Self.title)\n\nMade by `packstore-compare updates`. MB are 10^6 bytes.\n\n"
    text += facts.map { "- \($0)\n" }.joined() + "\n"
    text += Self.howToRead.map { "- \($0)\n" }.joined()
    text += "\n## Goals\n\nPackStore's figure divided by the other's; the best of them where there are several.\n\n"
    text += goalTable.markdown
    text += "\n## Rates\n\n\(Self.aboutRates)\n\n" + rateTable.markdown
    for pair in pairs {
      text += "\n## \(pair.name)\n\n\(pair.explanation.isEmpty ? "" : pair.explanation + " ")\(pair.summary).\n\n"
      text += pair.table.markdown
      if !pair.installs.isEmpty {
        text += "\nThe old version, for a client that has nothing:\n\n" + pair.installTable.markdown
      }
      if !pair.absences.isEmpty {
        text += "\n" + pair.absences.map { "- Left out: \($0.name): \($0.reason)\n" }.joined()
      }
    }
    if !absences.isEmpty { text += "\n## Left out\n\n" + absences.map { "- \($0.name): \($0.reason)\n" }.joined() }
    return text
  }

  var goalTable: Table {
    var table = Table(["", "what", "beside", "figure", "goal", "met"])
    table.rows = pairs.flatMap { pair in
      pair.goals.map { goal in
        [
          pair.name, goal.title, goal.reference, goal.valueText,
          "\(goal.isAtLeast ? "≥" : "≤") \(significant(goal.limit))",
          goal.isMet ? "yes" : "no",
        ]
      }
    }
    return table
  }

  static let aboutRates =
    "What PackStore takes in and makes, in MB of the whole version per second: the old version as the first of a store, the "
    + "new one beside it, and the same new version by deltas. In parentheses: beside adding the new version."

  var rateTable: Table {
    let ways = ["fast", "default", "best"]
    var table = Table(["", "add, first", "add, next"] + ways.map { "apply, \($0)" })
    table.rows = pairs.compactMap(\.rateCells)
    return table
  }
}

extension UpdateReport.Pair {
  /// Nil where PackStore did not take part.
  fileprivate var rateCells: [String]? {
    func row(_ key: String) -> UpdateRow? { (installs + rows).first { $0.key == "packstore-\(key)" } }
    func rate(_ usage: ProgramUsage?, _ byteCount: Int) -> Double? {
      usage.map { Double(byteCount) / 1e6 / $0.seconds }
    }
    guard let first = rate(row("install-12")?.ingest, from.byteCount),
      let next = rate(row("ranges-12")?.ingest, to.byteCount)
    else { return nil }
    let applied = ["fast", "default", "best"].map { way in
      rate(row("delta-\(way)")?.apply, to.byteCount).map { "\(decimals($0, 0)) (\(decimals($0 / next, 2)))" } ?? ""
    }
    return [name, decimals(first, 0), decimals(next, 0)] + applied
  }

  var table: Table { Self.table(rows, newByteCount: to.byteCount) }
  var installTable: Table { Self.table(installs, newByteCount: from.byteCount) }

  private static func table(_ rows: [UpdateRow], newByteCount: Int) -> Table {
    var table = Table([
      "", "fetch MB", "metadata KB", "requests", "site MB", "add s", "make s", "CPU s", "make memory MB", "apply s",
      "MB/s", "apply memory MB", "kept MB", "written MB", "written for new",
    ])
    table.rows = rows.map { $0.cells(newByteCount: newByteCount) }
    return table
  }
}

extension UpdateRow {
  /// The row of the table. A cell without a measurement is empty.
  fileprivate func cells(newByteCount: Int) -> [String] {
    func seconds(_ value: Double?) -> String { value.map { decimals($0, 2) } ?? "" }
    func megabytes(_ count: Int?) -> String { count.map(fineMegabytes) ?? "" }
    return [
      name, megabytes(byteCount), metadataByteCount.map { significant(Double($0) / 1e3) } ?? "",
      requestCount.map(grouped) ?? "", megabytes(publishedByteCount), seconds(ingest?.seconds),
      seconds(build?.seconds), seconds(build?.cpuSeconds), megabytes(build?.privateByteCount), seconds(apply?.seconds),
      apply.map { decimals(Double(newByteCount) / 1e6 / $0.seconds, 0) } ?? "", megabytes(apply?.privateByteCount),
      megabytes(keptByteCount), megabytes(apply?.writtenByteCount),
      writtenRatio.map(significant) ?? "",
    ]
  }
}
