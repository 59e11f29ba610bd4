public import ArgumentParser
public import PackStore

extension Store.InstallOptions.Layout: ExpressibleByArgument {}
extension Store.InstallOptions.Links: ExpressibleByArgument {}
extension Store.Durability: ExpressibleByArgument {
  public init?(argument: String) {
    switch argument {
    case "durable": self = .durable
    case "atomic": self = .atomic
    default: return nil
    }
  }

  public static var allValueStrings: [String] { ["durable", "atomic"] }
  public var defaultValueDescription: String { self == .durable ? "durable" : "atomic" }
}

/// The help text about the purposes of the layouts.
let layoutHelp = """
  Expected reads: random; sequential, which is stored smaller; or compact for rare reads, which stores many small \
  assets smallest
  """

struct Add: AsyncParsableCommand, CommandWithSubject, CommandWithLog {
  static let configuration = CommandConfiguration(
    commandName: "add",
    abstract: "Add a folder as the next version of a pack.",
    discussion: """
      Creates the store if it does not exist. Data that the store already contains is not stored again; an unchanged \
      folder creates no version.

        packstore add Packs Assets/Tutorial --pack Tutorial --level 12
        packstore add Packs Assets/Tutorial --pack Tutorial --dry-run
      """
  )

  @OptionGroup var store: StoreArgument

  @Argument(help: "The folder to add.", completion: .directory)
  var folder: String

  @Option(help: .init("The pack's name.", valueName: "id"), transform: parsePackID)
  var pack: PackID

  @Option(
    parsing: .unconditional,
    help: .init("\(levelHelp) (default: 3; sequential: 4, compact: 6).", valueName: "n"))
  var level: Int32?

  @Option(help: "\(layoutHelp).")
  var layout: Store.InstallOptions.Layout = .random

  @OptionGroup(title: "Files of the folder") var source: SourceOptions

  @Option(
    name: .customLong("map"),
    help: .init(
      "Pattern of files to store contiguously without compression, for memory mapping; repeatable.",
      discussion: """
        '*.bin' matches names at any depth, 'Levels/*/mesh.bin' matches whole paths; '**' crosses folders, '?' and \
        '[a-z]' match one character. The patterns are required with every add. An update writes the whole file if any \
        part of it changed.
        """, valueName: "glob"))
  var mappedPaths: [String] = []

  @Option(
    parsing: .unconditional,  // accepts negative numbers
    help: .init(
      "Priority of the pack: if packs have the same path, the highest wins (default: unchanged, or 0).", valueName: "n")
  )
  var priority: Int32?

  @Flag(help: "Adopt a pack of another publisher: its history is deleted, and versions restart at 1.")
  var adopt = false

  @Option(help: "Treatment of symbolic links: store the links, follow them to their targets, or refuse them.")
  var links: Store.InstallOptions.Links = .store

  @Flag(help: "With '--links follow': also follow absolute links and links out of the folder.")
  var unsafeLinks = false

  @Option(
    help: .init(
      "Version number, higher than every earlier one of the pack (default: the highest plus 1).",
      valueName: "n"))
  var version: UInt64?

  @Option(
    help: .init(
      "Publisher's name for the version, such as 1.4.2; PACK@1.4.2 selects it.", valueName: "name"),
    transform: parseLabel)
  var label: VersionLabel?

  @Option(
    help: .init(
      "Note on the version, such as 'git 3fa9c', for 'packstore log'; private to this store.",
      valueName: "text"), transform: parseNote)
  var note: VersionNote?

  @Flag(help: "With '--note': make the note part of the version, readable by everyone who receives it.")
  var publishNotes = false

  @Flag(help: "With '--version': accept a number below the pack's highest.")
  var downgrade = false

  @Option(help: .keptVersionCount)
  var keep = 2

  @Option(
    help: .init(
      "Durability of the commit: 'durable' survives a power loss; 'atomic' survives a crash and is faster.",
      valueName: "kind"))
  var durability: Store.Durability = .durable

  @Flag(help: "Refuse paths that differ only in case or Unicode normalization, as some disks merge them.")
  var portable = false

  @Flag(help: "Report the new data and its size without creating a version; the store may be read-only.")
  var dryRun = false

  @OptionGroup var rows: RowOptions
  @OptionGroup var collection: CollectionOptions
  @OptionGroup var wait: WaitOption

  @Option(help: .threadCount)
  var threads: Int?

  @OptionGroup var log: BuildLogOptions
  @OptionGroup var report: ReportOptions

