import ArgumentParser
import ManagedPacks
import PackDelivery
import PackStore
import Synchronization

/// Simulates an event of an app, with a clock that does not wait.
struct Simulate: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "simulate",
    abstract: "Simulate an installation or update over any network.",
    discussion: """
      Simulates an event for the agent, apps and extensions of a group, with asset packs or downloads of their own, and \
      reports requests, decisions, downloads and reasons. It works in a copy of the group's folder, so that the group does not change, except with \
      '--in-place'; and with its own clock, so that hours on a slow network take seconds.

        packstore simulate install Game.plist --network 100kbps,latency=300ms,loss=5%
        packstore simulate periodic group.com.example.game --network metered
        packstore simulate update Game.plist --disk-free 200M --crash-extension
        packstore simulate --list

      The event is install, update, periodic or language. It applies to the app of a property list, or to all apps of \
      a group. Extensions run as real programs, within their budgets.

      The network is none, metered, or terms separated by commas: 100kbps (2Mbps) for all transfers together; \
      latency=300ms per round trip; loss=5% of segments, each of which delays its transfer by a retransmission \
      timeout; reset=1% of requests whose connection is reset (default: a tenth of the loss). Folders and archives \
      are read without network. Losses and resets depend only on '--seed'.

      The exit status is 0 if all expected packs arrived, otherwise 1. Simulated time applies to delays, limits and \
      budgets of extensions; keys, the expiry of sites and grace periods use the real clock. See \
      packstore-simulate(1).
      """
  )

  @Argument(help: .init("The event, and the group's id, property list or folder.", valueName: "event> <group"))
  var words: [String] = []

  @Option(
    help: .init(
      "The network: none, metered, or 100kbps,latency=300ms,loss=5% (default: unlimited).", valueName: "network"),
    transform: parseNetwork)
  var network = NetworkShape()

  @Option(
    help: .init("Free disk space, such as 200M (default: the real value).", valueName: "bytes"),
    transform: parseByteCount)
  var diskFree: Int?

  @Flag(help: "Make every extension crash when it is called.")
  var crashExtension = false

  @Option(
    help: .init("Lead of the simulated clock: +3d, +12h (not with --in-place).", valueName: "time"),
    transform: parseTimeAhead)
  var clock = Duration.zero

  @Flag(help: "Reset the daily time budget of extensions.")
  var resetBudget = false

  @Option(help: .init("Seed of losses and resets.", valueName: "number"))
  var seed: UInt64 = 1

  @Flag(help: "Use the group itself, not a copy; downloaded packs stay.")
  var inPlace = false

  @Flag(help: "List groups and their apps, with pending requests and remaining budgets of extensions.")
  var list = false

  @OptionGroup var extensions: ExtensionOptions

  @OptionGroup var report: ReportOptions

  func validate() throws {
    if list {
      guard words.count <= 1 else { throw ValidationError("--list accepts at most one group") }
      return
    }
    guard words.count == 2 else { throw ValidationError("name an event and a group") }
    guard BAContentRequest(word: words[0]) != nil else {
      throw ValidationError("'\(escaped(words[0]))' is not an event; use install, update, periodic or language")
    }
    guard GroupName(words[1]) != nil else {
      throw ValidationError(
        "'\(escaped(words[1]))' is not a group's id, nor an existing property list or folder")
    }
    guard !inPlace || clock == .zero else {
      throw ValidationError("--clock and --in-place exclude each other: only a copy can have a simulated clock")
    }
  }

  func run() async throws {
    if list { return try GroupList(words.first).write(report) }
    guard let event = BAContentRequest(word: words[0]), let name = GroupName(words[1]) else { return }
    let log = PlayLog(report)
    let (folder, app, options) = try prepare(name)
    let play = Simulation(in: folder, options: options, tell: log.tell)
    let summary = try await play.run(event, app: app)
    try log.end(summary)
    guard summary.isComplete else {
      let left = summary.left.keys.sorted().map { escaped($0) }.joined(separator: ", ")
      let fault = summary.hasDownloads ? "not all downloads finished" : "not all packs were installed"
      throw Failure(.failed, summary.isHandled ? "\(fault): \(left)" : "the event was not handled")
    }
  }

  /// In place, the app is noted in the group as it would be by a launch; else in the copy alone.
  private func prepare(_ name: GroupName) throws -> (GroupFolder, app: String?, Simulation.Options) {
    var options = self.options
    if inPlace {
      let (folder, app) = try name.open(registering: true)
      return (folder, app, options)
    }
    let (folder, configuration) = try name.find()
    options.configuration = configuration
    return (folder, configuration?.appID, options)
  }

  private var options: Simulation.Options {
    var options = Simulation.Options()
    options.network = network
    options.freeByteCount = diskFree
    options.crashesExtension = crashExtension
    options.timeOffset = clock
    options.resetsBudget = resetBudget
    options.isInPlace = inPlace
    options.seed = seed
    options.limits.dailyTime = .seconds(extensions.extensionTime)
    options.limits.byteCount = extensions.extensionMemory
    options.onFirstContact = { site, key in
      warn(
        .firstContact, "the site '\(withoutSecrets(site))' is signed by the key \(key), which is trusted from now on")
    }
    return options
  }
}

