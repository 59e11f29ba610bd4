import ArgumentParser
import ManagedPacks
import PackStore

struct Purge: AsyncParsableCommand, CommandWithSubject {
  static let configuration = CommandConfiguration(
    commandName: "purge",
    abstract: "Delete data from the cache folder to free space.",
    discussion: """
      Deletes whole files of the store's cache folder until the requested space is free, in this order: decoded \
      copies; then data of purgeable packs, lowest priority first, then least recently used first, and within a pack \
      older versions first. In the folder of a group of apps, files delivered to apps (BADownloadManager) are deleted \
      last. Durable data, pinned versions and data of open readers stay. The command takes milliseconds and commits \
      nothing.

      'packstore pull' skips packs that lost data to this command, unless you name them or use '--refetch'. A site's \
      folder has no purgeable data; 'packstore unpublish' removes packs from it.

        packstore purge Packs 500M
      """
  )

  @OptionGroup var store: StoreArgument

  @Argument(
    help: .init("The amount to free, such as 500k, 2M or 10G.", valueName: "bytes"), transform: parseByteCount)
  var bytes: Int

  @OptionGroup var report: ReportOptions

  var subject: Failure.Facts { .init(store: store.store) }

  func run() async throws {
    var options = Store.Options.existing
    do {
      let snapshot = try store.open(.readOnly).makeSnapshot()
      guard !snapshot.isSite else { throw siteRefusal("purge") }
      // The purge deletes decoded copies in an app's cache first.
      options.cache = snapshot.cacheFolder.map { Store.Cache(folder: $0.path, byteBudget: 0) }
    }
    let result = try await store.open(options).purge(bytes: bytes)
    let purged = PurgeReport(result, try purgeDownloads(after: result))

    let output = Output()
    if report.json {
      try output.json(purged)
    } else if report.isTalkative {
      try output.lines([summary(purged)])
    }
    try output.flush()
  }

  /// If the store belongs to a group of apps and the purge freed too little, deletes files delivered to the apps. They come last,
  /// because getting them again takes longer.
  private func purgeDownloads(after result: Store.PurgeResult) throws -> PurgeableDownloads.Result {
    guard let downloads = PurgeableDownloads(ofStore: FilePath(store.store)) else { return .init() }
    return try downloads.purge(byteCount: max(bytes - result.freedByteCount, 0))
  }

  private func summary(_ result: PurgeReport) -> String {
    let freed = "freed \(formatBytes(result.freedBytes)) in \(formatCount(result.files, "file"))"
    let deferred =
      result.deferredBytes > 0
      ? "; readers have \(formatBytes(result.deferredBytes)) open: purge again later" : ""
    let impossible =
      result.impossibleBytes > 0 ? "; \(formatBytes(result.impossibleBytes)) cannot be freed" : ""
    return freed + deferred + impossible
  }
}

private struct PurgeReport: Encodable {
  let freedBytes, deferredBytes, impossibleBytes, files: Int

  init(_ result: Store.PurgeResult, _ downloads: PurgeableDownloads.Result) {
    freedBytes = result.freedByteCount + downloads.freedByteCount
    deferredBytes = result.deferredByteCount
    impossibleBytes = max(result.impossibleByteCount - downloads.freedByteCount, 0)
    files = result.fileCount + downloads.fileCount
  }
}
