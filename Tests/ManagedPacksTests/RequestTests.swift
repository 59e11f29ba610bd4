import Foundation
import PackDelivery
import PackStore
import Synchronization
import Testing

@testable import ManagedPacks

/// Requests in the journal, with all outcomes of the downloads that they began.
@Suite struct RequestTests {
  private func journal(_ setup: ManagedSetup) throws -> JournalFile {
    try JournalFile(in: GroupFolder(setup.folder.path.appending("group")))
  }

  private func request(_ pack: PackID, isPaused: Bool = false, in setup: ManagedSetup) throws {
    try journal(setup).update { $0.requests[pack] = .init(urgency: .update, isPaused: isPaused) }
  }

  /// The requested packs, after a manager has recorded the events.
  private func requests(_ setup: ManagedSetup, _ manager: AssetPackManager) throws -> [PackID] {
    let journal = try journal(setup)
    return try manager.core.journalQueue.sync { try journal.read().requests.keys.sorted() }
  }

  /// An event that requests a pack again does not resume a paused download, and the urgency of a request does not fall.
  @Test func pausedRequestsStayPaused() async throws {
    let policy = DownloadPolicy.prefetch(on: [.firstInstallation])
    let setup = try ManagedSetup([try entry("A", policy: policy), try entry("B", policy: policy)])
    try request("A", isPaused: true, in: setup)
    setup.site.state.withLock { $0.gates["B"] = Gate() }
    let manager = try setup.manager()
    #expect(try await manager.handle(.install) == ["A", "B"])
    let requests = try journal(setup).read().requests
    #expect(try manager.core.scheduler.openDownloads == ["A": true, "B": false])
    #expect(requests["A"] == .init(urgency: .prefetch, isPaused: true))
    #expect(requests["B"] == .init(urgency: .prefetch))
    var journal = Journal()
    for (urgency, expected) in [(Urgency.prefetch, Urgency.prefetch), (.essential, .essential), (.update, .essential)] {
      journal.want("A", urgency)
      #expect(journal.requests["A"] == .init(urgency: expected))
    }
  }

  /// A waiting task ends: the requests of a policy or of another process remain.
  @Test func aTaskThatLeavesForgetsNothing() async throws {
    let setup = try ManagedSetup([try entry("A")]), manager = try setup.manager()
    try request("A", in: setup)
    setup.site.state.withLock { $0.gates["A"] = Gate() }
    let task = Task { try await manager.ensureLocalAvailability(of: pack("A")) }
    await setup.site.log.wait(for: 1)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    try await manager.core.scheduler.stop("A", CancellationError())
    #expect(try requests(setup, manager) == ["A"])
    // A person's word counts.
    let second = Task { try await manager.ensureLocalAvailability(of: pack("A")) }
    await setup.site.log.wait(for: 2)
    #expect(manager.cancelDownload(ofAssetPackWithID: "A"))
    await #expect(throws: CancellationError.self) { try await second.value }
    #expect(try requests(setup, manager).isEmpty)
  }

  /// A site whose pulls, also the cancelled ones, end when the test allows it.
  private struct StubbornSite: PackSite {
    let log = Log(), site: StubSite, gates: [Gate]
    let location = "stubborn"
    func listing() async throws -> SiteListing { try await site.listing() }
    func pull(
      _ pack: PackID, pause: Store.PullPause, progress: @escaping @Sendable (Store.PullProgress) -> Void
    ) async throws -> PulledPack {
      let number = log.lines.count
      log.append("\(number)")
      try await Task { try await gates[number].pass() }.value
      try Task.checkCancellation()
      return try await site.pull(pack, pause: pause, progress: progress)
    }
  }

  /// A request during the end of the previous download stays in the journal until the pack is installed.
  @Test func askedForWhileOneEnds() async throws {
    let setup = try ManagedSetup([try entry("A")])
    let site = StubbornSite(site: setup.site, gates: [Gate(), Gate()])
    let manager = try setup.manager { $0.sites = [site] }, core = try manager.core
    #expect(try core.register([pack("A")], .update) == ["A"])
    await site.log.wait(for: 1)
    #expect(manager.cancelDownload(ofAssetPackWithID: "A"))
    #expect(try core.register([pack("A")], .update) == ["A"])
    site.gates[0].open()
    await site.log.wait(for: 2)
    #expect(try requests(setup, manager) == ["A"])
    let updates = manager.statusUpdates(forAssetPackWithID: "A")
    site.gates[1].open()
    #expect(await kinds(updates).last == "finished")
    #expect(try requests(setup, manager).isEmpty)
  }

