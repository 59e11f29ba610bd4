import Foundation
import PackAuthoring
import PackStore
import Synchronization
import Testing

@testable import ManagedPacks
@testable import PackDelivery

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// X11, U4: simulated events, with the networks and disks of a test.
@Suite struct PlayTests {
  /// A group whose app takes its packs from a server of this machine.
  private final class World {
    let playground = TestFolder()
    let server: WebServer
    let folder: FilePath
    let publisher: SiteTests.Publisher

    var group: GroupFolder { get throws { try GroupFolder(folder.appending("group")) } }

    init() async throws {
      umask(0o022)
      folder = playground.path
      publisher = SiteTests.Publisher(folder: playground, name: "a")
      try await Self.publish("1", by: publisher)
      server = try WebServer.nginx(playground, serving: "site-a")
    }

    func publish(_ text: String) async throws { try await Self.publish(text, by: publisher) }

    private static func publish(_ text: String, by publisher: SiteTests.Publisher) async throws {
      let first = [InstallationEvent.firstInstallation] as Set
      try await publisher.publish(
        [
          "Base": ["base": noise(200_000, text)], "Extra": ["extra": noise(100_000, text)],
          "Later": ["later": "later \(text)"], "German": ["german": "deutsch \(text)"],
        ],
        attributes: [
          "Base": try Attributes(downloadPolicy: .essential(on: first)),
          "Extra": try Attributes(downloadPolicy: .prefetch(on: first)),
          "Later": try Attributes(),
          "German": try Attributes(downloadPolicy: .prefetch(on: first), language: LanguageTag("de")),
        ])
    }

    /// Incompressible text.
    private static func noise(_ count: Int, _ seed: String) -> String {
      var random = SplitMix64(state: UInt64(seed.utf8.first ?? 0) &+ UInt64(count))
      return String((0..<count).map { _ in Character(UnicodeScalar(33 + UInt8(random.next() * 93))) })
    }

    func register(_ more: String = "") throws {
      let text =
        #"{"BAAppGroupID": "g", "BAManifestURL": "\#(server.url)/", "CFBundleIdentifier": "app","#
        + #""PackStoreTrustedKey": "\#(publisher.key.publicKey)", "PackStoreGroupFolder": "\#(folder)/group"\#(more)}"#
      try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/app.json"))
      try JournalFile(in: group).register(ManagedConfiguration(contentsOf: folder.appending("app.json")))
    }

    func addExtension(_ script: String) throws {
      try Data("#!/bin/sh\n\(script)\n".utf8).write(to: URL(fileURLWithPath: "\(folder)/extension"))
      chmod("\(folder)/extension", 0o755)
      try register(#", "PackStoreExtension": "extension""#)
    }

    @discardableResult
    func play(
      _ event: BAContentRequest, _ network: String? = nil, _ change: (inout Simulation.Options) -> Void = { _ in }
    ) async throws -> (summary: SimulationSummary, notes: [SimulationNote]) {
      var options = Simulation.Options()
      options.environment = ["LANG": "en_US", "PATH": "/usr/bin:/bin"]
      if let network { options.network = try NetworkShape(network) }
      change(&options)
      let notes = Mutex<[SimulationNote]>([])
      let summary = try await Simulation(in: group, options: options) { note in notes.withLock { $0.append(note) } }
        .run(event, app: nil)
      return (summary, notes.withLock { $0 })
    }
  }

  private func reasons(_ notes: [SimulationNote]) -> [String] {
    notes.filter { $0.kind == .decided }.map { "\($0.pack ?? ""): \($0.reason ?? "")" }
  }

  // MARK: - Extensions

  /// Also if the folder of the copy has a relative path, which an extension ignores.
  @Test func extensionsUseTheCopyOfTheGroup() throws {
    let playground = TestFolder(), group = playground.path.appending("group")
    defer { withExtendedLifetime(playground) {} }
    _ = try GroupFolder(group)
    let depth = FileManager.default.currentDirectoryPath.split(separator: "/").count
    let relative = FilePath(String(repeating: "../", count: depth) + String(group.string.dropFirst()))
    var options = GroupAgent.Options()
    let copy = try GroupFolder(relative)
    let name = ManagedConfiguration.groupFolderVariable
    #expect(copy.path.isRelative && options.environment(ofExtensionsIn: copy)[name] == nil)
    options.original = try GroupFolder(playground.path.appending("original"))
    let found = try #require(options.environment(ofExtensionsIn: copy)[name].map { FilePath($0) })
    #expect(found.isAbsolute && found == resolvedPath(group))
  }

