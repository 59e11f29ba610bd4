import ArgumentParser
import PackStore

struct ShowAttributes: AsyncParsableCommand, CommandWithSubject {
  static let configuration = CommandConfiguration(
    commandName: "attributes",
    abstract: "Show attributes, or set them in a new version.",
    discussion: """
      Attributes are the download policy, platforms, label, note, language, placement, priority, files to map, app \
      versions and user info. '--set' reads them from a JSON file, which may omit defaults, and creates a new version \
      with the same content. Data is stored again only for files that must now be mapped; '--dry-run' reports its \
      size.

        packstore attributes Packs Tutorial@3
        packstore attributes Packs Tutorial --set attributes.json

        { "downloadPolicy": { "essential": { "installationEventTypes": ["firstInstallation"] } },
          "platforms": ["iOS", "macOS"], "language": "en-US", "priority": 1, "map": ["*.bin"],
          "appVersions": "2.0..<3", "userInfo": { "chapter": 1 } }
      """
  )

  @OptionGroup var store: StoreArgument

  @Argument(
    help: .keptVersion,
    transform: parseVersionName)
  var version: VersionName

  @Option(
    help: .init("JSON file with the attributes of the next version.", valueName: "file"),
    completion: .file(extensions: ["json"]))
  var set: String?

  @Flag(help: "With --set: adopt the pack if it has another origin; its history is deleted.")
  var adopt = false

  @Flag(help: "With --set: report the cost of the change without changing the store.")
  var dryRun = false

  @OptionGroup var wait: WaitOption
  @OptionGroup var report: ReportOptions

  func validate() throws {
    guard set != nil || !dryRun else { throw ValidationError("--dry-run needs --set") }
    guard set != nil || !adopt else { throw ValidationError("--adopt needs --set") }
    guard set == nil || version.which == nil || version.which == .current else {
      throw ValidationError("--set creates the next version: name the pack without a version")
    }
  }

  var subject: Failure.Facts { .init(store: store.store, pack: version.pack) }

  func run() async throws {
    if let set {
      try change(to: Attributes(json: InputFile(FilePath(set)).contents(limit: Self.fileByteCountLimit), file: set))
    } else {
      let snapshot = try store.openForReading().makeSnapshot()
      let version = try version.find(in: snapshot)
      let attributes = try snapshot.attributes(of: version)
      try show(AttributesReport(version, attributes)) { lines(version, attributes) }
    }
  }

  /// The maximum size of the attributes file, in bytes. It is large, because white space and comments are not stored.
  private static let fileByteCountLimit = 1 << 20

  // MARK: - Change

  private func change(to attributes: Attributes) throws {
    let store = try self.store.open(.existing)
    let snapshot = try store.makeSnapshot()
    let current = try version.find(in: snapshot)
    let before = try snapshot.attributes(of: current)
    var options = Transaction.Options(waitsForWriters: !wait.noWait)
    options.cacheFolder = userCacheFolder
    var transaction = try store.makeTransaction(options: options)
    let result = try transaction.setAttributes(attributes, of: version.pack, adopts: adopt)
    // The pack's priority may differ from its attributes. It is set only if the attribute changes.
    if attributes.priority != before.priority { try transaction.setPriority(attributes.priority, of: version.pack) }
    if !dryRun { try transaction.commit() }
    try show(AttributesReport(result.version, attributes, result)) { summary(result, attributes) }
  }

  private func summary(_ result: Store.InstallResult, _ attributes: Attributes) -> [String] {
    let cost =
      result.mappedNewByteCount == 0
      ? []
      : [
        "  laid out  \(formatCount(result.relaidCount, "file")), \(formatBytes(result.mappedNewByteCount)), to be mapped from now on"
      ]
    if result.isUnchanged {
      return ["\(result.version) has these attributes already"] + cost
    }
    return ["\(version.pack) \(dryRun ? "would be" : "is") at version \(result.version.number)"] + cost
      + members(attributes)
  }

  // MARK: - Report

  private func show(_ report: AttributesReport, _ lines: () -> [String]) throws {
    let output = Output()
    if self.report.json {
      try output.json(report)
    } else if !self.report.quiet {
      try output.lines(lines())
    }
    try output.flush()
  }

  private func lines(_ version: PackVersion, _ attributes: Attributes) -> [String] {
    ["\(version)\(attributes.isEmpty ? " has no attributes: the defaults count" : "")"] + members(attributes)
  }

  private func members(_ attributes: Attributes) -> [String] {
    let policy = attributes.downloadPolicy
    let events = policy.events.sorted().map(\.rawValue).joined(separator: ", ")
    var lines = [
      "  download      \(policy.name)\(events.isEmpty ? "" : ": \(events)")",
      "  platforms     \(attributes.platforms.isEmpty ? "all" : attributes.platforms.sorted().map(\.rawValue).joined(separator: ", "))",
      "  app versions  \(attributes.appVersions?.description ?? "all")",
      "  placement     \(attributes.placement.rawValue)", "  priority      \(attributes.priority)",
    ]
    if let label = attributes.label { lines.append("  label         \(label)") }
    if let note = attributes.note { lines.append("  note          \(escaped(note.text))") }
    if let language = attributes.language { lines.append("  language      \(language)") }
    if !attributes.mappedPaths.isEmpty {
      lines.append("  map           \(attributes.mappedPaths.map(escaped).joined(separator: ", "))")
    }
    if let userInfo = attributes.userInfo { lines.append("  user info     \(escaped(userInfo.description))") }
    for member in attributes.unknownMembers {
      lines.append("  \(escaped(member.name)): \(escaped(member.json)) (of a later version of packstore)")
    }
    return lines
  }
}

private struct AttributesReport: Encodable {
  private struct Head: Encodable {
    let pack: String
    let version: UInt64
    let unchanged: Bool?
    let laidOutFiles, laidOutBytes: Int?
  }

  private let head: Head
  private let members: AttributesMembers

  init(_ version: PackVersion, _ attributes: Attributes, _ result: Store.InstallResult? = nil) {
    head = Head(
      pack: version.pack.name, version: version.number, unchanged: result?.isUnchanged,
      laidOutFiles: result?.relaidCount, laidOutBytes: result?.mappedNewByteCount)
    members = AttributesMembers(attributes)
  }

  /// Encodes both parts as one object.
  func encode(to encoder: any Encoder) throws {
    try head.encode(to: encoder)
    try members.encode(to: encoder)
  }
}

/// The attributes as JSON.
struct AttributesMembers: Encodable {
  struct Policy: Encodable {
    let name: String
    let events: [String]
  }

  let downloadPolicy: Policy
  let platforms, map: [String]
  let placement: String
  let priority: Int32
  let label, note, language, appVersions, userInfo: String?
  let canonical: String

  init(_ attributes: Attributes) {
    let policy = attributes.downloadPolicy
    downloadPolicy = Policy(name: policy.name, events: policy.events.sorted().map(\.rawValue))
    platforms = attributes.platforms.sorted().map(\.rawValue)
    map = attributes.mappedPaths
    placement = attributes.placement.rawValue
    priority = attributes.priority
    label = attributes.label?.text
    note = attributes.note?.text
    language = attributes.language?.description
    appVersions = attributes.appVersions?.description
    userInfo = attributes.userInfo?.description
    canonical = attributes.description
  }
}
