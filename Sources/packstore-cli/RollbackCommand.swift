import ArgumentParser
import PackStore

struct Rollback: AsyncParsableCommand, CommandWithSubject {
  static let configuration = CommandConfiguration(
    abstract: "Make a kept version of a pack the current one again.",
    discussion: """
      One commit that moves no data: what the version holds is still there ('packstore log' lists the versions). \
      Processes that are reading go on reading. The pack is held at the version, so that no update undoes this, until \
      'packstore unpin'. Going forward again works alike.

        packstore rollback Packs Tutorial
        packstore rollback Packs Tutorial@5
      """
  )

  @OptionGroup var store: StoreArgument

  @Argument(
    help: .init(
      "The version, such as Tutorial@3; without '@' the one that was current before.", valueName: "pack[@version]"),
    transform: parseVersionName)
  var version: VersionName

  @OptionGroup var wait: WaitOption
  @OptionGroup var report: ReportOptions

  var subject: Failure.Facts { .init(store: store.store, pack: version.pack) }

  func run() async throws {
    let store = try Store(at: FilePath(store.store), options: .existing)
    let pack = version.pack
    let number = try targetNumber(in: store.makeSnapshot())
    let (before, now) = try await store.write(options: .init(waitsForWriters: !wait.noWait)) { transaction in
      let before = transaction.packs.first { $0.id == pack }?.version.number
      return (before, try transaction.rollBack(pack, toVersion: number))
    }

    let output = Output()
    if report.json {
      try output.json(RollbackReport(pack: pack.name, from: before, to: now.number))
    } else if report.isTalkative {
      let whence = before.map { $0 == now.number ? "" : ", from \($0)" } ?? ", after it was removed"
      try output.lines(["\(now) is current\(whence); held there until 'packstore unpin \(self.store.store) \(pack)'"])
    }
    try output.flush()
  }

  /// Nil for the version before, which the library knows best: of a pack that was removed it is the last one.
  private func targetNumber(in snapshot: Snapshot) throws -> UInt64? {
    switch version.which {
    case nil, .previous: nil
    default: try version.find(in: snapshot).number
    }
  }
}

private struct RollbackReport: Encodable {
  let pack: String
  /// None when the pack had been removed.
  let from: UInt64?
  let to: UInt64
}