  // MARK: - Notes

  /// Once messages named the copy of the group that a simulation works in.
  @Test func messagesNameTheGroup() {
    let note = SimulationNote(.failed, "'/tmp/copy/store': the disk is full")
    #expect(note.naming("/groups/g", insteadOf: "/tmp/copy").text == "'/groups/g/store': the disk is full")
    #expect(note.naming("/groups/g", insteadOf: "/groups/g") == note)
  }

  /// An installation in a copy, so that it can be simulated again: its requests, decisions and downloads, and the
  /// reasons for refusals.
  @Test func installation() async throws {
    let world = try await World()
    try world.register()
    let before = try folderContents(try world.group.path)
    for _ in 0..<2 {
      let (summary, notes) = try await world.play(.install)
      #expect(summary.finished == ["Base", "Extra"] && summary.isComplete)
      #expect(summary.byteCount > 200_000 && summary.requestCount >= notes.filter { $0.kind == .asked }.count)
      #expect(reasons(notes) == ["Base: event", "Extra: event", "German: language", "Later: on_demand"])
      let kinds = notes.map(\.kind)
      let launch = try #require(kinds.firstIndex(of: .launchable))
      let extra = try #require(notes.firstIndex { $0.kind == .began && $0.pack == "Extra" })
      #expect(launch < extra || notes[extra].time >= notes[launch].time)
      #expect(notes.contains { $0.exchange?.target.hasPrefix("/root") == true && $0.exchange?.status == 206 })
      #expect(try folderContents(try world.group.path) == before, "the group stays as it is")
      #expect(try namesInFolder(world.folder).filter { $0.contains("simulation") } == [], "the copy is gone")
    }
    let (update, _) = try await world.play(.update)
    #expect(update.finished == [] && update.isComplete && update.launchableAfter != nil)
  }

  /// An app that the group does not know is known to the copy alone.
  @Test func anAppThatIsNotRegistered() async throws {
    let world = try await World()
    try world.register()
    try removeFile(FilePlace("journal", in: world.group.path))
    let app = try ManagedConfiguration(contentsOf: world.folder.appending("app.json"))
    let before = try folderContents(try world.group.path)
    let (summary, _) = try await world.play(.install) { $0.configuration = app }
    #expect(summary.finished == ["Base", "Extra"])
    #expect(try folderContents(try world.group.path) == before)
  }

