import ArgumentParser
import PackAuthoring
import PackFormats
import PackPublishing
import PackStore

struct Policy: AsyncParsableCommand, CommandWithSubject, CommandWithLog {
  static let configuration = CommandConfiguration(
    commandName: "policy",
    abstract: "Show or set which versions and files a site keeps.",
    discussion: """
      A site keeps the versions that any channel offers, the last ones that were offered, the latest builds, and \
      pinned versions ('packstore pin'). Files that left the roots stay for a grace period. The policy is part of the \
      root of live: only a key that may sign live changes it, and publishers of all channels obey it. 'packstore gc' \
      applies it without a publication.

        packstore policy public/packs
        packstore policy public/packs --keep 5 --grace 14d
        packstore policy public/packs --reset
      """
  )

  @Argument(help: .publishedSite, completion: .directory)
  var site: String

  @Option(
    help: .init("Number of offered versions of each pack to keep, including the current one.", valueName: "n"))
  var keep: Int?

  @Option(
    help: .init(
      "Number of the latest builds of each pack to keep that no channel offered yet, without the current version.",
      valueName: "n"))
  var builds: Int?

  @Option(
    help: .init("Time for which files that left the roots stay: 7d, 12h, 30m, 90s or 0.", valueName: "duration"),
    transform: parseDuration)
  var grace: Duration?

  @Option(
    help: .init(
      "Time for which a version of a purgeable pack stays after its last offer.", valueName: "duration"),
    transform: parseDuration)
  var purgeableGrace: Duration?

  @Flag(help: "Remove the policy and its pins: the defaults apply.")
  var reset = false

  @Flag(help: "Report the new policy without changing it.")
  var dryRun = false

  @Flag(help: .failsIfPublishing)
  var noWait = false

  @OptionGroup var key: SiteKeyOption
  @OptionGroup var storage: StorageOptions
  @OptionGroup var log: BuildLogOptions
  @OptionGroup var report: ReportOptions

  var subject: Failure.Facts { .init(site: site) }

  private var isChange: Bool { reset || keep != nil || builds != nil || grace != nil || purgeableGrace != nil }

  func validate() throws {
    guard !reset || (keep == nil && builds == nil && grace == nil && purgeableGrace == nil) else {
      throw ValidationError("--reset excludes other values")
    }
    guard isChange || !dryRun else { throw ValidationError("--dry-run needs a new value") }
    guard RetentionPolicy.offeredVersionCounts ~= keep ?? 1 else {
      throw ValidationError("--keep must be from 1 to 1000")
    }
    guard RetentionPolicy.buildCounts ~= builds ?? 0 else { throw ValidationError("--builds must be from 0 to 1000") }
  }

  func run() async throws {
    let host = try storage.host(of: site, waits: !noWait)
    let output = Output(), result: PolicyReport
    if isChange {
      let options = Site.PublishOptions(waitsForOthers: !noWait), isDryRun = dryRun
      let next: @Sendable (RetentionPolicy?) throws -> RetentionPolicy? = { [self] in try changed($0) }
      let outcome = try await host.edit(with: key, report, isDryRun: dryRun) { site, key, _ in
        try await site.changeRetentionPolicy(signedBy: key, options: options, isDryRun: isDryRun, next)
      }
      result = PolicyReport(outcome.policy, outcome)
    } else {
      let policy = try await host.readOnce { try $0.retentionPolicy() }
      result = PolicyReport(policy, nil)
    }
    if report.json { try output.json(result) } else if report.isTalkative { try output.lines(result.lines) }
    try output.flush()
  }

  private func changed(_ policy: RetentionPolicy?) throws -> RetentionPolicy? {
    guard !reset else { return nil }
    let policy = policy ?? .standard
    return try RetentionPolicy(
      offeredVersionCount: keep ?? policy.offeredVersionCount, buildCount: builds ?? policy.buildCount,
      graceSeconds: grace.map(seconds) ?? policy.graceSeconds,
      purgeableGraceSeconds: purgeableGrace.map(seconds) ?? policy.purgeableGraceSeconds, pins: policy.pins)
  }

  private func seconds(_ duration: Duration) -> UInt64 { UInt64(clamping: duration.components.seconds) }
}

extension SiteHost {
  /// Reads the site, and closes the connections to it.
  func readOnce<Result: Sendable>(_ body: @Sendable (Site) async throws -> Result) async throws -> Result {
    do {
      let result = try await readVersions(body)
      await close()
      return result
    } catch {
      await close()
      throw error
    }
  }
}
