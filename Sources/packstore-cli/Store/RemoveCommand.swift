import ArgumentParser
import PackStore

struct Remove: AsyncParsableCommand, CommandWithSubject, CommandWithLog {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Remove packs from a store.",
    discussion: """
      Removes all named packs in one commit, or none of them if one does not exist. Open readers are not affected. \
      The history of the packs is deleted; with '--keep-history' it stays, and 'packstore rollback' restores a pack. \
      The command reports the size of the files that nothing else needs; 'packstore stat' shows it beforehand. \
      'packstore gc' frees the removed data in files that other packs still need.

      To remove packs from a site, use 'packstore unpublish'.

        packstore remove Packs Tutorial Level1
        packstore remove Packs Tutorial --keep-history
      """
  )

  @OptionGroup var store: StoreArgument

  @Argument(help: .init("The packs to remove.", valueName: "pack"), transform: parsePackID)
  var packs: [PackID]

  @Flag(help: "Keep the versions for 'packstore rollback'.")
  var keepHistory = false

  @Flag(help: .keepsGeneration)
  var keepGeneration = false

  @OptionGroup var wait: WaitOption
  @OptionGroup var log: BuildLogOptions
  @OptionGroup var report: ReportOptions

  var subject: Failure.Facts { .init(store: store.store, pack: packs.count == 1 ? packs[0] : nil) }

  func run() async throws {
    let store = try self.store.open(.existing)
    var options = Transaction.Options(waitsForWriters: !wait.noWait)
    options.keepsGeneration = keepGeneration
    let removed = try await store.write(options: options) {
      [packs, keepHistory] transaction in
      let present = transaction.packs
      var removed: [PackID] = []
      for pack in packs where !removed.contains(pack) {
        try transaction.remove(pack, keepsHistory: keepHistory)
        removed.append(pack)
      }
      return removed.map { pack in (pack, present.first { $0.id == pack }?.version) }
    }

    let heldByteCount = report.quiet && !report.json ? 0 : store.heldByteCount
    let output = Output()
    if report.json {
      let versions = removed.map { RemoveReport.Version(pack: $0.name, version: $1?.number) }
      try output.json(RemoveReport(removed: versions, freedBytes: store.freedByteCount, heldBytes: heldByteCount))
    } else if report.isTalkative {
      try output.lines(
        removed.map { pack, version in "removed \(version.map { "\($0)" } ?? "the history of \(pack)")" }
          + freed(store.freedByteCount, heldByteCount))
    }
    try output.flush()
  }

  /// Returns the line about freed space; empty if the history is kept and no space was freed or retained.
  private func freed(_ freedByteCount: Int, _ heldByteCount: Int) -> [String] {
    if keepHistory && freedByteCount == 0 && heldByteCount == 0 { return [] }
    let kept = keepGeneration ? "; the generation before keeps its files until the next commit" : ""
    return ["freed \(formatBytes(freedByteCount))" + kept + heldNote(heldByteCount)]
  }
}

private struct RemoveReport: Encodable {
  struct Version: Encodable {
    let pack: String
    /// `nil` if the pack was already removed, and only its history was deleted.
    let version: UInt64?
  }

  let removed: [Version]
  let freedBytes, heldBytes: Int
}