  /// Removing a pack that any process has requested and that is not installed yet.
  @Test func removedBeforeItCame() async throws {
    let setup = try ManagedSetup([try entry("A")]), manager = try setup.manager()
    try request("A", in: setup)
    try await manager.remove(assetPackWithID: "A")
    #expect(try journal(setup).read().requests.isEmpty && journal(setup).read().seen == ["A"])
    for id in ["A", "no/pack", ""] {
      await #expect(throws: ManagedBackgroundAssetsError.assetPackNotFound(withID: id)) {
        try await manager.remove(assetPackWithID: id)
      }
    }
    #expect(try journal(setup).read().seen == ["A"], "what is nowhere is not remembered")
  }

  /// The journal forgets packs that are nowhere any more.
  @Test func forgottenPacks() async throws {
    let policy = DownloadPolicy.prefetch(on: [.firstInstallation])
    let setup = try ManagedSetup(try ["A", "B", "C"].map { try entry($0, policy: policy) })
    setup.site.state.withLock { $0.failures["B"] = [DeliveryError(.corrupt, "damaged")] }
    let manager = try setup.manager()
    try await manager.handle(.install)
    try? await manager.finishRequests()
    let names: Set<PackID> = ["A", "B", "C"]
    #expect(try journal(setup).read().seen == names)
    try await manager.remove(assetPackWithID: "C")
    setup.site.state.withLock { $0.listing.packs.removeFirst(2) }
    try await manager.handle(.periodic)
    // A is installed, C is listed.
    #expect(try journal(setup).read().seen == ["A", "C"])
    #expect(try journal(setup).read().packs.keys.sorted() == ["A"])
    // What only other apps' sites list stays while there is room.
    var shared = Journal()
    shared.registrations = ["a": .init(), "b": .init()]
    shared.seen = names
    shared.dropForgotten(listed: { _ in false }, local: { $0 == "A" })
    #expect(shared.seen == names)
    shared.seen = try Set((0...Journal.countLimit / 2).map { try PackID(validating: "P\($0)") } + ["A"])
    shared.dropForgotten(listed: { _ in false }, local: { $0 == "A" })
    #expect(shared.seen == ["A"])
  }

  /// A pull on a full disk continues if another writer frees space; otherwise the full disk is reported.
  @Test(arguments: [(1, true), (2, false)]) func fullDisk(failureCount: Int, comes: Bool) async throws {
    let setup = try ManagedSetup([try entry("A")]), manager = try setup.manager()
    setup.site.state.withLock {
      $0.failures["A"] = Array(repeating: PackStoreError(.noSpace, "the disk is full"), count: failureCount)
    }
    do {
      try await manager.ensureLocalAvailability(of: pack("A"))
      #expect(comes)
    } catch let error as PackStoreError {
      #expect(!comes && error.code == .noSpace)
    }
    #expect(manager.assetPackIsAvailableLocally(withID: "A") == comes && setup.site.log.lines.count == 2)
  }

  /// C16: the progress of an installation never falls, also if a pack fails and is requested again.
  @Test func essentialProgressNeverFalls() async throws {
    let policy = DownloadPolicy.essential(on: [.firstInstallation])
    let setup = try ManagedSetup([
      try entry("A", policy: policy, size: 300), try entry("B", policy: policy, size: 100),
    ])
    setup.site.state.withLock { state in
      state.failures["B"] = Array(repeating: DeliveryError(.corrupt, "damaged"), count: 20)
      state.fractions = [(0, 100), (40, 100)]
    }
    let manager = try setup.manager(), progress = manager.essentialProgress
    await #expect(throws: AssetPackManager.LocalAvailabilityError.self) { try await manager.ensureEssential() }
    let (fraction, bytes) = (progress.fractionCompleted, progress.completedUnitCount)
    #expect(fraction < 1 && !progress.isFinished)
    let gate = Gate(), pullCount = setup.site.log.lines.count
    setup.site.state.withLock { state in
      state.failures["B"] = []
      state.gates["B"] = gate
      state.fractions = [(0, 100), (100, 100)]
    }
    let task = Task { try await manager.ensureEssential() }
    await setup.site.log.wait(for: pullCount + 1)
    #expect(progress.fractionCompleted >= fraction && progress.completedUnitCount >= bytes)
    gate.open()
    try await task.value
    #expect(progress.isFinished && progress.fractionCompleted == 1)
    #expect(progress.completedUnitCount == progress.totalUnitCount && progress.completedUnitCount >= bytes)
  }
}
