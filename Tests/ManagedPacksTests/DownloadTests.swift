import Foundation
import PackStore
import Synchronization
import Testing

@testable import ManagedPacks

@Suite struct DownloadTests {
  /// C4: began, downloading, finished, for one pack and for all.
  @Test func updatesComeInOrder() async throws {
    let setup = try ManagedSetup([try entry("A")]), manager = try setup.manager()
    let all = manager.statusUpdates.makeAsyncIterator()
    let updates = manager.statusUpdates(forAssetPackWithID: "A")
    try await manager.ensureLocalAvailability(of: try pack("A"))
    let seen = await kinds(updates)
    #expect(seen.first == "began" && seen.last == "finished")
    #expect(seen.dropFirst().dropLast().allSatisfy { $0 == "downloading" } && seen.count >= 3)
    var iterator = all
    #expect(await iterator.next()?.kind == "began")
  }

  /// C3: who asks for a pack that is under way joins its download.
  @Test func joinsARunningDownload() async throws {
    let setup = try ManagedSetup([try entry("A")]), manager = try setup.manager(), gate = Gate()
    setup.site.state.withLock { $0.gates["A"] = gate }
    let wanted = try pack("A")
    try await withThrowingTaskGroup { group in
      for _ in 0..<5 { group.addTask { try await manager.ensureLocalAvailability(of: wanted) } }
      await setup.site.log.wait(for: 1)
      gate.open()
      try await group.waitForAll()
    }
    #expect(setup.site.log.lines == ["A"])
    try await manager.ensureLocalAvailability(of: wanted)
    #expect(setup.site.log.lines == ["A"])  // it is installed: no request
  }

