import ArgumentParser
import PackStore

struct Conflicts: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "List assets that another pack hides.",
    discussion: """
      Where several packs have the same path, the pack of the earliest origin wins (see 'packstore trust'), then that of \
      highest priority, then the one installed first. \
      'cat --pack' reads what is hidden. --json prints one object per line.

        packstore conflicts Packs
      """
  )

  @OptionGroup var store: StoreArgument
  @OptionGroup var report: ReportOptions

  func run() throws {
    let conflicts = try store.openForReading().conflicts()
    let output = Output()
    for conflict in conflicts {
      try Task.checkCancellation()
      if report.json {
        try output.json(ConflictReport(conflict))
      } else {
        try output.line(text(conflict))
      }
    }
    try output.flush()
  }

  /// `Videos/a.m4v: Tutorial hides Level1`.
  private func text(_ conflict: Snapshot.Conflict) -> String {
    let hidden = conflict.hidden
    let other = conflict.winnerPath == hidden.path ? "" : " with \(escaped(conflict.winnerPath))"
    return "\(escaped(hidden.path)): \(conflict.winner) hides \(hidden.pack?.name ?? "-")\(other)"
  }
}

private struct ConflictReport: Encodable {
  let path, kind: String
  let bytes: Int
  let pack: String?
  let winner, winnerPath: String

  init(_ conflict: Snapshot.Conflict) {
    path = conflict.hidden.path
    kind = conflict.hidden.kind.rawValue
    bytes = conflict.hidden.byteCount
    pack = conflict.hidden.pack?.name
    winner = conflict.winner.name
    winnerPath = conflict.winnerPath
  }
}
