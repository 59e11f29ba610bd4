import ArgumentParser
import PackStore

struct Rollback: AsyncParsableCommand, CommandWithSubject, CommandWithLog {
  static let configuration = CommandConfiguration(
    commandName: "rollback",
    abstract: "Make an earlier version of a pack current again.",
    discussion: """
      One commit that moves no data; 'packstore log' lists the kept versions. Open readers are not affected. The pack \
      is then held at this version, so that updates do not replace it, until 'packstore unpin'. The same command \
      returns to a newer version.

      A version of a purgeable pack may lack data. '--from' first fetches the data from another store that has the \
      version, or from a site if the followed channel offers the version; '--allow-purged' rolls back without it.

        packstore rollback Packs Tutorial
        packstore rollback Packs Tutorial@5
        packstore rollback Packs Videos --from https://example.com/packs
      """
  )

  @OptionGroup var store: StoreArgument

  @Argument(
    help: .init(
      "The version, such as Tutorial@3; without '@', the version before the current one.", valueName: "pack[@version]"),
    transform: parseVersionName)
  var version: VersionName

  @Option(
    help: .missingDataSource,
    completion: .directory)
  var from: String?

  @Flag(help: "Roll back even if data is missing; 'packstore pull' downloads it.")
  var allowPurged = false

  @OptionGroup(title: "Authorization") var authorization: AuthorizationOptions
  @OptionGroup var wait: WaitOption
  @OptionGroup var log: BuildLogOptions
  @OptionGroup var report: ReportOptions

  var subject: Failure.Facts { .init(store: store.store, pack: version.pack) }

  func run() async throws {
    let store = try self.store.open(.existing)
    let pack = version.pack
    // The snapshot is released before the commit, which could otherwise not free the snapshot's data.
    let (before, target, previous) = try store.read { snapshot in
      (snapshot.pack(pack)?.version.number, try targetNumber(in: snapshot), versionBefore(in: snapshot))
    }
    var number = target
    let bar = ProgressBar(report.progressForm)
    defer { bar.finish() }
    if let from, let wanted = number ?? previous {
      let authorizations = try authorization.authorizations(for: [from])
      try await PurgedDataRecovery(store: store, waits: !wait.noWait, bar: bar, authorizations: authorizations)
        .rollBack(
          pack, to: wanted, from: from)
      number = wanted
    }
    let now = try await rollBack(store, to: number)
    bar.finish()

    let output = Output()
    if report.json {
      try output.json(RollbackReport(pack: pack.name, from: before, to: now.number))
    } else if report.isTalkative {
      let whence = before.map { $0 == now.number ? "" : ", from \($0)" } ?? ", after it was removed"
      let release = "packstore unpin \(escaped(self.store.store)) \(pack)"
      try output.lines(["\(now) is current\(whence); held there until '\(release)'"])
    }
    try output.flush()
  }

  private func rollBack(_ store: Store, to number: UInt64?) async throws -> PackVersion {
    do {
      return try await store.write(options: .init(waitsForWriters: !wait.noWait)) {
        [version, allowPurged] transaction in
        try transaction.rollBack(version.pack, toVersion: number, allowsPurged: allowPurged)
      }
    } catch var error as PackStoreError where error.code == .purged {
      error.specificRemedy =
        "nothing was changed; '--from' fetches the data first, from a site or a store; '--allow-purged' rolls back without it"
      throw error
    }
  }

  /// Returns the number of the version before the current version; for a removed pack, the number of its last version.
  private func versionBefore(in snapshot: Snapshot) -> UInt64? {
    let versions = snapshot.versions(of: version.pack)
    return (snapshot.pack(version.pack) == nil ? versions.first : versions.dropFirst().first)?.number
  }

  /// Returns the number of the requested version; `nil` for the previous version, which the library determines. For a removed pack,
  /// this is the last version.
  private func targetNumber(in snapshot: Snapshot) throws -> UInt64? {
    switch version.which {
    case nil, .previous: nil
    default: try version.find(in: snapshot).number
    }
  }
}

private struct RollbackReport: Encodable {
  let pack: String
  /// `nil` if the pack was removed before.
  let from: UInt64?
  let to: UInt64
}
