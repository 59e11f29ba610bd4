import ArgumentParser
import PackAuthoring
import PackPublishing
import PackStore

struct CollectGarbage: AsyncParsableCommand, CommandWithSubject, CommandWithLog {
  static let configuration = CommandConfiguration(
    commandName: "gc",
    abstract: "Free disk space that no version needs.",
    discussion: """
      Every commit deletes the files that nothing needs any more and copies some data out of partly used files \
      ('--gc' of 'packstore add'). This command frees the rest: it copies the needed data out of every file that \
      contains unused data, and deletes the file. Contents and versions do not change. Files that open readers use \
      are deleted by a later commit.

      For a site, drops the versions that its policy does not keep ('packstore policy'), and deletes the files whose \
      grace period is over. --dry-run explains each version and file, and needs no key.

        packstore gc Packs --dry-run
        packstore gc public/packs --dry-run
        packstore gc public/packs --key site.key
        packstore gc Packs
        packstore gc Packs --budget 200MB --seconds 5
      """
  )

  @OptionGroup var store: StoreOrSiteArgument

  @Option(
    help: .init("Maximum amount to copy, such as 200MB (default: unlimited).", valueName: "bytes"),
    transform: parseByteCount)
  var budget: Int?

  @Option(help: .init("Time after which no further work begins (default: unlimited).", valueName: "seconds"))
  var seconds: Double?

  @Flag(help: "Report the approximate amounts to copy and free without changing the store.")
  var dryRun = false

  @OptionGroup var wait: WaitOption
  @OptionGroup var log: BuildLogOptions
  @OptionGroup var report: ReportOptions

  @OptionGroup(title: "Collection of a site") var site: SiteCollectionOptions

  func validate() throws {
    guard (budget ?? 1) > 0 else { throw ValidationError("invalid --budget: use at least 1 byte") }
    guard (0.001...1e9).contains(seconds ?? 1) else {
      throw ValidationError("--seconds must be from 0.001 to 1000000000")
    }
  }

  var subject: Failure.Facts { .init(store: store.store) }

  func run() async throws {
    guard !namesSite(self.store.store) else {
      guard budget == nil, seconds == nil else { throw ValidationError("--budget and --seconds are for stores") }
      return try await site.collect(self.store.store, waits: !wait.noWait, isDryRun: dryRun, report)
    }
    try site.requireNone()
    let store = try self.store.open(.existing)
    let bar = ProgressBar(report.progressForm)
    defer { bar.finish() }
    let options = Store.CollectOptions(
      copyByteLimit: budget, timeLimit: seconds.map { .seconds($0) }, isDryRun: dryRun, waitsForWriters: !wait.noWait)
    let result = try await store.collect(options: options) { bar.update(Progress(activity: "collecting", $0)) }

    bar.finish()
    let output = Output()
    if report.json {
      try output.json(DryRunReport(result, isDryRun: dryRun))
    } else if report.isTalkative {
      try output.line(summary(result) + (dryRun ? "" : heldNote(store.heldByteCount)))
    }
    try output.flush()
  }

  private func summary(_ result: Store.CollectResult) -> String {
    let copied = formatBytes(result.copiedByteCount), freed = formatBytes(result.freedByteCount)
    if dryRun {
      return result.emptiedSegmentCount == 0
        ? "nothing to free by copying" : "would free about \(freed) by copying about \(copied)"
    }
    guard result.freedByteCount > 0 || result.copiedByteCount > 0 else { return "nothing to free" }
    return result.copiedByteCount == 0 ? "freed \(freed)" : "freed \(freed), copied \(copied)"
  }
}
