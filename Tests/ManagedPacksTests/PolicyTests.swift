import Foundation
import PackStore
import Synchronization
import Testing

@testable import ManagedPacks

/// C13: which packs an event fetches.
@Suite struct PolicyTests {
  static let offered: [AssetPack] = {
    let both: Set<InstallationEvent> = [.firstInstallation, .subsequentUpdate]
    return [
      try! pack("EssentialBoth", policy: .essential(on: both)),
      try! pack("EssentialFirst", policy: .essential(on: [.firstInstallation])),
      try! pack("EssentialUpdate", policy: .essential(on: [.subsequentUpdate])),
      try! pack("German", policy: .prefetch(on: both), language: "de"),
      try! pack("OnDemand"),
      try! pack("OnDemandGerman", language: "de"),
      try! pack("PrefetchFirst", policy: .prefetch(on: [.firstInstallation])),
      try! pack("PrefetchUpdate", policy: .prefetch(on: [.subsequentUpdate])),
    ]
  }()

  @Test(
    arguments: [
      (BAContentRequest.install, "", "", nil, "EssentialBoth! EssentialFirst! PrefetchFirst"),
      (.install, "", "", "de", "EssentialBoth! EssentialFirst! German PrefetchFirst"),
      (.install, "", "", "de-AT", "EssentialBoth! EssentialFirst! PrefetchFirst"),
      (.install, "EssentialBoth", "", nil, "EssentialFirst! PrefetchFirst"),
      (.install, "", "EssentialBoth PrefetchFirst", nil, "EssentialBoth! EssentialFirst! PrefetchFirst"),
      (.update, "", "", nil, "EssentialBoth! EssentialUpdate! PrefetchUpdate"),
      (.update, "", "", "de", "EssentialBoth! EssentialUpdate! German PrefetchUpdate"),
      (.update, "EssentialUpdate PrefetchUpdate", "", nil, "EssentialBoth!"),
      (.periodic, "", "", nil, "EssentialBoth! EssentialFirst! EssentialUpdate! PrefetchFirst PrefetchUpdate"),
      (.periodic, "", "EssentialBoth EssentialFirst EssentialUpdate PrefetchFirst", nil, "PrefetchUpdate"),
      (.periodic, "PrefetchUpdate", "EssentialBoth EssentialFirst EssentialUpdate PrefetchFirst", nil, ""),
      (.languageChange, "", "", "de", "German"), (.languageChange, "", "German", "de", "German"),
      (.languageChange, "German", "", "de", ""), (.languageChange, "", "", "fr", ""),
      (.languageChange, "", "", nil, ""),
    ] as [(BAContentRequest, String, String, String?, String)])
  func chosen(event: BAContentRequest, local: String, seen: String, language: String?, expected: String) throws {
    let here = Set(local.split(separator: " ").map(String.init))
    let chosen = PolicyRules.packs(
      for: event, among: Self.offered, isLocal: here.contains,
      seen: Set(try seen.split(separator: " ").map { try PackID(validating: String($0)) }),
      language: try language.map { try LanguageTag($0) })
    #expect(chosen.map { "\($0.pack.id)\($0.urgency == .essential ? "!" : "")" }.joined(separator: " ") == expected)
  }

  /// C13: the events at a launch, from the records in the journal.
  @Test func eventsOfLaunches() async throws {
    let setup = try ManagedSetup([
      try entry("First", policy: .prefetch(on: [.firstInstallation])),
      try entry("Update", policy: .prefetch(on: [.subsequentUpdate])),
      try entry("German", policy: .prefetch(on: [.firstInstallation]), language: "de"),
    ])
    func launch(_ version: String, _ language: String) async throws -> (AssetPackManager, [BAContentRequest]) {
      let manager = try setup.manager(appVersion: version, environment: ["LANG": language])
      return (manager, try await manager.detectEvents())
    }
    var (manager, events) = try await launch("1.0", "en_US")
    #expect(events == [.install])
    await setup.site.log.wait(for: 1)
    #expect(setup.site.log.lines == ["First"])
    try await manager.ensureLocalAvailability(of: pack("First"))
    (manager, events) = try await launch("1.0", "en_US")
    #expect(events == [])
    (manager, events) = try await launch("1.1", "en_US")
    #expect(events == [.update])
    await setup.site.log.wait(for: 2)
    try await manager.ensureLocalAvailability(of: pack("Update"))
    (manager, events) = try await launch("1.1", "de_DE")
    #expect(events == [.languageChange])
    await setup.site.log.wait(for: 3)
    #expect(setup.site.log.lines == ["First", "Update", "German"])
  }