  func validate() throws {
    try validate(level: level)
    guard 1...PackVersion.lastNumber ~= version ?? 1 else {
      throw ValidationError("--version must be from 1 to \(PackVersion.lastNumber)")
    }
    guard note != nil || !publishNotes else { throw ValidationError("--publish-notes needs '--note'") }
    guard version != nil || !downgrade else { throw ValidationError("--downgrade needs '--version'") }
    guard links == .follow || !unsafeLinks else { throw ValidationError("--unsafe-links needs '--links follow'") }
    guard (1...1000).contains(keep) else { throw ValidationError("--keep must be from 1 to 1000, not \(keep)") }
    guard (1...1024).contains(threads ?? 1) else { throw ValidationError("--threads must be from 1 to 1024") }
    guard !folder.isEmpty else { throw ValidationError("the name of the folder to add is empty") }
  }

  var subject: Failure.Facts { .init(store: store.store, pack: pack) }

  func run() async throws {
    try requireFolder(folder)  // before a store is created: the name may be mistyped
    var storeOptions = wait.storeOptions
    storeOptions.threadCount = threads
    let bar = ProgressBar(report.progressForm)
    defer { bar.finish() }

    let clock = ContinuousClock()
    let start = clock.now
    let (result, before) = try await dryRun ? planInstall(storeOptions, bar) : install(storeOptions, bar)
    let duration = clock.now - start
    let adoptedOrigin = before == .local ? nil : before

    bar.finish()
    if !report.quiet {
      for notice in result.notices { warn(.init(notice.kind), escapedText(notice.description)) }
      source.warnOfStandard(result)
    }
    let output = Output()
    if report.json {
      let skipped = source.printSkipped ? result.ignored.map(SkippedReport.init) : nil
      try output.json(AddReport(result, adoptedFrom: adoptedOrigin, duration, isDryRun: dryRun, skipped))
    } else {
      try output.lines(source.lines(result))
    }
    if report.isTalkative {
      try output.lines(summary(result, adoptedFrom: adoptedOrigin, duration))
    }
    try output.flush()
  }

  /// The result of the installation, and the pack's previous origin.
  private typealias Installed = (result: Store.InstallResult, before: Store.Origin?)

  private func install(_ storeOptions: Store.Options, _ bar: ProgressBar) async throws -> Installed {
    try await withStore(store, options: storeOptions) { store in
      do {
        return try await install(in: store, bar)
      } catch let error as PackStoreError {
        bar.finish()
        throw explain(error, store)
      }
    }
  }

  private func planInstall(_ storeOptions: Store.Options, _ bar: ProgressBar) async throws -> Installed {
    let place = try DryRunStore(store, options: storeOptions)
    defer { place.end() }
    do {
      let snapshot = try place.store.makeSnapshot()
      let before = (snapshot.packs + snapshot.removedPacks).first { $0.id == pack }?.origin
      let result = try await place.store.planInstall(
        folder: FilePath(folder), as: pack, options: installOptions(), transaction: transactionOptions
      ) { bar.update(Progress(activity: "comparing", $0)) }
      try source.check(result, of: folder, after: snapshot.pack(pack)?.version)
      return (result, before)
    } catch let error as PackStoreError {
      bar.finish()
      throw explain(error, place.store)
    }
  }

  private func install(in store: Store, _ bar: ProgressBar) async throws -> Installed {
    let installOptions = try installOptions()
    return try await store.change(options: transactionOptions) { [folder, pack, source] transaction in
      let before = (transaction.packs + transaction.removedPacks).first { $0.id == pack }?.origin
      let current = transaction.packs.first { $0.id == pack }?.version
      let result = try transaction.install(folder: FilePath(folder), as: pack, options: installOptions) {
        bar.update(Progress(activity: "storing", $0))
      }
      try source.check(result, of: folder, after: current)
      return (result, before)
    }
  }

  private var transactionOptions: Transaction.Options {
    collection.apply(to: .init(durability: durability, waitsForWriters: !wait.noWait, keptVersionCount: keep))
  }

  private func installOptions() throws -> Store.InstallOptions {
    .init(
      version: version, allowsDowngrade: downgrade, priority: priority, label: label, note: note,
      publishesNote: publishNotes, adopts: adopt, level: level,
      layout: layout,
      links: links, followsUnsafeLinks: unsafeLinks, isPortable: portable, mappedPaths: mappedPaths,
      ignoring: try source.rules(), rowLimit: rows.maxRows)
  }

  /// Returns the error with the option that helps.
  private func explain(_ error: PackStoreError, _ store: Store) -> any Error {
    if error.code == .exists, let version, error.specificRemedy == nil || error.detail == .lowNumber {
      return explainNumber(version, in: store) ?? error
    }
    if error.code == .conflict {
      return Failure(
        .conflict, "pack '\(pack)': changed by another process since the command began",
        remedy: "run the command again", pack: pack)
    }
    return explainRefusal(error, of: folder, portable: portable, quiet: report.quiet)
  }

