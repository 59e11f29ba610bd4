import ArgumentParser
import PackAuthoring
import PackFormats
import PackPublishing
import PackStore

struct Pin: AsyncParsableCommand, CommandWithSubject {
  static let configuration = CommandConfiguration(
    commandName: "pin",
    abstract: "Keep a version of a pack until it is unpinned.",
    discussion: """
      A store keeps each pack's current and previous version, or as many as '--keep' of 'packstore add' sets, and all \
      pinned versions. A pin of a site is part of its policy, which 'packstore policy' shows: it needs the key that \
      signs live.

        packstore pin Packs Tutorial@3
        packstore pin public/packs Tutorial@3 --key site.key
      """
  )

  @OptionGroup var store: StoreOrSiteArgument

  @Argument(
    help: .init(
      "The version, such as Tutorial@3 or Tutorial@previous; without '@', the current one.", valueName: "pack[@version]"
    ),
    transform: parseVersionName)
  var version: VersionName

  @OptionGroup var wait: WaitOption
  @OptionGroup(title: "Pins of a site") var site: SitePinOptions
  @OptionGroup var report: ReportOptions

  var subject: Failure.Facts { .init(store: store.store, pack: version.pack) }

  func run() async throws {
    guard !namesSite(self.store.store) else {
      let version = version
      return try await site.change(self.store.store, waits: !wait.noWait, of: version.pack, report) { pins, snapshot in
        pins + [RetentionPolicy.Pin(version.pack, try version.find(in: snapshot, of: "the site").number)]
      }
    }
    try site.requireNone()
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
    commandName: "unpin",
    abstract: "End a pack's pins and its hold after a rollback.",
    discussion: """
      Reverses 'packstore rollback' and 'packstore pin': the pack is no longer held, and none of its versions is \
      pinned. The next version deletes those beyond the number to keep. On a site, ends the pins of the pack, or of \
      one version.

        packstore unpin Packs Tutorial
        packstore unpin public/packs Tutorial@3 --key site.key
      """
  )

  @OptionGroup var store: StoreOrSiteArgument

  @Argument(
    help: .init("The pack; for a site, also one version of it.", valueName: "pack"), transform: parseVersionName)
  var version: VersionName

  @OptionGroup var wait: WaitOption
  @OptionGroup(title: "Pins of a site") var site: SitePinOptions
  @OptionGroup var report: ReportOptions

  private var pack: PackID { version.pack }

  var subject: Failure.Facts { .init(store: store.store, pack: pack) }

  func run() async throws {
    guard !namesSite(self.store.store) else {
      let version = version
      return try await site.change(self.store.store, waits: !wait.noWait, of: pack, report) { pins, snapshot in
        guard snapshot.pack(version.pack) != nil || pins.contains(where: { $0.pack == version.pack }) else {
          throw PackStoreError.noPack(version.pack, among: snapshot.packs.map(\.id), of: "the site")
        }
        // The site may have lost a pinned version.
        let number: UInt64? =
          switch version.which {
          case nil: nil
          case .number(let number)?: number
          default: try version.find(in: snapshot, of: "the site").number
          }
        return pins.filter { $0.pack != version.pack || (number != nil && $0.version != number) }
      }
    }
    try site.requireNone()
    guard version.which == nil else { throw ValidationError("a store unpins whole packs: name \(pack)") }
    let store = try self.store.open(.existing)
    try await store.write(options: .init(waitsForWriters: !wait.noWait)) { [pack] transaction in
      try transaction.unpin(pack)
    }
    try reportPins(of: pack, in: store, report, done: "\(pack) is neither held nor pinned")
  }
}

/// The options for pins of a site.
struct SitePinOptions: ParsableArguments {
  @OptionGroup var key: SiteKeyOption
  @OptionGroup var storage: StorageOptions

  /// - Throws: `ValidationError` for options that stores do not have.
  func requireNone() throws {
    guard key.key == nil, key.change.text == nil else {
      throw ValidationError("--key and --note are for sites: this is a store")
    }
  }

  /// Changes the pins in the site's policy, and reports the pack's.
  func change(
    _ name: String, waits: Bool, of pack: PackID, _ report: ReportOptions,
    _ body: @escaping @Sendable ([RetentionPolicy.Pin], Snapshot) throws -> [RetentionPolicy.Pin]
  ) async throws {
    let options = Site.PublishOptions(waitsForOthers: waits)
    let result = try await storage.host(of: name, waits: waits).edit(with: key, report, isDryRun: false) {
      site, key, _ in
      let snapshot = try site.store.makeSnapshot()
      return try await site.changeRetentionPolicy(signedBy: key, options: options) { policy in
        let before = policy ?? .standard, pins = try body(before.pins, snapshot)
        guard Set(pins) != Set(before.pins) else { return policy }
        return try before.with(pins: pins)
      }
    }
    let pinned = (result.policy?.pins ?? []).filter { $0.pack == pack }.map(\.version)
    let output = Output()
    if report.json {
      try output.json(PinReport(pack: pack.name, held: false, pinned: pinned))
    } else if report.isTalkative {
      let list = pinned.map { "\(pack)@\($0)" }.joined(separator: ", ")
      try output.line(pinned.isEmpty ? "no version of \(pack) is pinned" : "pinned: \(list)")
    }
    try output.flush()
  }
}

extension RetentionPolicy {
  fileprivate func with(pins: [Pin]) throws -> Self {
    try Self(
      offeredVersionCount: offeredVersionCount, buildCount: buildCount, graceSeconds: graceSeconds,
      purgeableGraceSeconds: purgeableGraceSeconds, pins: pins)
  }
}

/// Reports the pack's pins and hold after a change.
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
