public import PackAuthoring
package import PackDelivery
import PackFormats
public import PackStore
import Synchronization

/// Checks that the files of a bucket or of a site on a web server exist, and on request that they have the content that the publisher
/// signed.
///
/// Without a content check, one request is made for each file. A content check reads every file once; it can be interrupted and continued
/// with ``Options/record``. Segments and deltas of a web server are compared frame by frame and block by block, all other files by one
/// SHA-256.
///
/// Use it in one task at a time.
public struct SiteVerification: Sendable {
  public struct Options: Sendable {
    /// Whether to read all content.
    public var isDeep = false

    /// The maximum number of bytes read in a second; `nil`: unlimited.
    public var byteRateLimit: Int?

    /// A file with the paths that were found intact: they are not read again. It is created if missing, and deleted when all files are
    /// intact. `nil`: none.
    public var record: FilePath?

    public init() {}
  }

  public enum FaultKind: String, Hashable, Sendable, CaseIterable {
    /// The file is missing, or has another length.
    case missing

    /// The file has other content than its publisher signed, or the frame table with its digests is missing or damaged.
    case content
  }

  public struct Fault: Hashable, Sendable {
    /// Relative to the site.
    public let path: String
    public let kind: FaultKind

    /// The recorded length.
    public let byteCount: UInt64
  }

  public struct Result: Hashable, Sendable {
    /// The files of the site, including files that the record skipped.
    public let fileCount: Int
    public let skippedCount: Int
    public let readByteCount: UInt64

    /// In order of their paths.
    public let faults: [Fault]

    /// Channels whose roots are damaged.
    public let damagedChannels: [SiteChannel]

    public var isSound: Bool { faults.isEmpty && damagedChannels.isEmpty }
  }

  private let place: SiteStatusReader.Place
  private let options: Options
  package var clock = TransferClock.system

  /// - Parameter place: a bucket or a served site. For a folder, `Store.verify` reads the store of the site, too.
  public init(_ place: SiteStatusReader.Place, options: Options = .init()) {
    self.place = place
    self.options = options
  }

  /// - Parameter progress: receives the number of checked files and the number of files to check, on any thread.
  /// - Throws: `noSite`, `notAStore`; `unreachable`, `denied`, `badResponse`; `corrupt` if the record is damaged; `untrusted`; `noSpace`,
  ///   `ioError`; `CancellationError`: the record has the files that were intact.
  public func run(progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void = { _, _ in }) async throws
    -> Result
  {
    switch place {
    case .folder(let path):
      let channels = try RemoteSiteLocation.channels(inFolder: path)
      return try await run(try RemoteSiteLocation(path.string).open(channels: channels), progress)
    case .served(let location, let channels): return try await run(try location.open(channels: channels), progress)
    case .bucket(let bucket):
      let rules = try await bucket.contentRules()
      return try await check(
        rules, damaged: [], ObjectProbe(.storage(bucket.storage)), StorageSource(bucket.storage), progress)
    }
  }

  private func run(
    _ served: RemoteSiteCopy, _ progress: @escaping @Sendable (Int, Int) -> Void
  ) async throws -> Result {
    do {
      let survey = try await ServedSurvey(served).run(now: 0, hasHistory: true)
      let result = try await check(
        survey.rules, damaged: survey.damaged, ObjectProbe(.source(served.source)), served.source, progress)
      await served.close()
      return result
    } catch {
      await served.close()
      throw error
    }
  }

  private func check(
    _ rules: [SitePath: ContentRule], damaged: [SiteChannel], _ probe: ObjectProbe, _ source: any SiteSource,
    _ progress: @escaping @Sendable (Int, Int) -> Void
  ) async throws -> Result {
    guard options.isDeep else {
      let total = rules.count
      let check = try await probe.check(rules.mapValues(\.byteCount)) { progress($0, total) }
      let faults = check.faults.map { Fault(path: $0.path, kind: .missing, byteCount: $0.byteCount) }
      return Result(
        fileCount: total, skippedCount: 0, readByteCount: 0, faults: faults, damagedChannels: damaged)
    }
    var record = try VerificationRecord(options.record)
    let rest = rules.filter { !record.contains($0.key) }.sorted { "\($0.key)" < "\($1.key)" }
    let reader = ContentReader(source, rules: rules, byteRateLimit: options.byteRateLimit, clock: clock)
    var faults: [Fault] = []
    do {
      for (index, (path, rule)) in rest.enumerated() {
        try Task.checkCancellation()
        if let kind = try await reader.fault(of: path, rule) {
          faults.append(Fault(path: path.description, kind: kind, byteCount: rule.byteCount))
        } else {
          try record.add(path)
        }
        progress(index + 1, rest.count)
      }
    } catch {
      try record.write()
      throw error
    }
    try faults.isEmpty ? record.remove() : record.write()
    return Result(
      fileCount: rules.count, skippedCount: rules.count - rest.count, readByteCount: reader.readByteCount,
      faults: faults, damagedChannels: damaged)
  }
}

extension BucketSite {
  /// The files that clients may fetch, with their digests in the committed image, including the roots.
  ///
  /// - Throws: `noSite`; `unreachable`, `denied`; `corrupt`, `untrusted`.
  func contentRules() async throws -> [SitePath: ContentRule] {
    try await committedFiles().reduce(into: [:]) { rules, entry in
      guard case .site(let path) = entry.key else { return }
      rules[path] = ContentRule(byteCount: entry.value.byteCount, content: .digest(entry.value.digest))
    }
  }
}
