import ArgumentParser
import PackStore

struct Remove: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Remove packs and their history.",
    discussion: """
      All of them in one commit, or none when one of them is not there. Processes that are reading go on reading.

        packstore remove Packs Tutorial Level1
      """
  )

  @OptionGroup var store: StoreArgument

  @Argument(help: .init("The packs to remove.", valueName: "pack"), transform: parsePackID)
  var packs: [PackID]

  @OptionGroup var wait: WaitOption
  @OptionGroup var report: ReportOptions

  func run() async throws {
    let store = try Store(at: store.store, options: .existing)
    let removed = try await store.write(options: .init(waitsForWriters: !wait.noWait)) { [packs] transaction in
      let present = transaction.packs
      var removed: [PackVersion] = []
      for pack in packs where !removed.contains(where: { $0.pack == pack }) {
        try transaction.remove(pack)
        removed += present.filter { $0.id == pack }.map(\.version)
      }
      return removed
    }

    let output = Output()
    if report.json {
      try output.json(RemoveReport(removed: removed.map { .init(pack: $0.pack.name, version: $0.number) }))
    } else if report.isTalkative {
      try output.lines(removed.map { "removed \($0)" })
    }
    try output.flush()
  }
}

private struct RemoveReport: Encodable {
  struct Version: Encodable {
    let pack: String
    let version: UInt64
  }

  let removed: [Version]
}
