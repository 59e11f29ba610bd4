import Foundation
import PackDelivery
import PackStore
import Synchronization
import Testing

@testable import ManagedPacks

/// C16: the order of an installation: waiting for a network, essential packs with one progress, an app that can start,
/// their results, then the other packs; and the actions of a user during the installation.
@Suite struct InstallationTests {
  private static let first = [InstallationEvent.firstInstallation] as Set

  /// Two essential packs, and two that are not.
  private func setUp() throws -> ManagedSetup {
    try ManagedSetup([
      try entry("A", policy: .essential(on: Self.first), size: 300),
      try entry("B", policy: .essential(on: Self.first), size: 500),
      try entry("C", policy: .prefetch(on: Self.first)), try entry("D", policy: .prefetch(on: Self.first)),
    ])
  }

  // MARK: - The order

  /// No other pack is requested before the last essential one is installed; then all are requested at once.
  @Test func essentialPacksComeFirst() async throws {
    let setup = try setUp(), gate = Gate()
    setup.site.state.withLock { $0.gates["B"] = gate }
    let manager = try setup.manager()
    let updates = manager.statusUpdates(forAssetPackWithID: "A")
    let waiting = Task { try await manager.ensureEssential() }
    #expect(await kinds(updates).last == "finished")
    await setup.site.log.wait(for: 2)
    #expect(Set(setup.site.log.lines) == ["A", "B"])
    #expect(try manager.core.scheduler.openDownloads.keys.sorted() == ["B", "C", "D"])
    gate.open()
    try await waiting.value
    await setup.site.log.wait(for: 4)
    #expect(Set(setup.site.log.lines.suffix(2)) == ["C", "D"])
  }

  /// An essential pack that fails keeps the others from starting no longer than it is tried.
  @Test func anEssentialFailureLetsTheOthersStart() async throws {
    let setup = try setUp()
    // The event requests it, and so does the waiting task.
    setup.site.state.withLock { $0.failures["B"] = Array(repeating: DeliveryError(.corrupt, "damaged"), count: 20) }
    let manager = try setup.manager()
    await #expect(throws: AssetPackManager.LocalAvailabilityError.self) { try await manager.ensureEssential() }
    for id in ["C", "D"] { try await manager.ensureLocalAvailability(of: pack(id)) }
    #expect(Set(setup.site.log.lines) == ["A", "B", "C", "D"])
  }

  /// A pack that the app waits for starts together with essential packs.
  @Test func theForegroundIsNotHeldBack() async throws {
    let setup = try setUp(), gate = Gate()
    setup.site.state.withLock { $0.gates = ["A": gate, "B": gate] }
    let manager = try setup.manager()
    #expect(try await manager.detectEvents() == [.install])
    // C takes one of the places that essential packs have.
    let own = try setup.manager { $0.rules.concurrentDownloadCount = 3 }
    _ = try await own.handle(.install)
    try await own.ensureLocalAvailability(of: pack("C"))
    #expect(own.assetPackIsAvailableLocally(withID: "C") && !own.assetPackIsAvailableLocally(withID: "A"))
    gate.open()
  }

  // MARK: - The network