  /// C3: an update is awaited if the latest version is required; otherwise no site is contacted.
  @Test func latestVersion() async throws {
    let setup = try ManagedSetup([try entry("A")]), manager = try setup.manager()
    let first = try await manager.assetPack(withID: "A")
    try await manager.ensureLocalAvailability(of: first)
    setup.site.state.withLock { $0.listing.packs[0].offer?.version = 2 }
    try await manager.ensureLocalAvailability(of: first)
    #expect(try manager.localVersion(ofAssetPackWithID: "A") == 1)
    try await manager.ensureLocalAvailability(of: first, requireLatestVersion: true)
    #expect(try manager.localVersion(ofAssetPackWithID: "A") == 2)
    setup.site.state.withLock { $0.listingError = DeliveryError(.unreachable, "no network") }
    try await manager.ensureLocalAvailability(of: first)
    await #expect(throws: DeliveryError.self) {
      try await manager.ensureLocalAvailability(of: first, requireLatestVersion: true)
    }
  }

  /// C3, C14: failing packs do not keep the others from being fetched, for any number of failures.
  @Test(arguments: [[], ["A"], ["B"], ["A", "B"], ["A", "B", "C"]])
  func batchWithPartialFailure(failing: [String]) async throws {
    let names = ["A", "B", "C"]
    let setup = try ManagedSetup(try names.map { try entry($0) }), manager = try setup.manager()
    for name in failing {
      setup.site.state.withLock { $0.failures[try! PackID(validating: name)] = [DeliveryError(.corrupt, "damaged")] }
    }
    let packs = try await manager.allAssetPacks
    do {
      try await manager.ensureLocalAvailability(of: packs)
      #expect(failing.isEmpty)
    } catch let error as AssetPackManager.LocalAvailabilityError {
      #expect(Set(error.failures.keys.map(\.id)) == Set(failing))
      #expect(Set(error.successes.map(\.id)) == Set(names).subtracting(failing))
      #expect(error.errorCode == 2 && (error as NSError).domain == "BAManagedErrorDomain")
    }
    for name in names { #expect(manager.assetPackIsAvailableLocally(withID: name) == !failing.contains(name)) }
  }

  enum Moment: CaseIterable, Sendable { case running, paused, queued, retrying }

  /// C5: a download is cancelled in each state, twice, and begins again afterwards.
  @Test(arguments: Moment.allCases) func cancelTwice(in moment: Moment) async throws {
    let setup = try ManagedSetup([try entry("A"), try entry("Other")])
    let sleeping = Log()
    let never = Gate()
    let manager = try setup.manager { options in
      options.rules.concurrentDownloadCount = 1
      options.clock.sleep = { _ in
        sleeping.append("sleep")
        try await never.pass()
      }
    }
    let gate = Gate(), otherGate = Gate(), wanted = try pack("A")
    setup.site.state.withLock { state in
      state.gates["A"] = gate
      state.gates["Other"] = otherGate
    }
    if moment == .queued {
      let other = try pack("Other")
      try manager.core.scheduler.request(other, .prefetch)
      await setup.site.log.wait(for: 1)
    }
    if moment == .retrying {
      gate.open()
      setup.site.state.withLock { $0.failures["A"] = [DeliveryError(.unreachable, "no network")] }
    }
    let updates = manager.statusUpdates(forAssetPackWithID: "A")
    try manager.core.scheduler.request(wanted, .prefetch)
    switch moment {
    case .running: await setup.site.log.wait(for: 1)
    case .paused:
      await setup.site.log.wait(for: 1)
      #expect(manager.pauseDownload(ofAssetPackWithID: "A"))
    case .queued: break
    case .retrying: await sleeping.wait(for: 1)
    }
    #expect(manager.cancelDownload(ofAssetPackWithID: "A"))
    #expect(!manager.cancelDownload(ofAssetPackWithID: "A"))
    let seen = await kinds(updates)
    #expect(seen.first == "began" && seen.last == "failed" && seen.count(where: { $0 == "failed" }) == 1)
    #expect(!manager.cancelDownload(ofAssetPackWithID: "A"))
    #expect(!manager.assetPackIsAvailableLocally(withID: "A"))
    gate.open()
    otherGate.open()
    try await manager.ensureLocalAvailability(of: wanted)
    #expect(manager.assetPackIsAvailableLocally(withID: "A"))
  }

  /// C5: by the progress that listeners get; twice, and after the end.
  @Test func cancelByProgress() async throws {
    let setup = try ManagedSetup([try entry("A")]), manager = try setup.manager(), gate = Gate()
    setup.site.state.withLock { $0.gates["A"] = gate }
    let wanted = try pack("A")
    let updates = manager.statusUpdates(forAssetPackWithID: "A")
    let waiting = Task { try await manager.ensureLocalAvailability(of: wanted) }
    var kept: Progress?
    for await update in updates {
      guard case .downloading(_, let progress) = update else { continue }
      #expect(progress.isCancellable && progress.isPausable)
      kept = progress
      progress.cancel()
      progress.cancel()
    }
    await #expect(throws: CancellationError.self) { try await waiting.value }
    #expect(kept?.isCancelled == true)
    gate.open()
    try await manager.ensureLocalAvailability(of: wanted)
    kept?.cancel()  // the task of an ended download
    #expect(manager.assetPackIsAvailableLocally(withID: "A"))
  }

  /// C5: a download that was cancelled and asked for again before it had stopped.
  @Test func askedForWhileItIsCancelled() async throws {
    let setup = try ManagedSetup([try entry("A")]), manager = try setup.manager(), gate = Gate()
    setup.site.state.withLock { $0.gates["A"] = gate }
    let wanted = try pack("A")
    try manager.core.scheduler.request(wanted, .prefetch)
    await setup.site.log.wait(for: 1)
    #expect(manager.cancelDownload(ofAssetPackWithID: "A"))
    gate.open()
    try await manager.ensureLocalAvailability(of: wanted)
    #expect(manager.assetPackIsAvailableLocally(withID: "A"))
  }

  /// C5: a paused download stays paused until it is resumed, and gives its slot to another.
  @Test func pauseAndResume() async throws {
    let setup = try ManagedSetup([try entry("A"), try entry("B")])
    let manager = try setup.manager { $0.rules.concurrentDownloadCount = 1 }
    let gate = Gate()
    setup.site.state.withLock { $0.gates["A"] = gate }
    let updates = manager.statusUpdates(forAssetPackWithID: "A")
    try manager.core.scheduler.request(pack("A"), .prefetch)
    await setup.site.log.wait(for: 1)
    #expect(manager.pauseDownload(ofAssetPackWithID: "A"))
    gate.open()
    try manager.core.scheduler.request(pack("B"), .prefetch)
    for await update in manager.statusUpdates(forAssetPackWithID: "B") where update.kind == "finished" { break }
    #expect(manager.assetPackIsAvailableLocally(withID: "B") && !manager.assetPackIsAvailableLocally(withID: "A"))
    #expect(manager.resumeDownload(ofAssetPackWithID: "A"))
    let seen = await kinds(updates)
    #expect(seen.last == "finished")
    let states = seen.filter { $0 != "downloading" }
    #expect(states == ["began", "paused", "began", "finished"])
    #expect(setup.site.log.lines == ["A", "B"])  // one pull, which went on
    #expect(!manager.pauseDownload(ofAssetPackWithID: "A") && !manager.resumeDownload(ofAssetPackWithID: "A"))
  }

  /// The most urgent download starts first; a request of higher urgency moves a download up.
  @Test func order() async throws {
    let names = ["First", "Update", "Prefetch", "Promoted"]
    let setup = try ManagedSetup(try names.map { try entry($0) }), gate = Gate()
    let manager = try setup.manager { $0.rules.concurrentDownloadCount = 1 }
    setup.site.state.withLock { $0.gates["First"] = gate }
    let scheduler = try manager.core.scheduler
    try scheduler.request(pack("First"), .update)
    try scheduler.request(pack("Update"), .update)
    try scheduler.request(pack("Promoted"), .update)
    try scheduler.request(pack("Prefetch"), .prefetch)
    await setup.site.log.wait(for: 1)
    // The app's own downloads do not wait for those in the background.
    try await manager.ensureLocalAvailability(of: pack("Promoted"))
    #expect(setup.site.log.lines == ["First", "Promoted"])
    gate.open()
    await setup.site.log.wait(for: 4)
    #expect(setup.site.log.lines == ["First", "Promoted", "Prefetch", "Update"])
  }

  /// A download that the app does not wait for is retried; an awaited one reports the error at once.
  @Test(arguments: [(Urgency.foreground, 1), (.essential, 3), (.prefetch, 4), (.update, 4)])
  func retries(urgency: Urgency, tryCount: Int) async throws {
    let setup = try ManagedSetup([try entry("A")])
    let manager = try setup.manager { $0.rules.retryLimit = 3 }
    setup.site.state.withLock {
      $0.failures["A"] = Array(repeating: DeliveryError(.unreachable, "no network"), count: 9)
    }
    let updates = manager.statusUpdates(forAssetPackWithID: "A")
    try manager.core.scheduler.request(pack("A"), urgency)
    #expect(await kinds(updates).last == "failed")
    #expect(setup.site.log.lines.count == tryCount)
  }

  @Test(arguments: [(1, 2.0), (2, 4.0), (3, 8.0), (9, 512.0), (10, 900.0), (1_000_000, 900.0), (0, 2.0), (-5, 2.0)])
  func delays(failureCount: Int, seconds: Double) {
    #expect(DownloadRules().retryDelay(failureCount: failureCount, chance: 0) == .seconds(seconds))
    #expect(DownloadRules().retryDelay(failureCount: failureCount, chance: 1) == .seconds(seconds / 2))
  }

  /// Errors that a retry cannot fix are not retried.
  @Test func permanentErrors() async throws {
    let setup = try ManagedSetup([try entry("A")]), manager = try setup.manager()
    setup.site.state.withLock { $0.failures["A"] = Array(repeating: DeliveryError(.badSignature, "forged"), count: 9) }
    let updates = manager.statusUpdates(forAssetPackWithID: "A")
    try manager.core.scheduler.request(pack("A"), .prefetch)
    #expect(await kinds(updates).last == "failed")
    #expect(setup.site.log.lines.count == 1)
  }

  /// Packs that the app does not wait for wait while the network costs money.
  @Test func metered() async throws {
    let setup = try ManagedSetup([try entry("A"), try entry("B")])
    let meter = Meter()
    let manager = try setup.manager { $0.rules.isMetered = { meter.isMetered } }
    try manager.core.scheduler.request(pack("A"), .prefetch)
    try await manager.ensureLocalAvailability(of: pack("B"))
    #expect(setup.site.log.lines == ["B"])
    meter.isMetered = false
    let updates = manager.statusUpdates(forAssetPackWithID: "A")
    manager.conditionsChanged()
    #expect(await kinds(updates).last == "finished")
  }

  final class Meter: Sendable {
    private let state = Mutex(true)
    var isMetered: Bool {
      get { state.withLock { $0 } }
      set { state.withLock { $0 = newValue } }
    }
  }

  @Test func lowSpace() async throws {
    let setup = try ManagedSetup([try entry("A")])
    let manager = try setup.manager { $0.rules.freeByteCount = { _ in 100 } }
    await #expect { try await manager.ensureLocalAvailability(of: pack("A")) } throws: {
      ($0 as? ManagedPacksError)?.code == .lowSpace
    }
    #expect(setup.site.log.lines == [])
  }

  /// Bytes and fraction never fall, for any reports of a pull, and end at the required bytes.
  @Test(arguments: [
    [(0, 100), (40, 100), (100, 100)], [(50, 100), (10, 100), (60, 100)], [(50, 100), (0, 200), (200, 200)],
    [(0, 10), (20, 10), (10, 10)], [(0, .max), (.max, .max)], [(-5, -1), (1, 1)],
    [(90, 100), (90, 1000), (1000, 1000)],
  ])
  func progressIsMonotonic(reports: [(Int, Int)]) {
    let progress = DownloadProgress(estimate: 50) { _ in }
    #expect(progress.totalUnitCount == 50 && progress.completedUnitCount == 0)
    var last: (Int64, Double) = (0, 0)
    for (completed, total) in reports {
      progress.record(completed: completed, total: total)
      #expect(progress.completedUnitCount >= last.0 && progress.fractionCompleted >= last.1)
      #expect(progress.completedUnitCount <= max(progress.totalUnitCount, 0) && progress.fractionCompleted <= 1)
      last = (progress.completedUnitCount, progress.fractionCompleted)
    }
    progress.finish()
    #expect(
      progress.fractionCompleted == 1 && progress.isFinished && progress.completedUnitCount == progress.totalUnitCount)
  }

  /// A task that waits is cancelled: the download goes on for those who still wait, and else ends.
  @Test(arguments: [1, 2]) func cancelledWaiter(count: Int) async throws {
    let setup = try ManagedSetup([try entry("A")]), manager = try setup.manager(), gate = Gate()
    setup.site.state.withLock { $0.gates["A"] = gate }
    let wanted = try pack("A")
    let updates = manager.statusUpdates(forAssetPackWithID: "A")
    let other = count == 2 ? Task { try await manager.ensureLocalAvailability(of: wanted) } : nil
    if count == 2 { await setup.site.log.wait(for: 1) }
    let waiting = Task { try await manager.ensureLocalAvailability(of: wanted) }
    await setup.site.log.wait(for: 1)
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    gate.open()
    try await other?.value
    #expect(await kinds(updates).last == (count == 2 ? "finished" : "failed"))
  }

  /// C5: the app stops waiting, and a policy still requests the pack.
  @Test func cancelledWaiterOfARequestedPack() async throws {
    let setup = try ManagedSetup([try entry("A")]), gate = Gate()
    let manager = try setup.manager { $0.rules.isMetered = { true } }
    setup.site.state.withLock { $0.gates["A"] = gate }
    let wanted = try pack("A")
    let updates = manager.statusUpdates(forAssetPackWithID: "A")
    try manager.core.scheduler.request(wanted, .prefetch)
    let waiting = Task { try await manager.ensureLocalAvailability(of: wanted) }
    await setup.site.log.wait(for: 1)  // only the app's wish starts it while the network costs money
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    gate.open()
    #expect(await kinds(updates).last == "finished")
  }

  /// C7: a removed pack can be fetched again.
  @Test func removeAndFetchAgain() async throws {
    let setup = try ManagedSetup([try entry("A")]), manager = try setup.manager()
    await #expect(throws: ManagedBackgroundAssetsError.assetPackNotFound(withID: "A")) {
      try await manager.remove(assetPackWithID: "A")
    }
    for _ in 0..<2 {
      try await manager.ensureLocalAvailability(of: pack("A"))
      #expect(try manager.contents(at: "A.txt") == Data("A@1".utf8))
      try await manager.remove(assetPackWithID: "A")
      #expect(!manager.assetPackIsAvailableLocally(withID: "A"))
      #expect(throws: ManagedBackgroundAssetsError.fileNotFound(at: "A.txt")) { try manager.contents(at: "A.txt") }
    }
  }

  /// A delegate gets the same events as listeners, with the names of the Objective-C protocol.
  @Test func delegate() async throws {
    final class Listener: BAManagedAssetPackDownloadDelegate {
      let log = Log()
      func downloadOfAssetPackBegan(_ assetPack: AssetPack) { log.append("began") }
      func downloadOfAssetPackFinished(_ assetPack: AssetPack) { log.append("finished") }
      func downloadOfAssetPack(_ assetPack: AssetPack, failedWithError error: any Error) { log.append("failed") }
    }
    let setup = try ManagedSetup([try entry("A")]), manager = try setup.manager(), listener = Listener()
    manager.delegate = listener
    try await manager.ensureLocalAvailability(of: pack("A"))
    await listener.log.wait(for: 2)
    #expect(listener.log.lines == ["began", "finished"])
  }
}
