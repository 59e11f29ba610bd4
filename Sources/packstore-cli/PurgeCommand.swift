import ArgumentParser
import PackStore

struct Purge: AsyncParsableCommand, CommandWithSubject {
  static let configuration = CommandConfiguration(
    abstract: "Free space in the cache folder.",
    discussion: """
      Deletes whole files of the store's cache folder until so much is free, the least valuable first: copies that are decoded, \
      then data of purgeable packs, those of the lowest priority first, then those that were used longest ago; of a pack, \
      older versions first. What is durable, versions that are pinned, and what a reader has open all stay. It takes \
      milliseconds, and commits nothing.

      'packstore pull' leaves packs alone that lost data this way, unless they are named or '--refetch' is said. The folder of a \
      site has nothing that may go: 'packstore unpublish' takes packs from it.

        packstore purge Packs 500M
      """
  )

  @OptionGroup var store: StoreArgument

  @Argument(
    help: .init("How much to free; also as 500k, 2M or 10G.", valueName: "bytes"), transform: parseByteCount)
  var bytes: Int

  @OptionGroup var report: ReportOptions

  var subject: Failure.Facts { .init(store: store.store) }

  func run() async throws {
    var options = Store.Options.existing
    do {
      let snapshot = try store.open(.readOnly).makeSnapshot()
      guard !snapshot.isSite else { throw siteRefusal("purge") }
      // Decoded copies that an app keeps there go first.
      options.cache = snapshot.cacheFolder.map { Store.Cache(folder: $0.path, byteBudget: 0) }
    }
    let result = try await store.open(options).purge(bytes: bytes)

    let output = Output()
    if report.json {
      try output.json(PurgeReport(result))
    } else if report.isTalkative {
      try output.lines([summary(result)])
    }
    try output.flush()
  }

  private func summary(_ result: Store.PurgeResult) -> String {
    let freed = "freed \(formatBytes(result.freedByteCount)) in \(formatCount(result.fileCount, "file"))"
    let deferred =
      result.deferredByteCount > 0
      ? "; readers have \(formatBytes(result.deferredByteCount)) open: purge again later" : ""
    let impossible =
      result.impossibleByteCount > 0 ? "; \(formatBytes(result.impossibleByteCount)) of it cannot be freed" : ""
    return freed + deferred + impossible
  }
}

private struct PurgeReport: Encodable {
  let freedBytes, deferredBytes, impossibleBytes, files: Int

  init(_ result: Store.PurgeResult) {
    freedBytes = result.freedByteCount
    deferredBytes = result.deferredByteCount
    impossibleBytes = result.impossibleByteCount
    files = result.fileCount
  }
}