  /// An installation waits a few seconds for a network, in growing steps; the app's own requests do not wait.
  @Test(arguments: [(0, []), (2, [1, 2]), (3, [1, 2, 2])] as [(Int, [Int])])
  func waitsForANetwork(failureCount: Int, delays: [Int]) async throws {
    let setup = try setUp(), slept = Mutex<[Duration]>([]), site = setup.site
    if failureCount > 0 { site.state.withLock { $0.listingError = DeliveryError(.unreachable, "no network") } }
    let manager = try setup.manager { options in
      options.clock.sleep = { duration in
        let count = slept.withLock { slept in
          slept.append(duration)
          return slept.count
        }
        if count == failureCount { site.state.withLock { $0.listingError = nil } }
      }
    }
    try await manager.ensureEssential()
    #expect(slept.withLock { $0 } == delays.map { .seconds($0) })
    slept.withLock { $0 = [] }
    site.state.withLock { $0.listingError = DeliveryError(.unreachable, "no network") }
    await #expect(throws: DeliveryError.self) { try await manager.manifest }
    await #expect(throws: DeliveryError.self) { try await manager.handle(.periodic) }
    await #expect(throws: DeliveryError.self) {
      try await manager.ensureLocalAvailability(of: pack("A"), requireLatestVersion: true)
    }
    #expect(slept.withLock { $0 }.isEmpty)
  }

  /// A longer time without a network is reported to the app; errors that do not concern the network are reported at
  /// once.
  @Test func withoutANetwork() async throws {
    let setup = try setUp(), slept = Mutex(0)
    let manager = try setup.manager { $0.clock.sleep = { _ in slept.withLock { $0 += 1 } } }
    setup.site.state.withLock { $0.listingError = DeliveryError(.unreachable, "no network") }
    await #expect(throws: DeliveryError.self) { try await manager.ensureEssential() }
    #expect(slept.withLock { $0 } == 3)
    setup.site.state.withLock { $0.listingError = DeliveryError(.badSignature, "forged") }
    await #expect(throws: DeliveryError.self) { try await manager.ensureEssential() }
    #expect(slept.withLock { $0 } == 3)
  }

  /// How often a download is tried again that fails: never for the foreground, twice when it is essential, eight times otherwise.
  @Test(arguments: [("A", 2), ("C", 8), ("E", 0)]) func tries(pack id: String, count: Int) async throws {
    let setup = try setUp()
    setup.site.state.withLock { state in
      state.listing.packs.append(try! entry("E"))
      state.failures[try! PackID(validating: id)] = Array(
        repeating: DeliveryError(.unreachable, "no network"), count: 20)
    }
    let manager = try setup.manager(), updates = manager.statusUpdates(forAssetPackWithID: id)
    if id == "E" {
      await #expect(throws: DeliveryError.self) { try await manager.ensureLocalAvailability(of: pack("E")) }
    } else {
      try await manager.handle(.install)
    }
    #expect(await kinds(updates).last == "failed")
    #expect(setup.site.log.lines.filter { $0 == id }.count == count + 1)
  }

  // MARK: - The progress

  /// First the estimate of the property list, then the sum.
  @Test func estimateThenSum() async throws {
    let setup = try setUp(), gate = Gate()
    setup.site.state.withLock { state in
      state.fractions = [(0, 400), (400, 400)]
      state.gates = ["A": gate, "B": gate]
    }
    var options = AssetPackManager.Options()
    options.store = setup.store
    options.sites = [setup.site]
    options.environment = [:]
    let configuration = try ManagedConfiguration(
      appGroupID: "g", sites: [.init("stub")], appID: "app", essentialByteCount: 5000,
      groupFolder: setup.folder.path.appending("group"))
    let manager = try AssetPackManager(configuration: configuration, options: options)
    let progress = manager.essentialProgress
    #expect(progress.totalUnitCount == 5000 && progress.fractionCompleted == 0)
    let waiting = Task { try await manager.ensureEssential() }
    await setup.site.log.wait(for: 2)
    gate.open()
    try await waiting.value
    #expect(progress.totalUnitCount == 800)
    #expect(progress.completedUnitCount == 800)
    #expect(progress.isFinished && progress.fractionCompleted == 1)
  }

  /// A pack is in the store before the scheduler finishes the progress of its download.
  @Test func aPackThatIsPresentCountsBeforeItsProgressIsFinished() {
    let installation = InstallationProgress(estimate: 5000) { _ in }
    let present = DownloadProgress(estimate: 300) { _ in }
    installation.note(["Present": (present, 300)])
    present.record(completed: 300, total: 300)
    installation.set(parts: [:], present: ["Present"])
    installation.finish()
    #expect(installation.completedUnitCount == 300 && installation.totalUnitCount == 300)
  }

  /// A registered pack may be installed before the contents of the installation are known.
  @Test func whatCameBeforeTheQuestionCounts() {
    let installation = InstallationProgress(estimate: 5000) { _ in }
    let come = DownloadProgress(estimate: 300) { _ in }, open = DownloadProgress(estimate: 100) { _ in }
    let cancelled = DownloadProgress(estimate: 200) { _ in }
    installation.note(["Come": (come, 300), "Cancelled": (cancelled, 200)])
    #expect(installation.totalUnitCount == 5000, "the sum is not known yet")
    come.record(completed: 300, total: 300)
    come.finish()
    installation.set(parts: ["Open": (open, 100)])
    #expect(installation.totalUnitCount == 400 && installation.completedUnitCount == 300)
    #expect(abs(installation.fractionCompleted - 0.75) < 0.001 && !installation.isFinished)
    // Asked again: nothing falls, and nothing counts twice.
    installation.set(parts: ["Open": (open, 100)])
    #expect(installation.totalUnitCount == 400 && abs(installation.fractionCompleted - 0.75) < 0.001)
    open.record(completed: 50, total: 100)
    #expect(abs(installation.fractionCompleted - 0.875) < 0.001)
    open.finish()
    installation.finish()
    #expect(installation.completedUnitCount == 350 && installation.totalUnitCount == 350)
    #expect(installation.fractionCompleted == 1 && installation.isFinished)
  }

  /// A repeated request replaces the previous download, which no longer counts, with any result.
  @Test func whatIsAskedForAgainCountsOnce() {
    let installation = InstallationProgress(estimate: 0) { _ in }
    let first = DownloadProgress(estimate: 100) { _ in }, second = DownloadProgress(estimate: 100) { _ in }
    installation.set(parts: ["A": (first, 100)])
    first.record(completed: 50, total: 100)
    installation.set(parts: ["A": (second, 100)])
    #expect(installation.totalUnitCount == 150 && installation.completedUnitCount == 50)
    first.finish()
    #expect(abs(installation.fractionCompleted - 0.5) < 0.001)
    second.record(completed: 50, total: 100)
    #expect(abs(installation.fractionCompleted - 0.75) < 0.001)
  }

  /// A pack that did not come, and was then fetched by itself, leaves no part that never ends.
  @Test func whatFailedAndCameOtherwiseIsNoPart() async throws {
    let setup = try setUp()
    setup.site.state.withLock { state in
      state.fractions = [(0, 100), (40, 100)]
      state.failures["B"] = Array(repeating: DeliveryError(.corrupt, "damaged"), count: 20)
    }
    let manager = try setup.manager(), progress = manager.essentialProgress
    await #expect(throws: AssetPackManager.LocalAvailabilityError.self) { try await manager.ensureEssential() }
    #expect(!progress.isFinished && progress.fractionCompleted < 1)
    setup.site.state.withLock { $0.failures = [:] }
    try await manager.ensureLocalAvailability(of: pack("B"))
    try await manager.ensureEssential()
    #expect(progress.isFinished && progress.fractionCompleted == 1)
    #expect(progress.completedUnitCount == progress.totalUnitCount)
  }

  /// Where a person cancels or pauses.
  enum Point: String, CaseIterable {
    /// Before anything was asked.
    case before
    /// While a network is waited for.
    case network
    /// While requests to the sites are in progress.
    case question
    /// While packs come.
    case running
    /// While one waits for another try.
    case waiting
  }

  /// An installation that stops at a point, and the signal that continues it.
  private struct Stop {
    let setup: ManagedSetup
    let manager: AssetPackManager
    let reached: Gate
    let goOn: Gate
  }

  private func stop(at point: Point) throws -> Stop {
    let setup = try setUp(), site = setup.site, reached = Gate(), goOn = Gate()
    switch point {
    case .before, .question: break
    case .network: site.state.withLock { $0.listingError = DeliveryError(.unreachable, "no network") }
    case .running: site.state.withLock { $0.gates = ["A": goOn, "B": goOn] }
    case .waiting:
      site.state.withLock { state in
        for id in ["A", "B"] as [PackID] { state.failures[id] = [DeliveryError(.unreachable, "no network")] }
      }
    }
    let manager = try setup.manager { options in
      options.clock.sleep = { _ in
        reached.open()
        try await goOn.pass()
        site.state.withLock { $0.listingError = nil }
      }
      if point == .question {
        options.filter = { _, packs in
          reached.open()
          _ = try? await goOn.pass()
          return FilterAnswer(wanted: Set(packs.map(\.id)))
        }
      }
    }
    return Stop(setup: setup, manager: manager, reached: reached, goOn: goOn)
  }

  /// Begins an installation and returns at the point.
  private func begin(_ stop: Stop, _ point: Point) async throws -> Task<Void, any Error> {
    let manager = stop.manager
    let task = Task { try await manager.ensureEssential() }
    if point == .running { await stop.setup.site.log.wait(for: 2) } else { try await stop.reached.pass() }
    return task
  }

  /// A cancel ends the installation at each point, once and for all; the next one brings everything.
  @Test(arguments: Point.allCases.filter { $0 != .before }) func cancel(at point: Point) async throws {
    let stop = try stop(at: point), progress = stop.manager.essentialProgress
    let task = try await begin(stop, point)
    progress.cancel()
    progress.cancel()
    stop.goOn.open()
    await #expect(throws: (any Error).self) { try await task.value }
    #expect(progress.isCancelled && !stop.manager.assetPackIsAvailableLocally(withID: "A"))
    stop.setup.site.state.withLock { $0.gates = [:] }
    try await stop.manager.ensureEssential()
    #expect(stop.manager.assetPackIsAvailableLocally(withID: "A"))
    #expect(stop.manager.assetPackIsAvailableLocally(withID: "B") && !progress.isCancelled)
    #expect(progress.isFinished && progress.fractionCompleted == 1)
    #expect(progress.completedUnitCount == progress.totalUnitCount)
  }

  /// A request that was read before the user cancelled its download is not continued.
  @Test func aCancelledRequestIsNotContinued() async throws {
    let setup = try setUp(), essential = Gate(), others = Gate()
    setup.site.state.withLock { $0.gates = ["A": essential, "B": essential, "C": others, "D": others] }
    let manager = try setup.manager(), core = try manager.core, catalog = try await core.catalog()
    #expect(try await manager.detectEvents() == [.install])
    let requests = try core.journal.read().requests
    #expect(Set(requests.keys) == ["A", "B", "C", "D"])
    core.scheduler.controlEssential(.cancel)
    // The pulls of both packs may still be running.
    let taken = try core.takeUp(requests, catalog, forgetsUnlisted: false)
    #expect(taken.essential.isEmpty)
    #expect(core.scheduler.openDownloads.keys.sorted() == ["C", "D"])
    essential.open()
    for id in ["A", "B"] { await core.scheduler.stop(id, CancellationError()) }
    others.open()
    // A pack is complete before its download ends.
    for id in ["C", "D"] { try await core.scheduler.fetch(#require(catalog.pack(id)), .foreground, opensNew: false) }
    core.journalQueue.sync {}
    #expect(try core.journal.read().requests.isEmpty)
    #expect(!manager.assetPackIsAvailableLocally(withID: "A") && !manager.assetPackIsAvailableLocally(withID: "B"))
  }

  /// A resume that comes while a pause is applied to new downloads is not lost.
  @Test func aResumeDuringAPauseIsApplied() throws {
    let commands = Mutex<[DownloadProgress.Command]>([]), held = Mutex<InstallationProgress?>(nil)
    let installation = InstallationProgress(estimate: 0) { command in
      let isFirst = commands.withLock { commands in
        commands.append(command)
        return commands.count == 2
      }
      // The user resumes before the second pause takes effect.
      if isFirst { held.withLock { $0 }?.resume() }
    }
    held.withLock { $0 = installation }
    installation.pause()
    installation.applyPause()
    #expect(commands.withLock { $0 } == [.pause, .pause, .resume, .resume] && !installation.isPaused)
    held.withLock { $0 = nil }
  }

  /// A pause holds the installation at each point, with all that is behind it, until it is resumed.
  @Test(arguments: Point.allCases) func pause(at point: Point) async throws {
    let stop = try stop(at: point), progress = stop.manager.essentialProgress
    if point == .before { progress.pause() }
    let task: Task<Void, any Error>
    if point == .before {
      let manager = stop.manager
      task = Task { try await manager.ensureEssential() }
    } else {
      task = try await begin(stop, point)
      progress.pause()
    }
    let scheduler = try stop.manager.core.scheduler
    stop.goOn.open()
    while scheduler.openDownloads["A"] != true || scheduler.openDownloads["B"] != true { await Task.yield() }
    #expect(progress.isPaused && scheduler.heldBack == ["C", "D"])
    #expect(!stop.manager.assetPackIsAvailableLocally(withID: "A"))
    #expect(!stop.setup.site.log.lines.contains("C"))
    progress.resume()
    try await task.value
    #expect(stop.manager.assetPackIsAvailableLocally(withID: "A") && !progress.isPaused)
    for id in ["C", "D"] { try await stop.manager.ensureLocalAvailability(of: pack(id)) }
  }

  // MARK: - Extensions and results

  /// An app whose extension crashes can start at once, and its packs are fetched even so.
  @Test func aCrashMakesTheAppLaunchable() async throws {
    let setup = try setUp(), gate = Gate()
    setup.site.state.withLock { $0.gates = ["A": gate, "B": gate] }
    let manager = try setup.manager { options in
      options.filter = { _, packs in FilterAnswer(wanted: Set(packs.map(\.id)), hasCrashed: true) }
    }
    try await manager.ensureEssential()
    #expect(!manager.assetPackIsAvailableLocally(withID: "A"))
    gate.open()
    for id in ["A", "B", "C"] { try await manager.ensureLocalAvailability(of: pack(id)) }
    #expect(setup.site.log.lines.sorted().prefix(2) == ["A", "B"])
  }

  /// The agent reports once that an app can start, with the results of all essential packs.
  @Test(arguments: ["well", "failure", "crash"]) func theAgentTellsOnce(kind: String) async throws {
    let setup = try AgentTests.Setup([
      try entry("A", policy: .essential(on: Self.first)), try entry("B", policy: .essential(on: Self.first)),
      try entry("C", policy: .prefetch(on: Self.first)),
    ])
    if kind == "failure" { setup.site.state.withLock { $0.failures["B"] = [DeliveryError(.corrupt, "damaged")] } }
    let told = Log()
    let agent = setup.agent { options in
      options.tell = { notice in
        told.append(notice.kind == .launchable ? notice.text : "\(notice.kind) \(notice.pack ?? "")")
      }
      if kind == "crash" {
        options.manager.filter = { _, packs in FilterAnswer(wanted: Set(packs.map(\.id)), hasCrashed: true) }
      }
    }
    #expect(try await agent.handle(.install, app: nil) == ["A", "B", "C"])
    _ = try await agent.finishRequests()
    // The agent reports a failure after it has received it, which may be later.
    func isReported() -> Bool {
      told.lines.contains { $0.hasPrefix("the app can start") } && told.lines.contains("began C")
    }
    while !isReported() { await Task.yield() }
    withExtendedLifetime(agent) {}
    let lines = told.lines.filter { $0.hasPrefix("the app can start") }
    #expect(lines.count == 1)
    let line = lines.first ?? ""
    switch kind {
    case "well": #expect(line == "the app can start: installed A, B")
    case "failure": #expect(line.hasPrefix("the app can start: installed A; B failed (") && line.contains("damaged"))
    default: #expect(line == "the app can start: its extension exited before answering; pending: A, B")
    }
    // The rest begins when all essential packs have ended, and the app hears of these first.
    let began = try #require(told.lines.firstIndex(of: "began C"))
    let ended = try #require(told.lines.lastIndex { $0 == "finished A" || $0.hasSuffix("ed B") })
    #expect(began > ended)
    #expect(try setup.store.packs().map(\.id).contains("C"))
  }
}
