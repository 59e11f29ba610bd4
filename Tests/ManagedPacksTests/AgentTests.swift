import Foundation
import PackAuthoring
import PackDelivery
import PackStore
import Synchronization
import Testing

@testable import ManagedPacks

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// C13, C15: the work of an agent for its group.
@Suite struct AgentTests {
  /// A group with an app, and the notices of its agents.
  final class Setup: Sendable {
    let folder = TestFolder()
    let group: GroupFolder
    let log = Log()
    let store: Store
    let site: StubSite

    init(_ entries: [SiteListing.Entry] = [], apps: [String] = ["app"]) throws {
      umask(0o022)  // the agent refuses files that others can read
      let path = folder.path.appending("group")
      store = try Store(at: folder.path.appending("store"))
      site = StubSite(store, folder, entries)
      group = try GroupFolder(
        of: ManagedConfiguration(appGroupID: "g", sites: [.init("x")], groupFolder: path), environment: [:])
      for app in apps { try register(app) }
    }

    func list(_ app: String, _ more: String = "") throws -> ManagedConfiguration {
      try folder.write(
        #"{"BAAppGroupID": "g", "BAManifestURL": "stub", "CFBundleIdentifier": "\#(app)","#
          + #""PackStoreGroupFolder": "\#(group.path)"\#(more)}"#, to: "\(app).json")
      return try ManagedConfiguration(contentsOf: folder.path.appending("\(app).json"))
    }

    func register(_ app: String, _ more: String = "") throws {
      try JournalFile(in: group).register(list(app, more))
    }

    func request(_ pack: PackID, isPaused: Bool = false) throws {
      try JournalFile(in: group).update { $0.requests[pack] = .init(urgency: .prefetch, isPaused: isPaused) }
    }

    var requests: Set<PackID> { get throws { Set(try JournalFile(in: group).read().requests.keys) } }

    func agent(_ change: (inout GroupAgent.Options) -> Void = { _ in }) -> GroupAgent {
      var options = GroupAgent.Options()
      options.manager.store = store
      options.manager.sites = [site]
      options.manager.environment = [:]
      // The clock does not advance: only hints start work.
      options.manager.clock = TransferClock(
        now: { .zero }, sleep: { _ in try await Gate().pass() }, watch: { _ in }, random: { 0 })
      let log = log
      options.tell = { notice in
        let words = [notice.kind.rawValue, notice.app, notice.pack].compactMap { $0 }
        log.append(words.joined(separator: " "))
      }
      change(&options)
      return GroupAgent(of: group, options: options)
    }

    /// Runs an agent until `body` returns.
    func withAgent(_ agent: GroupAgent, _ body: () async throws -> Void) async throws {
      let task = Task { try await agent.run() }
      await log.wait("started")
      do {
        try await body()
      } catch {
        task.cancel()
        throw error
      }
      task.cancel()
      try await task.value
    }
  }

  /// The agent fetches packs whose requesting process ended before they came; the journal is empty afterwards.
  @Test func fetchesWhatWasAskedFor() async throws {
    let setup = try Setup([try entry("A"), try entry("B"), try entry("C")])
    try setup.request("A")
    try setup.request("B", isPaused: true)
    try setup.request("Unknown")
    let summary = try await setup.agent().runOnce()
    #expect(summary.finished == ["A"] && summary.failures == [:])
    #expect(try setup.store.packs().map(\.id) == ["A"])
    #expect(try setup.requests == ["B"], "what no site lists is not asked for any more")
    #expect(setup.log.lines == ["app app", "began app A", "finished app A"])
  }

  /// The agent does not know an app that its program configured, and that app may have a site of its own with other
  /// packs.
  @Test func requestsOfOtherAppsStay() async throws {
    let setup = try Setup([try entry("A")])
    try JournalFile(in: setup.group).update { $0.registrations["other"] = .init() }
    try setup.request("A")
    try setup.request("Unknown")
    #expect(try await setup.agent().runOnce().finished == ["A"])
    #expect(try setup.requests == ["Unknown"])
  }

  /// A pack that cannot be fetched is reported, and does not keep others from being fetched.
  @Test func failures() async throws {
    let setup = try Setup([try entry("A"), try entry("B")])
    setup.site.state.withLock { $0.failures["A"] = [DeliveryError(.corrupt, "damaged")] }
    try setup.request("A")
    try setup.request("B")
    let summary = try await setup.agent().runOnce()
    #expect(summary.finished == ["B"] && summary.failures.keys.sorted() == ["A"])
    #expect(try setup.requests == [])
  }

