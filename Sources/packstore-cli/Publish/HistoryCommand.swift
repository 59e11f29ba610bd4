import ArgumentParser
import PackAuthoring
import PackDelivery
import PackFormats
import PackPublishing
import PackStore

struct History: AsyncParsableCommand, CommandWithSubject, CommandWithLog {
  static let configuration = CommandConfiguration(
    commandName: "history",
    abstract: "Show, check or export the changes of a channel.",
    discussion: """
      Each change of a channel's root has a record, which names the record before it. The root signs the newest one, so \
      that no earlier change can be altered or left out. Lists the newest changes, checks their records, and needs no key. \
      If a record is missing or damaged, the exit status is 7.

      The user, the job, the commit and the note of a change are private: commands that sign a root read them from the \
      variables of the build service and from '--note', and store them in the folder 'notes' of the site or below the \
      ledger's prefix of a bucket. Web servers must not serve that folder. The record proves that \
      such a text was not changed later, not that it is true. '--erase' deletes the texts of changes, and the records stay valid.

        packstore history public/packs
        packstore history s3://assets/packs --channel beta --all --json
        packstore history https://example.com/packs --limit 5
        packstore history public/packs --all --export history.txt
        packstore history public/packs --erase 1-40
      """
  )

  @Argument(help: "The site: a folder, an http: or https: URL, or s3://bucket/prefix.", completion: .directory)
  var site: String

  @Option(help: .targetChannel, transform: parseChannel)
  var channel: SiteChannel = .live

  @Option(help: .init("Number of changes to read, the newest ones (default: 20).", valueName: "n"))
  var limit: Int?

  @Flag(help: "Read all changes.")
  var all = false

  @Flag(name: .customLong("public"), help: "Omit the private texts.")
  var isPublic = false

  @Option(
    help: .init(
      "File for the root, the records and the private texts, so that others can check them.", valueName: "file"),
    completion: .file())
  var export: String?

  @Flag(help: .replacesFile)
  var force = false

  @Option(
    help: .init(
      "Changes whose private texts are deleted: a number, a range such as 1-40, or all.", valueName: "numbers"),
    transform: parseNumbers)
  var erase: ClosedRange<UInt64>?

  @Flag(help: "With --erase: list the changes without deleting anything.")
  var dryRun = false

  @Option(
    help: .init("With --erase on a bucket: file with the secret key that signed the site.", valueName: "file"),
    completion: .file())
  var key: String?

  @Flag(help: .failsIfPublishing)
  var noWait = false

  @OptionGroup(title: "Signature of a bucket's image") var signing: SigningOptions
  @OptionGroup var clock: ClockOption
  @OptionGroup(title: "Authorization") var authorization: AuthorizationOptions
  @OptionGroup var storage: StorageOptions
  @OptionGroup var log: BuildLogOptions
  @OptionGroup var report: ReportOptions

  var subject: Failure.Facts { .init(site: withoutSecrets(site)) }

  func validate() throws {
    guard limit == nil || !all else { throw ValidationError("--limit and --all exclude each other") }
    guard limit ?? 1 >= 1 else { throw ValidationError("--limit must be at least 1") }
    guard !force || export != nil else { throw ValidationError("--force needs --export") }
    guard erase != nil || (!dryRun && key == nil && !noWait) else {
      throw ValidationError("--dry-run, --key and --no-wait need --erase")
    }
    guard erase != nil || (signing.signCommand == nil && signing.signRequest == nil) else {
      throw ValidationError("--sign-command and --sign-request need --erase")
    }
    guard erase == nil || (limit == nil && !all && !isPublic && export == nil) else {
      throw ValidationError("--erase excludes --limit, --all, --public and --export")
    }
  }

  func run() async throws {
    if let erase { return try await run(erasing: erase) }
    let file = try export.map { try outputFile($0, force: force) }
    let history = try await closing(
      try storage.place(of: site, channels: [channel], authorization)
    ) { try await SiteHistoryReader($0).run(of: channel, limit: all ? nil : limit ?? Self.standardLimit) }
    if let file { try write(history.exported(hasNotes: !isPublic), to: FilePath(file)) }
    let output = Output()
    if report.json {
      try output.json(HistoryReport(history, hasNotes: !isPublic))
    } else if report.isTalkative {
      try output.lines(HistoryText(history: history, hasNotes: !isPublic).lines)
    }
    try output.flush()
    if let fault = history.fault { throw failure(fault) }
  }

  private static let standardLimit = 20

  private func run(erasing numbers: ClosedRange<UInt64>) async throws {
    let place = try storage.place(of: site, channels: [channel], authorization, waits: !noWait)
    let result = try await closing(place) { place in
      try await SiteHistoryErasure(try erasurePlace(place), waitsForOthers: !noWait).run(
        of: channel, numbers: numbers, isDryRun: dryRun)
    }
    let output = Output()
    if report.json {
      try output.json(ErasureReport(channel: channel.name, dryRun: dryRun, erased: result.numbers))
    } else if report.isTalkative {
      let verb = dryRun ? "would be erased" : "erased"
      let list = result.numbers.map { "\($0)" }.joined(separator: ", ")
      try output.line(result.numbers.isEmpty ? "no private texts to erase" : "\(verb): the private texts of \(list)")
    }
    try output.flush()
  }

