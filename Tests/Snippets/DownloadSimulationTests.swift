import BackgroundAssets
import Foundation
import PackStore
import Synchronization
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// U4: events of an app with downloads of its own, simulated with the program of `Tests/SnippetDownloads` as its extension.
extension SnippetTests {
  /// A web server with files, and an app whose extension selects them.
  private final class Player {
    let place = Place()
    let server: Server
    let group: GroupFolder
    /// The folder to which the extension writes its log; a simulation replaces only the group's folder.
    var notes: String { "\(place.folder)/notes" }

    init(allowance: Int = 1000, essentialAllowance: Int = 1000, domain: String = "127.0.0.1") throws {
      umask(0o022)
      try FileManager.default.createDirectory(atPath: "\(place.folder)/notes", withIntermediateDirectories: true)
      server = try Server(serving: place.folder)
      let program = "\(place.folder)/program"
      let built = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
      try FileManager.default.copyItem(atPath: built.appendingPathComponent("snippet-downloads").path, toPath: program)
      for path in [program, place.folder] { chmod(path, 0o755) }
      try place.write(
        """
        {"BAAppGroupID": "group.com.example.player", "BAHasManagedAssetPacks": false,
         "BAManifestURL": "\(server.url)/manifest", "CFBundleIdentifier": "com.example.player",
         "BAInitialDownloadRestrictions": {"BADownloadAllowance": \(allowance),
           "BAEssentialDownloadAllowance": \(essentialAllowance), "BADownloadDomainAllowList": ["\(domain)"]},
         "PackStoreExtension": "\(program)", "PackStoreGroupFolder": "\(place.folder)/group"}
        """, to: "Player.json")
      let configuration = try ManagedConfiguration(contentsOf: FilePath("\(place.folder)/Player.json"))
      group = try GroupFolder(of: configuration, environment: [:])
      try JournalFile(in: group).register(configuration)
    }

    /// Writes files, and a manifest with the lengths that the extension states.
    func serve(_ files: [(name: String, text: String, length: Int)]) throws {
      for file in files { try place.write(file.text, to: file.name) }
      try place.write(
        files.map { "\($0.name) \($0.length) \(server.url)/\($0.name)\n" }.joined(), to: "manifest")
    }

    /// The contents of the group's folder, except for locks.
    var contents: [String: Data] {
      let names = FileManager.default.enumerator(atPath: group.path.string)?.compactMap { $0 as? String } ?? []
      let files = names.filter { !$0.hasSuffix(".lock") }.compactMap { name in
        FileManager.default.contents(atPath: "\(group.path)/\(name)").map { (name, $0) }
      }
      return Dictionary(uniqueKeysWithValues: files)
    }

    func simulate(
      _ event: BAContentRequest, _ network: String? = nil, _ change: (inout Simulation.Options) -> Void = { _ in }
    ) async throws -> (summary: SimulationSummary, notes: [SimulationNote]) {
      var options = Simulation.Options()
      options.environment = ["PLAYER": notes, "PATH": "/usr/bin:/bin"]
      if let network { options.network = try NetworkShape(network) }
      change(&options)
      let heard = Mutex<[SimulationNote]>([])
      let simulation = Simulation(in: group, options: options) { note in heard.withLock { $0.append(note) } }
      return (try await simulation.run(event, app: nil), heard.withLock { $0 })
    }
  }

  @Test func simulatesAnInstallationWithOwnDownloads() async throws {
    let player = try Player()
    try player.serve([("intro", "a film", 6), ("outro", "the end", 7)])
    let before = player.contents
    let (summary, notes) = try await player.simulate(.install, "1kbps,latency=2s")
    #expect(summary.isComplete && summary.finished == ["intro", "outro"] && summary.hasDownloads, "\(notes)")
    #expect(summary.requestCount == 3, "the manifest and two files")
    #expect(summary.byteCount >= 13 && summary.duration > .seconds(4), "\(summary.duration)")
    #expect(summary.launchableAfter.map { $0 > .seconds(2) } == true, "the app waits for essential downloads")
    #expect(notes.contains { $0.kind == .launchable } && notes.contains { $0.kind == .asked })
    let answer = try #require(notes.first { $0.kind == .extension && $0.text.contains("selected 2 downloads") })
    #expect(answer.text.contains("13 bytes") && answer.text.contains("essential bytes were allowed"), "\(answer)")
    #expect(Set(notes.compactMap(\.download)) == ["intro", "outro"])
    #expect(player.contents == before, "the group does not change")
    // The extension received the files: it is a real program.
    #expect(try String(contentsOfFile: "\(player.notes)/intro", encoding: .utf8) == "a film")
    let again = try await player.simulate(.install, "1kbps,latency=2s")
    #expect(again.summary.finished == summary.finished && again.summary.requestCount == 3)
  }