  /// One of two agents is elected. When it ends, another one can be; its old socket is not an obstacle.
  @Test func oneIsElected() async throws {
    let setup = try Setup([try entry("A")])
    try await setup.withAgent(setup.agent()) {
      let client = AgentClient(in: setup.group)
      let own = ProcessInfo.processInfo.processIdentifier
      let reply = try await client.connect()?.ask(.status, within: nil)
      #expect(reply == .status(process: own))
      for _ in 0..<3 {
        await #expect { try await setup.agent().runOnce() } throws: { ($0 as? PackStoreError)?.code == .busy }
      }
    }
    #expect(try AgentClient(in: setup.group).connect() == nil)
    // As a process leaves it that was killed.
    _ = try LocalSocket.listen(at: AgentElection.place(in: setup.group))
    #expect(pathExists(setup.group.path.appending("agent.socket")))
    #expect(try AgentClient(in: setup.group).connect() == nil)
    try setup.request("A")
    #expect(try await setup.agent().runOnce().finished == ["A"])
  }

  /// Events apply to the named app, or to all apps, and the agent fetches the packs that they request.
  @Test func events() async throws {
    let policy = DownloadPolicy.prefetch(on: [.firstInstallation])
    let setup = try Setup([try entry("A", policy: policy), try entry("B")])
    try await setup.withAgent(setup.agent()) {
      let connection = try #require(try AgentClient(in: setup.group).connect())
      #expect(try await connection.ask(.event(.install, app: "app"), within: nil) == .done(packs: ["A"]))
      await setup.log.wait("finished app A")
      #expect(try await connection.ask(.event(.install, app: nil), within: nil) == .done(packs: []))
      guard case .failed? = try await connection.ask(.event(.install, app: "none"), within: nil) else {
        Issue.record("there is no such app")
        return
      }
      setup.site.state.withLock { $0.listingError = DeliveryError(.unreachable, "no network") }
      guard case .failed? = try await connection.ask(.event(.periodic, app: nil), within: nil) else {
        Issue.record("no site answers")
        return
      }
    }
    #expect(try JournalFile(in: setup.group).read().apps["app"]?.isInstalled == true)
  }

  /// A pack that an app fetches itself is left to it, and taken up again when the app is gone and it has not come.
  @Test func handsOver() async throws {
    let setup = try Setup([try entry("A")])
    setup.site.state.withLock { $0.gates["A"] = Gate() }
    try setup.request("A")
    try await setup.withAgent(setup.agent()) {
      await setup.log.wait("began app A")
      var connection = try AgentClient(in: setup.group).connect()
      #expect(try await connection?.ask(.handOver("A"), within: nil) == .done(packs: []))
      #expect(setup.log.lines.last == "handed_over app A")
      #expect(try setup.requests == ["A"])
      // Hints do not bring it back.
      let other = try AgentClient(in: setup.group).connect()
      #expect(try await other?.ask(.refresh, within: nil) == .done(packs: []))
      #expect(try await other?.ask(.event(.periodic, app: nil), within: nil) == .done(packs: []))
      setup.site.state.withLock { $0.gates["A"] = nil }
      connection = nil
      await setup.log.wait("finished app A")
    }
    #expect(setup.log.lines.filter { $0 == "began app A" }.count == 2)
    #expect(try setup.requests == [])
  }

  /// The agent follows the pauses, resumes and cancels that an app writes to the journal.
  @Test func followsTheJournal() async throws {
    let setup = try Setup([try entry("A"), try entry("B")])
    let gate = Gate()
    setup.site.state.withLock { $0.gates = ["A": gate, "B": Gate()] }
    try setup.request("A")
    try await setup.withAgent(setup.agent()) {
      await setup.log.wait("began app A")
      let client = AgentClient(in: setup.group)
      try setup.request("A", isPaused: true)
      client.refresh()
      await setup.log.wait("paused app A")
      gate.open()
      try setup.request("B")
      client.refresh()
      await setup.log.wait("began app B")
      try JournalFile(in: setup.group).update { $0.requests["B"] = nil }
      client.refresh()
      await setup.log.wait("failed app B")
      #expect(try setup.store.packs().isEmpty)
      try setup.request("A")
      client.refresh()
      await setup.log.wait("finished app A")
    }
  }