  /// A group that has packs: its store is played with, and stays as it is, purgeable packs and journal included.
  @Test func aGroupWithPacks() async throws {
    let world = try await World()
    try world.register()
    let (real, _) = try await world.play(.install) { $0.isInPlace = true }
    #expect(real.finished == ["Base", "Extra"])
    try await world.publish("2")
    let store = try Store(at: world.group.store)
    let cache = world.folder.appending("group/cache")
    try await store.change { transaction in
      try transaction.setCacheFolder(cache)
      _ = try transaction.setPlacement(.purgeable, of: "Extra")
    }
    let before = try folderContents(try world.group.path)
    let (update, notes) = try await world.play(.periodic, "1Mbps")
    #expect(update.finished == ["Base", "Extra"] && update.byteCount < 700_000)
    #expect(reasons(notes) == ["Base: update", "Extra: update", "German: language", "Later: on_demand"])
    // Too little space, except for the purgeable data in the copy.
    try await world.play(.periodic) { $0.freeByteCount = 64 << 20 - 50_000 }
    #expect(try folderContents(try world.group.path) == before)
    #expect(try store.packs().allSatisfy { $0.version.number == 1 })
    let snapshot = try store.makeSnapshot()
    for pack in try store.packs() { #expect(try snapshot.availability(of: pack.version).missingByteCount == 0) }
  }

  // MARK: - Networks

  /// 250,000 bytes at 12,500 a second take 20 seconds and more, and the app can start after two thirds of that; in no time.
  @Test func aSlowNetwork() async throws {
    let world = try await World()
    try world.register()
    let (summary, notes) = try await world.play(.install, "100kbps,latency=300ms,loss=2%")
    #expect(summary.finished == ["Base", "Extra"])
    #expect(summary.duration > .seconds(18) && summary.duration < .seconds(240), "\(summary.duration)")
    let launch = try #require(summary.launchableAfter)
    #expect(launch > .seconds(12) && launch < summary.duration - .seconds(4))
    #expect(notes.contains { ($0.exchange?.stallCount ?? 0) > 0 })
  }

  @Test func aMeteredNetwork() async throws {
    let world = try await World()
    try world.register()
    let (summary, notes) = try await world.play(.install, "metered")
    #expect(summary.finished == ["Base"] && summary.left == ["Extra": .metered])
    #expect(notes.last { $0.kind == .left }?.text == "Extra is deferred: the network is metered")
  }

  /// Without a network, an installation waits for one for 5 seconds, and is found again when the app starts.
  @Test func noNetwork() async throws {
    let world = try await World()
    try world.register()
    let (summary, notes) = try await world.play(.install, "none")
    #expect(!summary.isHandled && summary.finished == [] && summary.byteCount == 0)
    #expect(summary.duration >= .seconds(5))
    #expect(notes.contains { $0.kind == .notHandled })
    #expect(notes.filter { $0.kind == .asked }.allSatisfy { $0.exchange?.status == nil })
    let (periodic, _) = try await world.play(.periodic, "none")
    #expect(periodic.duration < .seconds(5), "nothing waits for a look for updates")
  }

  /// Reset connections are retried until all packs are installed.
  @Test func resets() async throws {
    let world = try await World()
    try world.register()
    let (summary, notes) = try await world.play(.install, "reset=40%") { $0.seed = 5 }
    #expect(summary.finished == ["Base", "Extra"])
    #expect(notes.contains { $0.exchange?.fault == "the connection was reset" })
  }

  // MARK: - Disks, extensions and time

  @Test func aFullDisk() async throws {
    let world = try await World()
    try world.register()
    let (summary, _) = try await world.play(.install) { $0.freeByteCount = 64 << 20 }
    #expect(summary.finished == [] && summary.left == ["Base": .space, "Extra": .space])
    // Room for the first alone.
    let (second, _) = try await world.play(.install) { $0.freeByteCount = 64 << 20 + 200_000 }
    #expect(second.finished == ["Base"] && second.left == ["Extra": .space])
  }

  /// An extension that crashes lets the app start at once; one without time left is not asked, and gets it back.
  @Test func extensions() async throws {
    let world = try await World()
    try world.addExtension(
      "echo started >>'\(world.folder)/starts'; \(ExtensionTests.answer("Base", true)); exec cat <&0 >/dev/null")
    let (crash, notes) = try await world.play(.install, "latency=2s") { $0.crashesExtension = true }
    #expect(crash.finished == ["Base", "Extra"])
    let launch = try #require(notes.first { $0.kind == .launchable })
    #expect(launch.text == "the app can start: its extension exited before answering; pending: Base")
    #expect(notes.contains { $0.kind == .extension && $0.text.contains("signal 9") })
    let finished = try #require(notes.first { $0.kind == .finished })
    #expect(launch.time < finished.time)
    func starts() throws -> Int {
      try String(contentsOfFile: "\(world.folder)/starts", encoding: .utf8).split(separator: "\n").count
    }
    #expect(try starts() == 1)
    // The time of a day is used up; the time of another day, and returned time, are not.
    try JournalFile(in: world.group).update { $0.extensionTimes["app"] = .init(day: 20_000, milliseconds: 180_000) }
    let before = try folderContents(try world.group.path)
    for (days, isReset, count) in [(0, false, 1), (3, false, 2), (0, true, 3)] {
      try await world.play(.install) { options in
        options.crashesExtension = true
        options.wallClock = { 20_000.5 * 86_400 }
        options.timeOffset = .seconds(days * 86_400)
        options.resetsBudget = isReset
      }
      #expect(try starts() == count)
    }
    #expect(try folderContents(try world.group.path) == before)
  }

  /// In place, nothing that is written has another time than the world's: trust, floors and budgets.
  @Test func timeInPlace() async throws {
    let world = try await World()
    try world.addExtension("exit 3")
    let begin = Date().timeIntervalSince1970
    try await world.play(.install, "100kbps,latency=2s") { $0.isInPlace = true }
    let end = Date().timeIntervalSince1970
    let spent = try #require(try JournalFile(in: world.group).read().extensionTimes["app"])
    #expect((Int(begin / 86_400)...Int(end / 86_400)).contains(spent.day))
    // A second simulation with another clock is not refused: the floors are the floors of the first.
    let other = try await world.play(.periodic) { $0.timeOffset = .seconds(400 * 86_400) }
    #expect(other.summary.isComplete)
  }

  // MARK: - The socket

  /// No message to an agent plays anything: words that it does not know are refused, and members that it does not know mean nothing.
  @Test func noHookIsReachable() throws {
    for word in ["simulate", "play", "network", "clock", "disk", "crash", "reset"] {
      #expect(throws: AgentMessageError.malformed) {
        try AgentRequest(decoding: Array(#"{"ask":"\#(word)","format":1}"#.utf8))
      }
    }
    let members = #""network":"none","clock":"+3d","disk_free":0,"crash_extension":true,"seed":1"#
    #expect(
      try AgentRequest(decoding: Array(#"{"ask":"event","event":"install","format":1,\#(members)}"#.utf8))
        == .event(.install, app: nil))
  }

  // MARK: - Download manifests

  /// Whole files, as a download manifest lists them, arrive over the simulated network as well. Once they used the real one.
  @Test func archivesOfDownloadManifestsUseTheSimulatedNetwork() async throws {
    let world = try await World()
    let archive = "\(world.folder)/site-a/A"
    let writer = try AppleArchiveWriter(FilePath(archive), coding: .stored)
    try writer.addFile("Manifest.json", bytes: Array(#"{"assetPackID": "A", "downloadPolicy": {"onDemand": {}}}"#.utf8))
    try writer.addFolder("Contents")
    try writer.addFile("Contents/a", bytes: [UInt8](repeating: 7, count: 100_000))
    let size = try writer.finish()
    let policy = #"{"prefetch": {"installationEventTypes": ["firstInstallation"]}}"#
    let entry =
      #"{"id": "A", "version": 1, "url": "\#(world.server.url)/A", "downloadSize": \#(size), "downloadPolicy": \#(policy)}"#
    try Data(#"{"assetPacks": [\#(entry)]}"#.utf8).write(
      to: URL(fileURLWithPath: "\(world.folder)/site-a/manifest.json"))
    let list =
      #"{"BAAppGroupID": "g", "BAManifestURL": "\#(world.server.url)/manifest.json", "CFBundleIdentifier": "app","#
      + #""PackStoreAllowsUnsigned": true, "PackStoreGroupFolder": "\#(world.folder)/group"}"#
    try Data(list.utf8).write(to: URL(fileURLWithPath: "\(world.folder)/app.json"))
    try JournalFile(in: world.group).register(ManagedConfiguration(contentsOf: world.folder.appending("app.json")))
    let slow = try await world.play(.install, "10kbps")
    #expect(slow.summary.finished == ["A"], "\(slow.notes)")
    #expect(slow.summary.byteCount >= Int(size) && slow.summary.duration > .seconds(5), "\(slow.summary)")
    let none = try await world.play(.install, "none")
    #expect(none.summary.finished.isEmpty && !none.summary.isComplete)
  }

  // MARK: - Copies

  /// A copy has the content of the group, and the next simulation deletes the copy of a killed process.
  @Test func copies() async throws {
    let world = try await World()
    try world.register()
    try await world.play(.install) { $0.isInPlace = true }
    let left = world.folder.appending(".packstore-simulation-1")
    try FileManager.default.createDirectory(atPath: "\(left)/group", withIntermediateDirectories: true)
    try Data().write(to: URL(fileURLWithPath: "\(left)/lock"))
    do {
      let copy = try GroupCopy.make(of: world.group)
      #expect(!pathExists(left))
      let store = try Store(at: copy.folder.store), real = try Store(at: world.group.store, options: .readOnly)
      #expect(try store.packs().map(\.version) == real.packs().map(\.version))
      #expect(try JournalFile(in: copy.folder).read() == JournalFile(in: world.group).read())
      try await store.remove("Base")
      #expect(try real.packs().map(\.id).contains("Base"))
    }
    #expect(try namesInFolder(world.folder).filter { $0.contains("simulation") } == [])
  }
}
