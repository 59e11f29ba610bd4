import ArgumentParser
import PackAuthoring
import PackDelivery
import PackPublishing
import PackFormats
import PackStore
import Synchronization

/// Options for the access to a site in object storage, `s3://bucket/prefix`.
struct StorageOptions: ParsableArguments {
  @Option(
    help: .init(
      "For object storage: URL of the server (default: AWS_ENDPOINT_URL, or Amazon's).", valueName: "url"))
  var endpoint: String?

  @Option(
    help: .init(
      "For object storage: the region (default: AWS_REGION, the profile's, or us-east-1).", valueName: "name"))
  var region: String?

  @Flag(help: "For object storage: put the bucket's name into the host of URLs (default: only for Amazon).")
  var virtualHost = false

  @Option(
    help: .init(
      "For object storage: location of the publishers' private data (default: PREFIX.publisher, next to the site).",
      valueName: "s3-url"))
  var ledger: String?

  @Option(
    help: .init(
      "For object storage: folder with a copy of the site, so that later commands download only changes.",
      valueName: "folder"), completion: .directory)
  var work: String?

  /// Returns the host of the site that the user named: a folder or object storage.
  ///
  /// - Parameters:
  ///   - waits: whether to wait for other publishers.
  ///   - isConverting: whether to convert a site of the previous draft of the format.
  func host(of site: String, waits: Bool = true, isConverting: Bool = false) throws -> any SiteHost {
    guard S3Location.names(site) else {
      guard endpoint == nil, region == nil, !virtualHost, ledger == nil, work == nil else {
        throw Failure(
          .invalidArgument, "'\(escaped(site))': a folder, but the options of object storage are set",
          remedy:
            "leave out --endpoint, --region, --virtual-host, --ledger and --work, or name a site as s3://bucket/prefix",
          path: site)
      }
      return try folderHost(site)
    }
    #if Delivery
      var options = try options(waits: waits)
      options.isConverting = isConverting
      return try BucketSite(try S3Location(site), options: options)
    #else
      throw DeliveryError(.noHTTP, "this program was built without HTTP", at: site)
    #endif
  }

  func options(waits: Bool = true) throws -> BucketSite.Options {
    var options = BucketSite.Options()
    options.endpoint = endpoint
    options.region = region
    options.usesVirtualHost = virtualHost ? true : nil
    options.ledger = try ledger.map { try S3Location($0) }
    options.workFolder = work.map { FilePath($0) }
    options.waitsForOthers = waits
    return options
  }
}

/// Returns the site in a folder.
///
/// - Throws: `invalidArgument` for a URL: a path would lose one of its slashes, and no such folder exists.
func folderHost(_ site: String) throws -> FolderHost {
  guard !site.contains("://") else {
    let shown = escaped(withoutSecrets(site))
    throw Failure(
      .invalidArgument, "'\(shown)': a URL, which only shows a site to clients",
      remedy:
        "name the site's folder or s3://bucket/prefix; 'packstore status \(shown)' shows the state of a served site",
      path: withoutSecrets(site))
  }
  return FolderHost(FilePath(site))
}

extension SiteHost {
  /// Calls `body`, which changes the site, with the site, the key that signed it and a progress bar.
  func edit<Result: Sendable>(
    with option: SiteKeyOption, _ report: ReportOptions, isDryRun: Bool,
    reading: (@Sendable (Site, SiteKey) async throws -> [PackVersion])? = nil,
    _ body: @Sendable (Site, SiteKey, ProgressBar) async throws -> Result
  ) async throws -> Result {
    if try await !exists() {
      _ = try await read { _ in }  // reports faults of the location before faults of a key
    }
    let key = try option.open(quiet: report.quiet)
    let versions = reading.map { reading in
      { @Sendable (site: Site) async throws -> [PackVersion] in try await reading(site, key) }
    }
    let note = option.change.changeNote
    return try await edit(with: key, makesSite: false, report, isDryRun: isDryRun, reading: versions) {
      try await body($0.noting(note), key, $1)
    }
  }