  /// An agent that ends leaves its requests to the next one.
  @Test func endsInTheMiddle() async throws {
    let setup = try Setup([try entry("A")])
    setup.site.state.withLock { $0.gates["A"] = Gate() }
    try setup.request("A")
    try await setup.withAgent(setup.agent()) { await setup.log.wait("began app A") }
    #expect(try setup.requests == ["A"])
    setup.site.state.withLock { $0.gates["A"] = nil }
    #expect(try await setup.agent().runOnce().finished == ["A"])
  }

  /// An agent without an app does nothing, and one whose app is gone forgets it.
  @Test func appsComeAndGo() async throws {
    let setup = try Setup([try entry("A")], apps: [])
    try setup.request("A")
    #expect(try await setup.agent().runOnce() == GroupAgent.Summary())
    try setup.register("first")
    try setup.register("second")
    #expect(try JournalFile(in: setup.group).read().registrations.keys.sorted() == ["first", "second"])
    try FileManager.default.removeItem(atPath: "\(setup.folder.path)/first.json")
    #expect(try await setup.agent().runOnce().finished == ["A"])
    #expect(setup.log.lines.first == "app second")
    try setup.register("second")
    #expect(try JournalFile(in: setup.group).read().registrations.keys.sorted() == ["second"])
  }

  /// Property lists that others can change, that name another group, or that are invalid, are skipped, and each is
  /// reported once.
  @Test(arguments: ["mode", "folder", "group", "damaged", "link"]) func listsThatAreOfNoUse(kind: String) async throws {
    let setup = try Setup([try entry("A")], apps: [])
    try setup.folder.write("", to: "lists/x")
    let list = setup.folder.path.appending("lists/app.json").string
    try setup.register("app")
    try FileManager.default.moveItem(atPath: "\(setup.folder.path)/app.json", toPath: list)
    switch kind {
    case "mode": chmod(list, 0o666)
    case "folder": chmod("\(setup.folder.path)/lists", 0o777)
    case "group":
      try setup.folder.write(
        #"{"BAAppGroupID": "g", "BAManifestURL": "x", "PackStoreGroupFolder": "\#(setup.folder.path)/other"}"#,
        to: "lists/app.json")
    case "damaged": try setup.folder.write("{", to: "lists/app.json")
    default:
      try FileManager.default.moveItem(atPath: list, toPath: "\(setup.folder.path)/open.json")
      chmod("\(setup.folder.path)/open.json", 0o666)
      symlink("\(setup.folder.path)/open.json", list)
    }
    try JournalFile(in: setup.group).update { $0.registrations["app"] = .init(propertyList: list) }
    try setup.request("A")
    #expect(try await setup.agent().runOnce() == GroupAgent.Summary())
    #expect(setup.log.lines == ["problem app"])
  }

  /// A repaired or edited property list takes effect when the agent next reads the journal.
  @Test func listsThatChange() async throws {
    let setup = try Setup([try entry("A"), try entry("B")])
    let list = "\(setup.folder.path)/app.json", client = AgentClient(in: setup.group)
    chmod(list, 0o666)
    try setup.request("A")
    try await setup.withAgent(setup.agent()) {
      await setup.log.wait("problem app")
      client.refresh()
      chmod(list, 0o600)
      client.refresh()
      await setup.log.wait("finished app A")
      try setup.folder.write(String(contentsOfFile: list, encoding: .utf8) + "\n", to: "app.json")
      try setup.request("B")
      client.refresh()
      await setup.log.wait("finished app B")
    }
    #expect(setup.log.lines.filter { $0 == "problem app" }.count == 1, "each reason is told once")
    #expect(setup.log.lines.filter { $0 == "app app" }.count == 2, "it is another app then")
  }

  /// A hanging agent, which may be killed, is distinguished from an agent that ends.
  @Test func silenceIsNoEnd() async throws {
    let setup = try Setup([try entry("A")])
    let listener = try LocalSocket.listen(at: AgentElection.place(in: setup.group))
    let client = AgentClient(in: setup.group)
    let silent = try #require(try client.connect())
    await #expect(throws: AgentSilence.self) { try await silent.ask(.status, within: .milliseconds(1)) }
    let ended = try #require(try client.connect())
    listener.shutDown()
    _ = try listener.accept()
    _ = try listener.accept()
    #expect(try await ended.ask(.status, within: nil) == nil)
  }

