import ArgumentParser
import PackAuthoring
import PackPublishing
import PackStore

/// The options of `gc` for a site.
struct SiteCollectionOptions: ParsableArguments {
  @OptionGroup var key: SiteKeyOption
  @OptionGroup var grace: GraceOption
  @OptionGroup var storage: StorageOptions

  @Option(
    help: .init(
      """
      Number of offered versions of each pack to keep, instead of the site's policy. The latest n - 1 builds that are \
      not offered yet are also kept.
      """, valueName: "n"))
  var keep: Int?

  func validate() throws {
    guard (1...1000).contains(keep ?? 1) else { throw ValidationError("--keep must be from 1 to 1000") }
  }

  /// - Throws: `ValidationError` for options that stores do not have.
  func requireNone() throws {
    guard key.key == nil, key.change.text == nil, grace.duration == nil, keep == nil else {
      throw ValidationError("--key, --note, --grace and --keep are for sites: this is a store")
    }
  }

  func collect(_ name: String, waits: Bool, isDryRun: Bool, _ report: ReportOptions) async throws {
    guard !isDryRun else { return try await explain(name, report) }
    let options = Site.PublishOptions(keptVersionCount: keep, gracePeriod: grace.duration, waitsForOthers: waits)
    let result = try await storage.host(of: name, waits: waits).edit(with: key, report, isDryRun: false) {
      site, key, _ in
      try await site.collect(signedBy: key, options: options)
    }
    let output = Output()
    if report.json {
      try output.json(SiteCollectionReport(result))
    } else if report.isTalkative {
      let freed = formatBytes(result.freedByteCount), retired = formatBytes(result.retiredByteCount)
      try output.lines(
        result.droppedVersions.map { "dropped  \($0)" }
          + ["freed \(freed) in \(formatCount(result.deletedFileCount, "file")); \(retired) stay for the grace period"])
    }
    try output.flush()
  }

  /// Explains each version and file.
  private func explain(_ name: String, _ report: ReportOptions) async throws {
    let keep = keep, grace = grace.duration
    let uses = try await storage.host(of: name).readOnce { site in
      let uses = try site.uses(keeping: keep, grace: grace)
      return SiteUses(versions: uses.versions, files: uses.files)
    }
    let output = Output()
    if report.json {
      try output.json(SiteCollectionReport(uses))
    } else if report.isTalkative {
      try output.lines(uses.lines)
    }
    try output.flush()
  }
}

private struct SiteUses {
  let versions: [Site.VersionUse]
  let files: [Site.FileUse]

  var lines: [String] { versions.map(words) + files.map(words) + [summary] }

  private func words(_ use: Site.VersionUse) -> String {
    let channels = use.channels.isEmpty ? "" : " by \(use.channels.map(\.name).joined(separator: ", "))"
    let until = use.until.map { " until \(formatDate($0))" } ?? ""
    return "\(use.pack)@\(use.version)  \(use.reason.rawValue)\(channels)\(until)"
  }

  private func words(_ file: Site.FileUse) -> String {
    "\(escaped(file.path))  \(formatBytes(file.byteCount))  \(reason(file))"
  }

  private func reason(_ file: Site.FileUse) -> String {
    let versions = file.versions.map { "\($0.pack)@\($0.version)" }.joined(separator: ", ")
    if !file.channels.isEmpty {
      let roots = "root of \(file.channels.map(\.name).joined(separator: ", "))"
      return versions.isEmpty ? roots : "\(roots): \(versions)"
    }
    if !file.versions.isEmpty { return file.isLeaving ? "leaving with \(versions)" : "kept for \(versions)" }
    if file.isRecord { return "history" }
    return file.until.map { "retired until \(formatDate($0))" } ?? "unneeded: will be deleted"
  }

  private var summary: String {
    let dead = files.filter(\.isDead), leaving = files.filter(\.isLeaving)
    func bytes(_ files: [Site.FileUse]) -> String { formatBytes(files.map(\.byteCount).clampedSum()) }
    return "would delete \(bytes(dead)) in \(formatCount(dead.count, "file")) now, and retire \(bytes(leaving)) of "
      + formatCount(versions.filter { $0.reason == .leaving }.count, "version")
  }
}

extension Site.FileUse {
  /// Whether only versions that leave the site need it.
  fileprivate var isLeaving: Bool {
    channels.isEmpty && !versions.isEmpty && versions.allSatisfy { $0.reason == .leaving }
  }
}

private struct SiteCollectionReport: Encodable {
  struct Version: Encodable {
    let pack: String
    let version: UInt64
    let reason: String?
    let channels: [String]?
    let until: String?
  }

  struct File: Encodable {
    let path: String
    let bytes: Int
    let versions: [String]
    let channels: [String]
    let until: String?
    let dead: Bool
  }

  let dryRun: Bool
  let freedBytes, copiedBytes, emptiedSegments, commits: Int
  let deletedFiles, retiredBytes: Int?
  let dropped, versions: [Version]?
  let files: [File]?

  init(_ result: Site.CollectionResult) {
    dryRun = false
    freedBytes = result.freedByteCount
    (copiedBytes, emptiedSegments, commits) = (0, 0, 0)
    deletedFiles = result.deletedFileCount
    retiredBytes = result.retiredByteCount
    dropped = result.droppedVersions.map {
      Version(pack: $0.pack.name, version: $0.number, reason: nil, channels: nil, until: nil)
    }
    versions = nil
    files = nil
  }

  init(_ uses: SiteUses) {
    dryRun = true
    freedBytes = uses.files.filter(\.isDead).map(\.byteCount).clampedSum()
    (copiedBytes, emptiedSegments, commits) = (0, 0, 0)
    deletedFiles = nil
    retiredBytes = nil
    dropped = nil
    versions = uses.versions.map {
      Version(
        pack: $0.pack.name, version: $0.version, reason: $0.reason.rawValue, channels: $0.channels.map(\.name),
        until: $0.until.map(formatDate))
    }
    files = uses.files.map { file in
      File(
        path: file.path, bytes: file.byteCount, versions: file.versions.map { "\($0.pack)@\($0.version)" },
        channels: file.channels.map(\.name), until: file.until.map(formatDate), dead: file.isDead)
    }
  }
}