  func edit<Result: Sendable>(
    with key: SiteKey, makesSite: Bool, _ report: ReportOptions, isDryRun: Bool,
    reading: (@Sendable (Site) async throws -> [PackVersion])? = nil,
    _ body: @Sendable (Site, ProgressBar) async throws -> Result
  ) async throws -> Result {
    try await withProgress(report) { progress, bar in
      try await change(
        signedBy: key, makesSite: makesSite, isDryRun: isDryRun, events: { progress($0) }, reading: reading
      ) { site in
        warnOfClock(at: site, report)
        return try await body(site, bar)
      }
    }
  }

  /// Warns if the clock is behind the newest root.
  func warnOfClock(at site: Site, _ report: ReportOptions) {
    let text = ClockOption.warning(lastRoot: try? site.channels().map(\.madeAt).max())
    if let text, !report.quiet { warn(.clock, text) }
  }

  /// Runs changes of the site with a progress bar, then closes the site.
  func withProgress<Result: Sendable>(
    _ report: ReportOptions, traffic: StorageTraffic? = nil,
    _ body: (StorageProgress, ProgressBar) async throws -> Result
  ) async throws -> Result {
    let bar = ProgressBar(report.progressForm)
    do {
      let result = try await body(StorageProgress(bar: bar, isQuiet: report.quiet, traffic: traffic), bar)
      bar.finish()
      await close()
      return result
    } catch {
      bar.finish()
      await close()
      throw error
    }
  }
}

/// The bytes that a command downloaded from object storage and uploaded to it.
final class StorageTraffic: Sendable {
  struct Counts {
    /// Downloaded bytes of the site's metadata.
    var fetchedByteCount: UInt64 = 0

    /// Downloaded bytes of content.
    var contentByteCount: UInt64 = 0
    var uploadedByteCount: UInt64 = 0
  }

  private let state = Mutex(Counts())

  var counts: Counts { state.withLock { $0 } }

  func change(_ body: (inout Counts) -> Void) { state.withLock { body(&$0) } }

  /// The traffic as one line of text; `nil` if nothing was downloaded or uploaded.
  var line: String? {
    let counts = counts
    guard counts.fetchedByteCount | counts.contentByteCount | counts.uploadedByteCount > 0 else { return nil }
    func text(_ byteCount: UInt64) -> String { formatBytes(Int(clamping: byteCount)) }
    let content = counts.contentByteCount == 0 ? "" : " and \(text(counts.contentByteCount)) of content for deltas"
    return "  moved  \(text(counts.fetchedByteCount))\(content) down, \(text(counts.uploadedByteCount)) up"
  }
}

/// Reports the progress and the warnings of a change to a site in object storage.
struct StorageProgress: Sendable {
  let bar: ProgressBar?
  let isQuiet: Bool
  var traffic: StorageTraffic?

  func callAsFunction(_ event: SiteChangeEvent) {
    switch event {
    case .upload(let byteCount, let total):
      bar?.update(
        Progress(activity: "uploading", bytesDone: Int(clamping: byteCount), bytesTotal: Int(clamping: total)))
    case .overtaken:
      if !isQuiet { warn(.otherPublisher, "another publisher was faster: publishing on top of its changes") }
    case .fetched(let byteCount): traffic?.change { $0.fetchedByteCount &+= byteCount }
    case .fetchedContent(let byteCount): traffic?.change { $0.contentByteCount &+= byteCount }
    case .uploaded(let byteCount): traffic?.change { $0.uploadedByteCount &+= byteCount }
    case .discardedJob:
      if !isQuiet {
        warn(
          .discardedJob,
          "discarded a job of the ledger that no publisher can have written: check who can write below the ledger's"
            + " prefix")
      }
    case .missing(let paths):
      if !isQuiet {
        warn(
          .missingObject,
          "objects of the site are missing in the storage: \(escaped(listed(paths))); restore them, or publish their versions again"
            + " with higher numbers")
      }
    case .restored(let count):
      if !isQuiet { warn(.missingObject, "uploaded \(formatCount(count, "missing object")) again") }
    case .deleted: break
    }
  }
}
