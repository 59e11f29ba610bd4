import ArgumentParser
import PackStore

struct Pin: AsyncParsableCommand, CommandWithSubject {
  static let configuration = CommandConfiguration(
    abstract: "Keep a version of a pack until it is unpinned.",
    discussion: """
      A store keeps each pack's current and previous version, or as many as '--keep' of 'packstore add' sets, and all \
      pinned versions.

        packstore pin Packs Tutorial@3
      """
  )

  @OptionGroup var store: StoreArgument

  @Argument(
    help: .init(
      "The version, such as Tutorial@3 or Tutorial@previous; without '@', the current one.", valueName: "pack[@version]"
    ),
    transform: parseVersionName)
  var version: VersionName

  @OptionGroup var wait: WaitOption
  @OptionGroup var report: ReportOptions

  var subject: Failure.Facts { .init(store: store.store, pack: version.pack) }

  func run() async throws {
    let store = try self.store.open(.existing)
    let version = try version.find(in: store.makeSnapshot())
    try await store.write(options: .init(waitsForWriters: !wait.noWait)) { transaction in
      try transaction.pin(version.pack, version: version.number)
    }
    try reportPins(of: version.pack, in: store, report, done: "\(version) is pinned")
  }
}

struct Unpin: AsyncParsableCommand, CommandWithSubject {
  static let configuration = CommandConfiguration(
    abstract: "End a pack's pins and its hold after a rollback.",
    discussion: """
      Reverses 'packstore rollback' and 'packstore pin': the pack is no longer held, and none of its versions is \
      pinned. The next version deletes those beyond the number to keep.

        packstore unpin Packs Tutorial
      """
  )

  @OptionGroup var store: StoreArgument

  @Argument(help: "The pack.", transform: parsePackID)
  var pack: PackID

  @OptionGroup var wait: WaitOption
  @OptionGroup var report: ReportOptions

  var subject: Failure.Facts { .init(store: store.store, pack: pack) }

  func run() async throws {
    let store = try self.store.open(.existing)
    try await store.write(options: .init(waitsForWriters: !wait.noWait)) { [pack] transaction in
      try transaction.unpin(pack)
    }
    try reportPins(of: pack, in: store, report, done: "\(pack) is neither held nor pinned")
  }
}

/// Reports the pack's pinned versions, and whether the pack is held, after a change.
private func reportPins(of id: PackID, in store: Store, _ report: ReportOptions, done: String) throws {
  let output = Output()
  if report.json {
    let snapshot = try store.makeSnapshot()
    let pinned = snapshot.versions(of: id).filter(\.isPinned).map(\.number)
    try output.json(PinReport(pack: id.name, held: snapshot.pack(id)?.isHeld ?? false, pinned: pinned))
  } else if report.isTalkative {
    try output.lines([done])
  }
  try output.flush()
}

private struct PinReport: Encodable {
  let pack: String
  let held: Bool
  let pinned: [UInt64]
}