  /// C13: the app's filter applies to packs that a policy fetches, not to the app's own requests.
  @Test func shouldDownload() async throws {
    let setup = try ManagedSetup([try entry("A", policy: .essential(on: [.firstInstallation]))])
    let asked = Log()
    let manager = try setup.manager { options in
      options.shouldDownload = { pack in
        asked.append(pack.id)
        return false
      }
    }
    try await manager.ensureEssential()
    #expect(asked.lines.contains("A") && setup.site.log.lines == [])
    try await manager.ensureLocalAvailability(of: pack("A"))
    #expect(setup.site.log.lines == ["A"])
  }

  /// C16: one progress over all essential packs: the estimate first, then the sum.
  @Test func essentialPacksGateTheLaunch() async throws {
    let setup = try ManagedSetup([
      try entry("A", policy: .essential(on: [.firstInstallation]), size: 300),
      try entry("B", policy: .essential(on: [.firstInstallation]), size: 500),
      try entry("C", policy: .prefetch(on: [.firstInstallation])),
      try entry("D", policy: .essential(on: [.subsequentUpdate])),
    ])
    setup.site.state.withLock { $0.fractions = [(0, 300), (300, 300)] }
    let manager = try setup.manager()
    let progress = manager.essentialProgress
    #expect(progress.fractionCompleted == 0)
    try await manager.ensureEssential()
    #expect(manager.assetPackIsAvailableLocally(withID: "A") && manager.assetPackIsAvailableLocally(withID: "B"))
    #expect(!manager.assetPackIsAvailableLocally(withID: "D"))
    #expect(progress.isFinished && progress.fractionCompleted == 1)
    #expect(progress.completedUnitCount == progress.totalUnitCount)
    // Without a network, the installed packs are sufficient.
    setup.site.state.withLock { $0.listingError = DeliveryError(.unreachable, "no network") }
    let offline = try setup.manager()
    try await offline.ensureEssential()
    #expect(offline.essentialProgress.isFinished && offline.essentialProgress.fractionCompleted == 1)
    try await setup.store.remove("A")
    await #expect(throws: DeliveryError.self) { try await setup.manager().ensureEssential() }
  }

  /// C13: the error names the essential pack that cannot be fetched; the others are installed.
  @Test func essentialFailure() async throws {
    let setup = try ManagedSetup([
      try entry("A", policy: .essential(on: [.firstInstallation])),
      try entry("B", policy: .essential(on: [.firstInstallation])),
    ])
    setup.site.state.withLock { $0.failures["B"] = Array(repeating: DeliveryError(.corrupt, "damaged"), count: 20) }
    let manager = try setup.manager()
    do {
      try await manager.ensureEssential()
      Issue.record("it cannot be there")
    } catch let error as AssetPackManager.LocalAvailabilityError {
      #expect(error.failures.keys.map(\.id) == ["B"])
    }
    #expect(manager.assetPackIsAvailableLocally(withID: "A"))
  }

  /// C6: the downloads that this call starts, without those already in progress.
  @Test func checkForUpdates() async throws {
    let setup = try ManagedSetup([try entry("A"), try entry("B"), try entry("C"), try entry("New")])
    let manager = try setup.manager()
    for name in ["A", "B", "C"] { try await manager.ensureLocalAvailability(of: pack(name)) }
    #expect(try await manager.checkForUpdates() == ([], []))
    let gate = Gate()
    setup.site.state.withLock { state in
      for index in 0..<2 { state.listing.packs[index].offer?.version = 2 }
      for name in ["A", "B"] as [PackID] { state.gates[name] = gate }
    }
    #expect(try await manager.checkForUpdates() == (["A", "B"], []))
    #expect(try await manager.checkForUpdates() == ([], []))
    #expect(try manager.core.journal.read().requests.keys.sorted() == ["A", "B"])
    let updates = manager.statusUpdates(forAssetPackWithID: "A")
    gate.open()
    #expect(await kinds(updates).last == "finished")
    #expect(try manager.localVersion(ofAssetPackWithID: "A") == 2)
  }