@Sendable private func parseNetwork(_ text: String) throws -> NetworkShape {
  do {
    return try NetworkShape(text)
  } catch let fault as NetworkShape.Fault {
    throw ValidationError(escaped(fault.text))
  }
}

@Sendable private func parseTimeAhead(_ text: String) throws -> Duration {
  try parseDuration(text.hasPrefix("+") ? String(text.dropFirst()) : text)
}

// MARK: - The course of a play

/// Prints each note of a simulation immediately.
private final class PlayLog: Sendable {
  private let report: ReportOptions
  private let output = Output()
  private let error: Mutex<(any Error)?> = Mutex(nil)

  init(_ report: ReportOptions) { self.report = report }

  var tell: @Sendable (SimulationNote) -> Void { { self.print($0) } }

  private func print(_ note: SimulationNote) {
    guard report.json || !report.quiet else { return }
    write {
      if report.json { try output.json(PlayLine(note)) } else { try output.line(Self.text(note)) }
    }
  }

  private static func text(_ note: SimulationNote) -> String {
    let who = note.app.map { "\($0): " } ?? ""
    return "\(seconds(note.time))  \(note.kind.word)  \(escaped(who + note.text))"
  }

  private static func seconds(_ time: Duration) -> String {
    let text = String(format: "%.2f s", min(max(time / .seconds(1), 0), 1e9))
    return String(repeating: " ", count: max(11 - text.count, 0)) + text
  }

  func end(_ summary: SimulationSummary) throws {
    write {
      if report.json { return try output.json(PlayEnd(summary)) }
      guard !report.quiet else { return }
      let packs = formatCount(summary.finished.count, summary.hasDownloads ? "download" : "pack")
      let launch = summary.launchableAfter.map { ", the app can start after \(formatDuration($0))" } ?? ""
      try output.line(
        "\(packs) \(summary.hasDownloads ? "finished" : "installed") in \(formatDuration(summary.duration)): \(formatBytes(summary.byteCount)) in "
          + "\(formatCount(summary.requestCount, "request"))\(launch)")
    }
    if let error = error.withLock({ $0 }) { throw error }
  }

  private func write(_ body: () throws -> Void) {
    error.withLock { error in
      guard error == nil else { return }
      do {
        try body()
        try output.flush()
      } catch let failure {
        error = failure
      }
    }
  }
}

extension SimulationNote.Kind {
  /// As wide as the widest.
  fileprivate var word: String {
    let word = rawValue.replacing("_", with: " ")
    return word + String(repeating: " ", count: max(11 - word.count, 0))
  }
}

/// A line of `--json`.
private struct PlayLine: Encodable {
  let kind: String
  let seconds: Double
  let app, pack, download: String?
  let version: Int?
  let reason: String?
  let fetches: Bool?
  let target, range, fault: String?
  let status, bytes, stalls: Int?
  let message: String

  init(_ note: SimulationNote) {
    kind = note.kind.rawValue
    seconds = rounded(note.time)
    app = note.app
    pack = note.pack
    download = note.download
    version = note.version
    reason = note.reason
    fetches =
      note.kind == .decided ? [.event, .update].contains(note.reason.flatMap { PolicyReason(rawValue: $0) }) : nil
    target = note.exchange?.target
    range = note.exchange?.range
    fault = note.exchange?.fault
    status = note.exchange?.status
    bytes = note.byteCount
    stalls = note.exchange?.stallCount
    message = note.text
  }
}