  private func erasurePlace(_ place: SiteStatusReader.Place) throws -> SiteHistoryErasure.Place {
    switch place {
    case .folder(let path): return .folder(path)
    case .bucket(let bucket):
      let key = try KeyFile(key).open(quiet: report.quiet, signed: "the site", clock: clock)
      return .bucket(bucket, signedBy: try signing.complete(key, isDryRun: dryRun))
    case .served:
      throw Failure(
        .invalidArgument, "'\(escaped(withoutSecrets(site)))': a web server does not store private texts",
        remedy: "name the folder or bucket of the site", path: withoutSecrets(site))
    }
  }

  private func closing<Result>(
    _ place: SiteStatusReader.Place, _ body: (SiteStatusReader.Place) async throws -> Result
  ) async throws -> Result {
    do {
      let result = try await body(place)
      await place.close()
      return result
    } catch {
      await place.close()
      throw error
    }
  }

  private func write(_ bytes: [UInt8], to file: FilePath) throws {
    let folder = file.removingLastComponent(), name = file.lastComponent?.string ?? file.string
    try replaceFile(name, in: folder.isEmpty ? "." : folder, by: bytes, draft: name + ".new")
  }

  private func failure(_ fault: SiteHistory.Fault) -> Failure {
    Failure(
      .siteCorrupt,
      "'\(escaped(withoutSecrets(site)))': the record of change \(fault.number) is \(fault.isMissing ? "missing" : "damaged")",
      remedy: "restore '\(fault.path)' from a backup or a mirror; earlier changes are unknown until then",
      path: withoutSecrets(site))
  }
}

/// Parses `all`, a number, or a range such as 1-40.
@Sendable private func parseNumbers(_ text: String) throws -> ClosedRange<UInt64> {
  guard text != "all" else { return 1...UInt64.max }
  let parts = text.split(separator: "-", omittingEmptySubsequences: false).map { UInt64($0) }
  guard (1...2).contains(parts.count), let first = parts.first ?? nil, let last = parts.last ?? nil, first >= 1,
    first <= last
  else { throw ValidationError("'\(escaped(text))' is not a number, a range such as 1-40, or all") }
  return first...last
}

private struct HistoryText {
  let history: SiteHistory
  let hasNotes: Bool

  var lines: [String] {
    guard history.changeCount > 0 else { return ["the root of \(history.channel) has no history yet"] }
    let titles: [(title: String, alignment: Alignment)] =
      [("CHANGE", .right), ("TIME", .left), ("ROOT", .right), ("KEY", .left)]
      + (hasNotes ? [("USER", .left), ("COMMIT", .left), ("NOTE", .left), ("JOB", .left)] : [])
    var table = Table(titles)
    for change in history.changes { table.add(cells(change)) }
    return table.lines + [summary]
  }

  private func cells(_ change: SiteHistory.Change) -> [String] {
    let cells = [
      "\(change.number)", formatDate(change.madeAt), "\(change.sequence)",
      String(change.releaseKey.description.prefix(12)),
    ]
    guard hasNotes else { return cells }
    switch change.note {
    case .none: return cells + ["", "", "", ""]
    case .missing: return cells + ["(missing)", "", "", ""]
    case .known(let note):
      let commit = note.commit.map { String($0.prefix(12)) }
      return cells + [note.user, commit, note.note, note.jobURL].map { escaped($0 ?? "") }
    }
  }

  private var summary: String {
    let count = "\(history.channel): \(formatCount(Int(clamping: history.changeCount), "change"))"
    guard !history.isComplete else { return "\(count), all checked against the root" }
    return "\(count), the newest \(history.changes.count) checked against the root"
  }
}

private struct HistoryReport: Encodable {
  struct Change: Encodable {
    let number: UInt64
    let madeAt: String
    let sequence: UInt64
    let key, record: String
    let before: String?
    let after, privatePart: String
    let user, job, commit, note: String?
  }

  struct Fault: Encodable {
    let path: String
    let number: UInt64
    let missing: Bool
  }

  let channel: String
  let changeCount: UInt64
  let complete: Bool
  let fault: Fault?
  let changes: [Change]

  init(_ history: SiteHistory, hasNotes: Bool) {
    channel = history.channel.name
    changeCount = history.changeCount
    complete = history.isComplete
    fault = history.fault.map { Fault(path: $0.path, number: $0.number, missing: $0.isMissing) }
    changes = history.changes.map { Change($0, hasNotes: hasNotes) }
  }
}

extension HistoryReport.Change {
  fileprivate init(_ change: SiteHistory.Change, hasNotes: Bool) {
    number = change.number
    madeAt = formatDate(change.madeAt)
    sequence = change.sequence
    key = change.releaseKey.description
    record = change.record
    before = change.before
    after = change.after
    let known: ChangeNote? = if hasNotes, case .known(let note) = change.note { note } else { nil }
    privatePart =
      switch change.note {
      case .none: "none"
      case .known: "known"
      case .missing: "missing"
      }
    (user, job, commit, note) = (known?.user, known?.jobURL, known?.commit, known?.note)
  }
}

private struct ErasureReport: Encodable {
  let channel: String
  let dryRun: Bool
  let erased: [UInt64]
}