  /// Returns the error for a version number that cannot be used, with a number that can. `nil` if the store cannot be read, or does
  /// not contain the pack.
  private func explainNumber(_ version: UInt64, in store: Store) -> Failure? {
    guard let snapshot = try? store.makeSnapshot(),
      let known = (snapshot.packs + snapshot.removedPacks).first(where: { $0.id == pack })
    else { return nil }
    let highest = known.highestVersion
    let next = highest < PackVersion.lastNumber ? "leave --version out for \(highest + 1)" : "add it as another pack"
    guard snapshot.versions(of: pack).contains(where: { $0.number == version }) else {
      return Failure(
        .exists, "version '\(pack)@\(version)': not above the highest version so far, \(highest)",
        remedy: "\(next), or add --downgrade", pack: pack)
    }
    return Failure(
      .exists, "version '\(pack)@\(version)': exists with other content (highest: \(highest))", remedy: next,
      pack: pack)
  }

  private func summary(
    _ result: Store.InstallResult, adoptedFrom origin: Store.Origin?, _ duration: Duration
  ) -> [String] {
    let version = result.version
    let adoption =
      origin.map {
        dryRun
          ? ["\(version.pack) would be taken over from \($0.id): its history would go"]
          : ["\(version.pack) is taken over from \($0.id): its history is gone"]
      } ?? []
    let mapped = result.mappedCount == 0 ? [] : ["  mapped  \(mappedSummary(result))"]
    guard !result.isUnchanged else {
      let what = origin == nil ? "\(version.pack) is" : "its content is"
      let lost = "  \(dryRun ? "missing " : "restored")  data of \(formatCount(result.restoredCount, "asset"))"
      return adoption + ["\(what) unchanged at version \(version.number)"] + (result.restoredCount > 0 ? [lost] : [])
        + (result.relaidCount > 0 ? mapped : [])
    }
    let saved = max(version.byteCount - result.newStoredByteCount, 0)
    let chunks = "\(formatCount(result.newChunkCount)) of \(formatCount(result.chunkCount, "chunk"))"
    return adoption + [
      "\(version.pack) \(dryRun ? "would be" : "is") at version \(version.number)",
      "  assets  \(assetCounts(files: version.fileCount, links: version.linkCount, folders: version.folderCount))",
      "  size    \(formatBytes(version.byteCount))",
      "  new     \(formatBytes(result.newByteCount)) in \(chunks)",
      "  stored  \(formatBytes(result.newStoredByteCount)): \(formatPercent(saved, of: version.byteCount)) saved",
    ] + compactHint(result) + mapped + [
      "  time    \(formatDuration(duration)), \(formatRate(version.byteCount, in: duration))"
    ]
  }

  /// Names the layout for size if it would save more than a tenth.
  private func compactHint(_ result: Store.InstallResult) -> [String] {
    guard result.compactSavedByteCount > result.newStoredByteCount / 10 else { return [] }
    let saved = formatPercent(
      min(result.compactSavedByteCount, result.newStoredByteCount), of: result.newStoredByteCount)
    return ["  hint    --layout compact would store about \(saved) less; single small files are then read more slowly"]
  }

  /// Returns a text such as `3 files, 1 of them unchanged and stored afresh; 12.3 MB written`.
  private func mappedSummary(_ result: Store.InstallResult) -> String {
    var text = formatCount(result.mappedCount, "file")
    if result.relaidCount > 0 { text += ", \(formatCount(result.relaidCount)) of them unchanged and stored afresh" }
    return text + "; \(formatBytes(result.mappedNewByteCount)) written"
  }
}

private struct AddReport: Encodable {
  let pack: String
  let version: UInt64
  let unchanged, dryRun: Bool
  let catalog: String
  let files, links, folders, bytes: Int
  let chunks, newChunks, newBytes, newStoredBytes: Int
  let mapped, relaid, restored, mappedNewBytes, compactSavedBytes: Int
  let seconds: Double
  let notices: [NoticeReport]
  let skippedCount: Int
  /// `nil` without `--print-skipped`.
  let skipped: [SkippedReport]?
  /// The pack's previous origin if the pack was adopted.
  let adoptedFrom: String?

  init(
    _ result: Store.InstallResult, adoptedFrom origin: Store.Origin?, _ duration: Duration, isDryRun: Bool,
    _ skipped: [SkippedReport]?
  ) {
    adoptedFrom = origin?.id
    skippedCount = result.ignoredCount
    self.skipped = skipped
    dryRun = isDryRun
    pack = result.version.pack.name
    version = result.version.number
    unchanged = result.isUnchanged
    catalog = result.version.catalog.description
    files = result.version.fileCount
    links = result.version.linkCount
    folders = result.version.folderCount
    bytes = result.version.byteCount
    chunks = result.chunkCount
    newChunks = result.newChunkCount
    newBytes = result.newByteCount
    newStoredBytes = result.newStoredByteCount
    mapped = result.mappedCount
    relaid = result.relaidCount
    restored = result.restoredCount
    mappedNewBytes = result.mappedNewByteCount
    compactSavedBytes = result.compactSavedByteCount
    seconds = duration / .seconds(1)
    notices = result.notices.map(NoticeReport.init)
  }
}
