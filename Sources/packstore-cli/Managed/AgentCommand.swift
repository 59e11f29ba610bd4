import ArgumentParser
import ManagedPacks
import PackStore

/// Downloads packs for a group of apps while none of them runs.
struct Agent: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "agent",
    abstract: "Download packs for apps that are not running.",
    discussion: """
      Continues requested downloads for a group of apps that use ManagedPacks, until it is stopped. A group has one \
      agent; a second one exits with status 6. Apps do not require an agent and do not wait for it. A group is \
      identified by its id, by the property list of one of its apps, which is then registered in the group, or by its \
      folder.

        packstore agent group.com.example.game
        packstore agent Game.plist --wait-essential
        packstore agent event Game.plist install

      'event' reports an event (install, update, periodic or language) and downloads the packs that policies require \
      for it: for the app of a property list, or for all apps of a group. The group's agent handles it if one is \
      running, otherwise this command does.

      An app's extension (PackStoreExtension) selects the packs to download, within '--extension-time' per day and \
      '--extension-memory'. 'make install' installs units for systemd; see Docs/BackgroundAssets.md.
      """
  )

  @Argument(
    help: .init("The group's id, property list or folder; or 'event', the group and the event.", valueName: "group"))
  var words: [String]

  @Flag(help: "Finish pending work, then exit.")
  var once = false

  @Flag(help: "Exit when all essential packs are installed.")
  var waitEssential = false

  @OptionGroup var extensions: ExtensionOptions
  @OptionGroup var rows: RowOptions

  @OptionGroup var report: ReportOptions

  private var isEvent: Bool { words.first == "event" }

  private var group: String { words[isEvent ? 1 : 0] }

  func validate() throws {
    guard isEvent ? words.count == 3 : words.count == 1 else {
      throw ValidationError("name a group, or 'event', a group and an event")
    }
    guard !isEvent || BAContentRequest(word: words[2]) != nil else {
      throw ValidationError("'\(escaped(words[2]))' is not an event; use install, update, periodic or language")
    }
    guard !(once && waitEssential), !isEvent || !(once || waitEssential) else {
      throw ValidationError("--once, --wait-essential and an event exclude each other")
    }
    guard GroupName(group) != nil else {
      throw ValidationError(
        "'\(escaped(group))' is not a group's id, nor an existing property list or folder")
    }
  }

  func run() async throws {
    guard let name = GroupName(group) else { return }
    // A command that ends must not report success for a group that does not exist.
    if once || waitEssential { _ = try name.find() }
    let (folder, app) = try name.open(registering: true)
    let log = AgentLog(report)
    var options = GroupAgent.Options()
    options.limits.dailyTime = .seconds(extensions.extensionTime)
    options.limits.byteCount = extensions.extensionMemory
    options.tell = log.tell
    options.manager.pullOptions.rowLimit = rows.maxRows
    options.manager.onFirstContact = { site, key in
      warn(
        .firstContact, "the site '\(withoutSecrets(site))' is signed by the key \(key), which is trusted from now on")
    }
    do {
      try await run(folder, app, options)
    } catch let error as PackStoreError where error.code == .busy && !isEvent && !waitEssential {
      throw await busy(folder)
    }
    try log.check()
  }

  private func run(_ folder: GroupFolder, _ app: String?, _ options: GroupAgent.Options) async throws {
    if isEvent, let event = BAContentRequest(word: words[2]) {
      return try await raise(event, folder, app, options)
    }
    let agent = GroupAgent(of: folder, options: options)
    if waitEssential { return try await agent.ensureEssential(app: app) }
    if once { return try report(await agent.runOnce()) }
    try await agent.run()
  }

  /// Has the agent handle an event, or does it here.
  private func raise(
    _ event: BAContentRequest, _ folder: GroupFolder, _ app: String?, _ options: GroupAgent.Options
  ) async throws {
    if let connection = try AgentClient(in: folder).connect(),
      (try? await connection.ask(.status, within: AgentClient.patience)) != nil,
      let reply = try await connection.ask(.event(event, app: app), within: nil)
    {
      guard case .done(let packs) = reply else {
        if case .failed(let reason) = reply { throw Failure(.failed, escaped("agent: \(reason)")) }
        throw Failure(.failed, "agent: invalid answer")
      }
      let list = packs.isEmpty ? "nothing to download" : packs.map(\.name).joined(separator: ", ")
      return options.tell(AgentNotice(.event, app: app, "\(event.word), by the agent: \(list)"))
    }
    let agent = GroupAgent(of: folder, options: options)
    _ = try await agent.handle(event, app: app)
    try report(await agent.finishRequests())
  }

  private func report(_ summary: GroupAgent.Summary) throws {
    guard let first = summary.failures.sorted(by: { $0.key < $1.key }).first else { return }
    var failure = Failure(
      .failed,
      escaped(
        "\(summary.failures.count) of \(summary.failures.count + summary.finished.count) packs failed; "
          + "the first: \(first.key): \(first.value)"))
    failure.canRetry = true
    throw failure
  }

  private func busy(_ folder: GroupFolder) async -> Failure {
    let reply = try? await AgentClient(in: folder).connect()?.ask(.status, within: AgentClient.patience)
    guard case .status(let process, let override)? = reply else {
      return Failure(.busy, "another process is the agent of the group")
    }
    let other = override.map { "; its packs come from \(escaped($0))" } ?? ""
    var failure = Failure(.busy, "process \(process) is the agent of the group\(other)")
    failure.facts.holder = UInt64(clamping: process)
    return failure
  }
}
