import ArgumentParser
import ManagedPacks
import PackStore

/// Selects the groups of apps that store common data once.
struct Share: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "share",
    abstract: "List or set the groups that store common data once.",
    discussion: """
      Each group of apps has its own store. The groups that you name share a base: a segment that several of their \
      stores have in common is one file, and a pack that one group has is not fetched again for another. Each agent \
      links the segments of its group into the base, so run the agents of all groups.

        packstore share add com.example.game com.example.editor
        packstore share list
        packstore share drop com.example.editor

      'list' is the default. 'drop' ends the part of a group, which keeps its packs; data that no other group needs \
      leaves the base. A group is identified by its id, the property list of an app, or its folder.

      The groups must be on one file system. They trust each other: a program that can change the files of one group \
      can damage the packs of all of them. See Docs/BackgroundAssets.md.
      """
  )

  private enum Action: String {
    case add, drop, list
  }

  @Argument(help: .init("The action: 'add' or 'drop' and groups, or 'list' (the default).", valueName: "what"))
  var words: [String] = []

  @OptionGroup var report: ReportOptions

  private func action() throws -> Action {
    guard let word = words.first else { return .list }
    guard let action = Action(rawValue: word) else {
      throw ValidationError("unknown action: use 'add' or 'drop' and groups, or 'list'")
    }
    guard (action == .list) == (words.count == 1) else {
      throw ValidationError(action == .list ? "'list' accepts no group" : "name the groups to \(word)")
    }
    return action
  }

  func validate() throws {
    _ = try action()
    for word in words.dropFirst() where GroupName(word) == nil {
      throw ValidationError("'\(escaped(word))' is not a group's id, nor an existing property list or folder")
    }
  }

  func run() throws {
    let base = try SharedBase(environment: ProcessInfo.processInfo.environment), action = try action()
    for name in words.dropFirst().compactMap({ GroupName($0) }) {
      switch action {
      case .add:
        let group = try name.make()
        try base.add(group)
        // A running agent shares the group's packs immediately.
        AgentClient(in: group).refresh()
      case .drop: try drop(name, from: base)
      case .list: break
      }
    }
    try SharedBaseReport(base).write(report)
  }

  private func drop(_ name: GroupName, from base: SharedBase) throws {
    // The folder may have been deleted.
    let group = try name.locate()
    guard try !base.drop(group) else { return }
    throw Failure(
      .notFound, "group '\(escaped(group.path.string))': does not share data",
      remedy: "'packstore share list' lists the groups that do", path: group.path.string)
  }
}

/// The shared base and its groups.
private struct SharedBaseReport: Encodable {
  struct Group: Encodable {
    let group: String
    /// The shared versions, as `Tutorial@3`.
    let versions: [String]
    let bytes: Int
  }

  let base: String
  let groups: [Group]
  /// The size of the base's files.
  let bytes: Int
  /// The bytes that the groups would need in addition without the base.
  let savedBytes: Int
  /// The number of records that are damaged, or that other users can change.
  let ignoredRecords: Int

  init(_ base: SharedBase) throws {
    let found = try base.groups()
    groups = found.map { group in
      Group(
        group: group.folder, versions: group.versions.map { "\($0.pack.name)@\($0.number)" }.sorted(),
        bytes: base.byteCount(of: group.segmentIDs))
    }
    self.base = base.path.string
    ignoredRecords = try base.ignoredRecordCount
    let total = base.byteCount(of: found.reduce(into: Set()) { $0.formUnion($1.segmentIDs) })
    bytes = total
    savedBytes = groups.reduce(0) { $0.addingClamped($1.bytes) }.subtractingClamped(total)
  }

  func write(_ report: ReportOptions) throws {
    let output = Output()
    if report.json {
      try output.json(self)
    } else if !report.quiet {
      for group in groups {
        let versions = group.versions.isEmpty ? "no packs yet" : group.versions.joined(separator: ", ")
        try output.line(escaped("\(group.group): \(formatBytes(group.bytes)), \(versions)"))
      }
      try output.line(
        groups.isEmpty
          ? "no group shares data"
          : escaped("\(base): \(formatBytes(bytes)); the groups save \(formatBytes(savedBytes))"))
      if ignoredRecords > 0 {
        try output.line(
          "ignored records that are damaged or writable by other users: \(ignoredRecords); 'packstore share add' repairs them"
        )
      }
    }
    try output.flush()
  }
}