  /// C15: an app continues without a dead or silent agent: it contacts the socket only when a pull waits, and never
  /// longer than its time limit.
  @Test(arguments: [true, false]) func appWithoutAnAgent(hasSocket: Bool) async throws {
    let setup = try Setup([try entry("A")])
    let place = AgentElection.place(in: setup.group)
    // The socket accepts connections without ever answering, or a dead agent left it.
    let listener = try LocalSocket.listen(at: place)
    if !hasSocket { listener.shutDown() }
    var options = AssetPackManager.Options()
    options.store = setup.store
    options.sites = [setup.site]
    options.environment = [:]
    let manager = try AssetPackManager(configuration: setup.list("app"), options: options)
    let policy = DownloadPolicy.prefetch(on: [.firstInstallation])
    setup.site.state.withLock { $0.listing.packs.append(try! entry("B", policy: policy)) }
    try await manager.ensureLocalAvailability(of: pack("A"))
    #expect(try await manager.detectEvents() == [.install])
    try await manager.ensureLocalAvailability(of: pack("B"))
    #expect(try setup.store.packs().map(\.id) == ["A", "B"])
  }

  /// A peer that takes the place of the agent and is another user's is not spoken to.
  @Test func agentOfAnotherUser() throws {
    let setup = try Setup()
    let listener = try LocalSocket.listen(at: AgentElection.place(in: setup.group))
    for user in [nil, geteuid() ^ 1] as [uid_t?] {
      let client = AgentClient(in: setup.group, credentials: { _ in user.map { PeerCredentials(user: $0) } })
      #expect(try client.connect() == nil)
    }
    #expect(try AgentClient(in: setup.group).connect() != nil)
    withExtendedLifetime(listener) {}
  }

  // MARK: - Versions for several apps

  /// The highest version that fits all apps of a group is chosen; if none fits, the error names two apps that conflict.
  /// A removed app does not count.
  @Test func appsOfDifferentVersions() async throws {
    let folder = TestFolder()
    let publisher = SiteTests.Publisher(folder: folder, name: "a")
    func version(_ range: String?, _ text: String) async throws {
      let attributes = try Attributes(appVersions: range.map { try AppVersionRange($0) })
      try await publisher.publish(["P": ["file": text]], attributes: ["P": attributes])
    }
    try await version("..<3", "old")
    try await version("2.0...", "new")
    func manager(_ app: String, _ appVersion: String) throws -> AssetPackManager {
      let list = "\(app).json"
      try folder.write(
        #"{"BAAppGroupID": "g", "BAManifestURL": "\#(publisher.site)", "CFBundleIdentifier": "\#(app)","#
          + #""CFBundleShortVersionString": "\#(appVersion)", "PackStoreGroupFolder": "\#(folder.path)/group","#
          + #""PackStoreTrustedKey": "\#(publisher.key.publicKey)"}"#, to: list)
      return try AssetPackManager(configuration: ManagedConfiguration(contentsOf: folder.path.appending(list)))
    }
    func offered(_ manager: AssetPackManager) async throws -> Int {
      try await manager.assetPack(withID: "P").version
    }
    #expect(try await offered(manager("b", "2.5")) == 2)
    // 1.0 needs version 1, which is for 2.5, too.
    #expect(try await offered(manager("a", "1.0")) == 1)
    #expect(try await offered(manager("b", "2.5")) == 1)
    // 3.0 needs version 2, which is not for 1.0.
    let second = try manager("b", "3.0")
    let error = await #expect(throws: ManagedPacksError.self) { try await second.assetPack(withID: "P") }
    #expect(error?.code == .appsDisagree)
    #expect(error?.reason.contains("'a' 1.0") == true && error?.reason.contains("'b' 3.0") == true)
    #expect(try await second.manifest.assetPacks.isEmpty)
    await #expect { try await second.ensureLocalAvailability(of: pack("P", 2)) } throws: {
      ($0 as? ManagedPacksError)?.code == .appsDisagree
    }
    await #expect { try await second.ensureLocalAvailability(of: pack("P", 2), requireLatestVersion: true) } throws: {
      ($0 as? ManagedPacksError)?.code == .appsDisagree
    }
    try FileManager.default.removeItem(atPath: "\(folder.path)/a.json")
    let third = try manager("b", "3.0")
    try await third.ensureLocalAvailability(of: third.assetPack(withID: "P"))
    #expect(try third.localVersion(ofAssetPackWithID: "P") == 2)
  }
}

extension Log {
  /// Waits until there is a line, or there are several.
  func wait(_ line: String, count: Int = 1) async {
    while true {
      let seen = lines
      if seen.count(where: { $0 == line || $0.hasPrefix(line + " ") }) >= count { return }
      await wait(for: seen.count + 1)
    }
  }
}