  /// C15: a process that was killed between the commit of a pack and its note in the journal: the next one does not fetch it again.
  @Test func requestThatWasMet() async throws {
    let setup = try ManagedSetup([try entry("A")]), manager = try setup.manager()
    try await manager.ensureLocalAvailability(of: pack("A"))
    // The end of the download removes its request on this queue, after the call has returned.
    try manager.core.journalQueue.sync {}
    try manager.core.journal.update { journal in
      journal.packs = [:]
      journal.requests["A"] = Journal.Request(urgency: .prefetch)
    }
    let next = try setup.manager()
    try await next.resumeRequests()
    let journal = try next.core.journal.read()
    #expect(setup.site.log.lines == ["A"])
    #expect(journal.requests.isEmpty && journal.packs["A"]?.root == RootNumber(serial: 1, sequence: 1))
  }

  /// C15: a request ends if no site lists its pack any more; it stays if a site that does not answer may have the pack.
  @Test func requestForAWithdrawnPack() async throws {
    let setup = try ManagedSetup([try entry("A")]), manager = try setup.manager()
    try manager.core.journal.update { $0.requests["Gone"] = Journal.Request(urgency: .prefetch) }
    let silent = StubSite(setup.store, setup.folder)
    silent.state.withLock { $0.listingError = DeliveryError(.unreachable, "no network") }
    let both = try setup.manager { $0.sites = [setup.site, silent] }
    try await both.resumeRequests()
    #expect(try both.core.journal.read().requests.keys.sorted() == ["Gone"])
    let next = try setup.manager()
    try await next.resumeRequests()
    #expect(try next.core.journal.read().requests.isEmpty)
  }

  /// C5, C15: a paused download stays paused in the process that continues it.
  @Test func pauseOutlivesTheProcess() async throws {
    let setup = try ManagedSetup([try entry("A", policy: .prefetch(on: [.firstInstallation]))])
    setup.site.state.withLock { $0.gates["A"] = Gate() }
    do {
      let manager = try setup.manager()
      try await manager.detectEvents()
      await setup.site.log.wait(for: 1)
      #expect(manager.pauseDownload(ofAssetPackWithID: "A"))
      let requests = try manager.core.journalQueue.sync { try manager.core.journal.read().requests }
      #expect(requests["A"]?.isPaused == true)
    }
    setup.site.state.withLock { $0.gates = [:] }
    let manager = try setup.manager()
    let updates = manager.statusUpdates(forAssetPackWithID: "A")
    try await manager.detectEvents()
    #expect(setup.site.log.lines == ["A"])
    #expect(manager.resumeDownload(ofAssetPackWithID: "A"))
    #expect(await kinds(updates).last == "finished")
  }

  /// The next process fetches the packs that an ended process had requested.
  @Test func requestsOutliveTheProcess() async throws {
    let setup = try ManagedSetup([try entry("A", policy: .prefetch(on: [.firstInstallation]))])
    setup.site.state.withLock { $0.gates["A"] = Gate() }
    do {
      let manager = try setup.manager()
      try await manager.detectEvents()
      await setup.site.log.wait(for: 1)
    }
    setup.site.state.withLock { $0.gates = [:] }
    let manager = try setup.manager()
    let updates = manager.statusUpdates(forAssetPackWithID: "A")
    #expect(try await manager.detectEvents() == [])
    #expect(await kinds(updates).last == "finished")
    let left = try manager.core.journalQueue.sync { try manager.core.journal.read().requests }
    #expect(left.isEmpty)
  }
}
