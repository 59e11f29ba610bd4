import ArgumentParser
import Foundation
import PackDelivery
import PackStore

struct Place: AsyncParsableCommand, CommandWithSubject, CommandWithLog {
  static let configuration = CommandConfiguration(
    commandName: "place",
    abstract: "Set whether a pack is stored durably or may be purged.",
    discussion: """
      A 'durable' pack's data is in the store's folder and stays. A 'purgeable' pack's data is in a cache folder; the \
      user, the system or 'packstore purge' may delete it at any time, and 'packstore pull' downloads it again. Data \
      that other packs also need stays in the store's folder. A pack's attributes set its placement; this command \
      overrides them, also after updates.

      A store has one cache folder for all its packs: '--cache', or 'packstore' in XDG_CACHE_HOME, which is ~/.cache \
      if the variable is not set or is relative. '--cache' can change the folder later; data in the old folder then \
      counts as purged, unless you move the folder first. Data beyond '--cache-budget' is purged.

      A pack with missing data becomes durable only after that data is fetched: '--from' names a site, or another \
      store that contains it.

        packstore place Packs Videos purgeable
        packstore place Packs Videos purgeable \\
            --cache /var/cache/game --cache-budget 2G
        packstore place Packs Videos durable --from https://example.com/packs
      """
  )

  @OptionGroup var store: StoreArgument

  @Argument(help: "The pack.", transform: parsePackID)
  var pack: PackID

  @Argument(help: .init("The placement: durable or purgeable.", valueName: "placement"), transform: parsePlacement)
  var placement: Placement

  @Option(help: .init("The store's cache folder.", valueName: "folder"), completion: .directory)
  var cache: String?

  @Option(
    help: .init(
      "Maximum size of the store's data in the cache folder, such as 500M or 2G (default: unlimited).",
      valueName: "bytes"),
    transform: parseByteCount)
  var cacheBudget: Int?

  @Option(
    help: .missingDataSource,
    completion: .directory)
  var from: String?

  @OptionGroup(title: "Authorization") var authorization: AuthorizationOptions
  @OptionGroup var wait: WaitOption
  @OptionGroup var log: BuildLogOptions
  @OptionGroup var report: ReportOptions

  func validate() throws {
    guard placement == .purgeable || (cache == nil && cacheBudget == nil) else {
      throw ValidationError("--cache and --cache-budget apply only to 'purgeable'")
    }
    guard placement == .durable || from == nil else {
      throw ValidationError("--from applies only to 'durable'")
    }
    guard (cacheBudget ?? 1) > 0 else { throw ValidationError("invalid --cache-budget: use at least 1 byte") }
    guard cache != "" else { throw ValidationError("--cache needs a folder") }
  }

  var subject: Failure.Facts { .init(store: store.store, pack: pack) }

  func run() async throws {
    let store = try self.store.open(.existing)
    let (isSite, present) = try state(of: store)
    guard !isSite else { throw siteRefusal("place") }
    let bar = ProgressBar(report.progressForm)
    defer { bar.finish() }
    if let from {
      let authorizations = try authorization.authorizations(for: [from])
      try await PurgedDataRecovery(store: store, waits: !wait.noWait, bar: bar, authorizations: authorizations).heal(
        pack, from: from)
    }
    let result = try await place(in: store, chosenFolder(present))
    bar.finish()

    let (folder, lacking) = try (state(of: store).cacheFolder, missingByteCount(of: result.version, in: store))
    let output = Output()
    if report.json {
      try output.json(PlaceReport(result, placement, folder))
    } else if report.isTalkative {
      try output.lines([summary(result, folder, lacking)])
    }
    try output.flush()
  }

  /// Reads the store's state. Releases its snapshot before the commit, which could otherwise not free the snapshot's data.
  private func state(of store: Store) throws -> (isSite: Bool, cacheFolder: Store.CacheFolder?) {
    try store.read { snapshot in (snapshot.isSite, snapshot.cacheFolder) }
  }

  private func missingByteCount(of version: PackVersion, in store: Store) throws -> Int {
    try store.read { snapshot in try snapshot.availability(of: version).missingByteCount }
  }

  /// Returns the cache folder to set; `nil` if the pack does not need one, or if the store's folder remains.
  private func chosenFolder(_ present: Store.CacheFolder?) throws -> Store.CacheFolder? {
    guard placement == .purgeable else { return nil }
    guard cache != nil || cacheBudget != nil || present == nil else { return nil }
    let path = try cache.map(absolutePath) ?? present?.path ?? Store.Cache.standardFolder(named: "packstore")
    let chosen = Store.CacheFolder(path: path, byteBudget: cacheBudget ?? (cache == nil ? present?.byteBudget : nil))
    if let present, present.path != chosen.path, !report.quiet {
      warn(
        .lackingData,
        "data in '\(escaped(present.path.string))' is treated as purged from now on; 'packstore pull' downloads it again"
      )
    }
    return chosen == present ? nil : chosen
  }

  private func place(in store: Store, _ folder: Store.CacheFolder?) async throws -> Store.InstallResult {
    do {
      return try await store.change(options: .init(waitsForWriters: !wait.noWait)) { [pack, placement] transaction in
        if let folder { try transaction.setCacheFolder(folder.path, byteBudget: folder.byteBudget) }
        return try transaction.setPlacement(placement, of: pack)
      }
    } catch var error as PackStoreError where error.code == .purged {
      error.specificRemedy =
        "nothing was changed; to fetch the data first, add '--from' with a site or store that has it"
      throw error
    }
  }

  private func summary(_ result: Store.InstallResult, _ folder: Store.CacheFolder?, _ lacking: Int) -> String {
    let gone = lacking > 0 ? "; \(formatBytes(lacking)) of its data are missing" : ""
    let moved = result.newStoredByteCount > 0 ? ", \(formatBytes(result.newStoredByteCount)) moved" : ""
    let place = placement == .purgeable ? folder.map { ": its data is in '\(escaped($0.path.string))'" } ?? "" : ""
    return "\(pack) is \(placement.rawValue)\(place)\(moved)\(gone)"
  }
}

@Sendable private func parsePlacement(_ name: String) throws -> Placement {
  guard let placement = Placement(rawValue: name) else {
    throw ValidationError("'\(escaped(name))' is not a placement; use durable or purgeable")
  }
  return placement
}

/// Converts a path of the command line into an absolute path.
private func absolutePath(_ path: String) -> FilePath {
  FilePath(URL(fileURLWithPath: path).path).lexicallyNormalized()
}

/// Returns the error for a site's store: it has no cache folder, because all its files are served.
func siteRefusal(_ command: String) -> PackStoreError {
  PackStoreError(.isSite, "a site's store, to which 'packstore \(command)' does not apply", about: .store(nil))
}

private struct PlaceReport: Encodable {
  let pack: String
  let version: UInt64
  let placement: String
  /// `nil` if the store has no cache folder.
  let cacheFolder: String?
  /// `nil` if the size is unlimited.
  let cacheBudget: Int?
  let unchanged: Bool
  let storedBytes: Int

  init(_ result: Store.InstallResult, _ placement: Placement, _ folder: Store.CacheFolder?) {
    pack = result.version.pack.name
    version = result.version.number
    self.placement = placement.rawValue
    cacheFolder = folder?.path.string
    cacheBudget = folder?.byteBudget
    unchanged = result.isUnchanged
    storedBytes = result.newStoredByteCount
  }
}