/// The last line of `--json`.
private struct PlayEnd: Encodable {
  let kind = "end"
  let seconds: Double
  let launchableSeconds: Double?
  let requests, bytes: Int
  let finished: [String]
  let left: [MissingPack]

  struct MissingPack: Encodable {
    let pack: String
    let reason: String
  }

  init(_ summary: SimulationSummary) {
    seconds = rounded(summary.duration)
    launchableSeconds = summary.launchableAfter.map(rounded)
    requests = summary.requestCount
    bytes = summary.byteCount
    finished = summary.finished
    left = summary.left.sorted { $0.key < $1.key }.map { MissingPack(pack: $0.key, reason: $0.value.rawValue) }
  }
}

/// In seconds, to the millisecond.
private func rounded(_ duration: Duration) -> Double { ((duration / .milliseconds(1)).rounded()) / 1000 }

// MARK: - The list

/// Groups of this user, and the contents of their journals.
private struct GroupList: Encodable {
  let kind = "list"
  let groups: [Group]

  struct Group: Encodable {
    let group: String
    let override: String?
    let apps: [App]
    let requests: [Request]
    let essential: [String]
  }

  struct App: Encodable {
    let app: String
    let version, propertyList, `extension`: String?
    let isInstalled: Bool
    let extensionMilliseconds: Int
  }

  struct Request: Encodable {
    let pack: String
    let urgency: String
    let isPaused: Bool
  }

  init(_ word: String?) throws {
    let environment = ProcessInfo.processInfo.environment
    guard let word else {
      groups = try GroupName.all(environment).map { try Self.group(GroupName.id($0)) }
      return
    }
    guard let name = GroupName(word) else {
      throw ValidationError(
        "'\(escaped(word))' is not a group's id, nor an existing property list or folder")
    }
    groups = [try Self.group(name)]
  }

  private static func group(_ name: GroupName) throws -> Group {
    let now = Date().timeIntervalSince1970
    let folder = try name.find().folder
    let active = OverrideFile(in: folder).state(at: now).active
    let journal = try JournalFile(in: folder.under(active, makes: false)).read(), day = Int(now / 86_400)
    let apps = journal.registrations.sorted { $0.key < $1.key }.map { id, registration in
      let list = registration.propertyList.flatMap { try? ManagedConfiguration(contentsOf: FilePath($0)) }
      let time = journal.extensionTimes[id].flatMap { $0.day == day ? $0.milliseconds : nil } ?? 0
      return App(
        app: id, version: registration.version, propertyList: registration.propertyList,
        extension: list?.downloaderExtension?.string, isInstalled: journal.apps[id]?.isInstalled ?? false,
        extensionMilliseconds: time)
    }
    let requests = journal.requests.sorted { $0.key < $1.key }.map {
      Request(pack: $0.key.name, urgency: $0.value.urgency.rawValue, isPaused: $0.value.isPaused)
    }
    return Group(
      group: folder.path.string, override: active?.summary, apps: apps, requests: requests,
      essential: journal.essential.map(\.name).sorted())
  }

  func write(_ report: ReportOptions) throws {
    let output = Output()
    if report.json {
      try output.json(self)
    } else {
      for group in groups {
        try output.line(escaped(group.group))
        if let override = group.override { try output.line(escaped("  override   \(override)")) }
        for app in group.apps {
          let time = app.extension.map { _ in ", its extension took \(app.extensionMilliseconds) ms today" } ?? ""
          try output.line(escaped("  app        \(app.app) \(app.version ?? "")\(time)"))
        }
        for request in group.requests {
          try output.line(
            escaped("  requested  \(request.pack) (\(request.urgency)\(request.isPaused ? ", paused" : ""))"))
        }
        if !group.essential.isEmpty {
          try output.line(escaped("  essential  \(group.essential.joined(separator: ", "))"))
        }
      }
      if groups.isEmpty { try output.line("no group of apps exists on this machine") }
    }
    try output.flush()
  }
}
