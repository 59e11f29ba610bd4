import ArgumentParser
import PackDelivery
import PackStore

struct Conflicts: AsyncParsableCommand, CommandWithSubject {
  static let configuration = CommandConfiguration(
    commandName: "conflicts",
    abstract: "List assets that another pack hides.",
    discussion: """
      If several packs have the same path, the pack of the earliest origin wins (see 'packstore trust'), then the \
      pack with the highest priority, then the pack installed first. If some packs were not added here, each is \
      listed with its origin. 'packstore cat --pack' reads hidden assets. --json prints one object per line.

        packstore conflicts Packs
        packstore conflicts https://example.com/packs
      """
  )

  @OptionGroup var store: LookArgument
  @OptionGroup(title: "Sites and archives") var look: PreviewOptions
  @OptionGroup var report: ReportOptions

  var subject: Failure.Facts { .init(store: store.store) }

  func run() async throws { try await store.place(look).read(.first, report) { try show($0) } }

  private func show(_ store: Store) throws {
    let conflicts = try store.conflicts()
    let origins = PackOrigins(try store.packs())
    let output = Output()
    for conflict in conflicts {
      try Task.checkCancellation()
      if report.json {
        try output.json(ConflictReport(conflict, origins))
      } else {
        try output.line(text(conflict, origins))
      }
    }
    try output.flush()
  }

  /// Returns `Videos/a.m4v: Tutorial hides Level1`, or with origins
  /// `Videos/a.m4v: Tutorial (local) hides Level1 (4f1d0c6a8b25e973)`.
  private func text(_ conflict: Snapshot.Conflict, _ origins: PackOrigins) -> String {
    func name(_ pack: PackID?) -> String { (pack?.name ?? "-") + (origins[pack].map { " (\($0))" } ?? "") }
    let hidden = conflict.hidden
    let other = conflict.winnerPath == hidden.path ? "" : " with \(escaped(conflict.winnerPath))"
    return "\(escaped(hidden.path)): \(name(conflict.winner)) hides \(name(hidden.pack))\(other)"
  }
}

private struct ConflictReport: Encodable {
  let path, kind: String
  let bytes: Int
  let pack: String?
  let winner, winnerPath: String
  /// The origins of `pack` and `winner`; `nil` if all packs are local.
  let origin, winnerOrigin: String?

  init(_ conflict: Snapshot.Conflict, _ origins: PackOrigins) {
    path = conflict.hidden.path
    kind = conflict.hidden.kind.rawValue
    bytes = conflict.hidden.byteCount
    pack = conflict.hidden.pack?.name
    winner = conflict.winner.name
    winnerPath = conflict.winnerPath
    origin = origins[conflict.hidden.pack]
    winnerOrigin = origins[conflict.winner]
  }
}