  /// A stated size must be exact to the byte. The extension schedules a failed essential download again, without that flag.
  @Test func simulatesExactSizes() async throws {
    let player = try Player()
    try player.serve([("intro", "a film", 5)])
    let (summary, notes) = try await player.simulate(.update)
    #expect(notes.contains { $0.kind == .failed && $0.download == "intro" }, "\(notes)")
    #expect(notes.contains { $0.kind == .launchable }, "the app can start after a failure")
    #expect(!summary.isComplete || summary.finished == ["intro"])
    #expect(try String(contentsOfFile: "\(player.notes)/log", encoding: .utf8).contains("failed intro"))
  }

  @Test func simulatesAllowancesAndDomains() async throws {
    let small = try Player(allowance: 3, essentialAllowance: 2)
    try small.serve([("intro", "a film", 6)])
    let refused = try await small.simulate(.install)
    #expect(!refused.summary.isComplete, "the manifest alone exceeds the allowance: \(refused.notes)")
    let tight = try Player(allowance: 5, essentialAllowance: 100)
    try tight.serve([("intro", "a film", 6), ("outro", String(repeating: "x", count: 90), 90)])
    let partial = try await tight.simulate(.install)
    #expect(partial.summary.finished.contains("intro") || partial.summary.left.keys.contains("intro"))
    #expect(partial.summary.left.keys.contains("outro"), "\(partial.summary) \(partial.notes)")
    let elsewhere = try Player(domain: "example.com")
    try elsewhere.serve([("intro", "a film", 6)])
    let foreign = try await elsewhere.simulate(.install)
    #expect(!foreign.summary.isComplete && foreign.summary.finished.isEmpty)
    #expect(foreign.notes.contains { $0.text.contains("BADownloadDomainAllowList") }, "\(foreign.notes)")
  }

  /// Periodic events have no essential downloads, and background downloads wait on a metered network.
  @Test func simulatesPeriodicEventsAndMeteredNetworks() async throws {
    let player = try Player()
    try player.serve([("intro", "a film", 6)])
    let periodic = try await player.simulate(.periodic)
    #expect(periodic.summary.finished == ["intro"] && periodic.summary.launchableAfter == nil, "\(periodic.notes)")
    let metered = try await player.simulate(.periodic, "metered")
    #expect(metered.summary.left == ["intro": .metered] && metered.summary.finished.isEmpty, "\(metered.notes)")
    let none = try await player.simulate(.periodic, "none")
    #expect(!none.summary.isComplete && none.summary.left.values.contains(.network), "\(none.notes)")
  }

  @Test func simulatesRunTimeCrashesAndDisks() async throws {
    let player = try Player()
    try player.serve([("intro", "a film", 6)])
    let crash = try await player.simulate(.install) { $0.crashesExtension = true }
    #expect(crash.notes.contains { $0.kind == .extension && $0.text.contains("did not answer") }, "\(crash.notes)")
    #expect(crash.summary.finished.isEmpty && crash.summary.launchableAfter != nil, "the app can start nevertheless")
    let late = try await player.simulate(.install) { $0.limits.dailyTime = .zero }
    #expect(late.notes.contains { $0.text.contains("used its time for today") }, "\(late.notes)")
    let full = try await player.simulate(.install) { $0.freeByteCount = 0 }
    #expect(full.summary.left.values.contains(.space), "\(full.summary) \(full.notes)")
    // In place, the results stay.
    let kept = try await player.simulate(.install) { $0.isInPlace = true }
    #expect(kept.summary.isComplete, "\(kept.notes)")
    #expect(try JournalFile(in: player.group).read().extensionTimes["com.example.player"] != nil)
  }
}
