import ArgumentParser
import PackAuthoring
import PackPublishing
import PackStore

struct Deltas: AsyncParsableCommand, CommandWithSubject, CommandWithLog {
  static let configuration = CommandConfiguration(
    commandName: "deltas",
    abstract: "Create missing deltas of a site.",
    discussion: """
      'packstore publish' creates deltas to the versions it publishes. This command creates deltas to promoted \
      versions and deltas that a publication omitted; deltas that most clients can use come first. After an \
      interruption, finished deltas are kept; in object storage, those of earlier commands.

        packstore deltas public/packs
        packstore deltas public/packs --channel beta --deltas 3 --delta-level best
      """
  )

  @Argument(help: .publishedSite, completion: .directory)
  var site: String

  @Option(
    help: .init("Channel whose offers get deltas (default: all channels).", valueName: "name"), transform: parseChannel
  )
  var channel: SiteChannel?

  @Option(help: .init("Number of previous versions to create deltas from, for each offered version.", valueName: "n"))
  var deltas = 1

  @OptionGroup var deltaLevel: DeltaLevelOption

  @OptionGroup var key: SiteKeyOption

  @Flag(help: "List missing deltas without creating them.")
  var dryRun = false

  @Flag(help: .failsIfPublishing)
  var noWait = false

  @OptionGroup var storage: StorageOptions
  @OptionGroup var log: BuildLogOptions
  @OptionGroup var report: ReportOptions

  var subject: Failure.Facts { .init(site: site) }

  func validate() throws {
    guard (1...999).contains(deltas) else { throw ValidationError("--deltas must be from 1 to 999, not \(deltas)") }
  }

  func run() async throws {
    let host = try storage.host(of: site, waits: !noWait)
    let options = Site.PublishOptions(
      deltaCount: deltas, deltaOptions: deltaLevel.options, waitsForOthers: !noWait)
    let channel = channel
    guard !dryRun else {
      return try plan(
        try await host.edit(with: key, report, isDryRun: true) { site, key, _ in
          try await site.planDeltas(for: channel, signedBy: key, options: options)
        })
    }
    let (made, missing) = try await host.edit(
      with: key, report, isDryRun: false,
      reading: { site, key in
        try await site.planDeltas(for: channel, signedBy: key, options: options).flatMap { [$0.from, $0.to] }
      }
    ) { site, key, bar in
      try await site.makeDeltas(for: channel, signedBy: key, options: options) { bar.update(Progress($0)) }
    }
    if !report.quiet {
      for delta in missing {
        warn(.missingDelta, "missing delta to \(delta.version) from \(delta.from): \(delta.reason)")
      }
    }
    let output = Output()
    if report.json {
      try output.json([
        "deltas": made.map {
          DeltaMade(pack: $0.pack.name, from: $0.fromVersion, to: $0.toVersion, bytes: $0.byteCount)
        }
      ])
    } else if report.isTalkative {
      try output.lines(
        made.isEmpty ? ["no delta is missing"] : made.map { "a delta leads from \($0): \(formatBytes($0.byteCount))" })
    }
    try output.flush()
  }

  private func plan(_ missing: [(from: PackVersion, to: PackVersion)]) throws {
    let output = Output()
    if report.json {
      try output.json([
        "deltas": missing.map { DeltaMade(pack: $0.to.pack.name, from: $0.from.number, to: $0.to.number, bytes: nil) }
      ])
    } else if report.isTalkative {
      try output.lines(
        missing.isEmpty
          ? ["no delta is missing"] : missing.map { "a delta would lead from \($0.from) to \($0.to.number)" })
    }
    try output.flush()
  }
}

private struct DeltaMade: Encodable {
  let pack: String
  let from, to: UInt64
  /// For a created delta.
  let bytes: Int?
}
