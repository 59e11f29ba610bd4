import Foundation
import PackAuthoring
import PackDelivery
import PackFormats
import PackStore
import Synchronization
import Testing

@testable import PackPublishing

/// Three publishers race on a storage that loses answers, delivers late and shows stale ledgers, and are killed between
/// any two requests. The files of served roots exist at any moment; a repeated command finishes the work; in the end
/// the bucket contains exactly the objects of the image.
///
/// `PACKSTORE_SEED` repeats a round; `PACKSTORE_SCALE` has as many times more.
@Suite struct ProtocolCampaign {
  private static let rounds = 2 * (ProcessInfo.processInfo.environment["PACKSTORE_SCALE"].flatMap { Int($0) } ?? 1)
  private static let firstSeed =
    ProcessInfo.processInfo.environment["PACKSTORE_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 1...1 << 40)

  private let folder: TemporaryFolder
  private let key = SiteKey()

  init() throws { folder = try TemporaryFolder() }

  @Test func servedRootsAreWholeAtAnyMoment() async throws {
    print("ProtocolCampaign: PACKSTORE_SEED=\(Self.firstSeed), \(Self.rounds) rounds")
    let store = try await folder.makeStore()
    var kills = 0, faults = 0, requests = 0
    for round in 0..<Self.rounds {
      let seed = Self.firstSeed &+ UInt64(round)
      let counts = try await play(store, seed)
      kills += counts.kills
      faults += counts.faults
      requests += counts.requests
    }
    print("ProtocolCampaign: \(kills) kills, \(faults) faults in \(requests) requests")
  }

  private func options() -> Site.PublishOptions {
    Site.PublishOptions(level: 1, keptVersionCount: 1, deltaCount: 0, gracePeriod: .zero)
  }

  private func bucketSite(_ storage: SimulatedStorage, _ work: String?) -> BucketSite {
    let bucket = storage.bucket
    let clock = TransferClock(
      now: { .seconds(bucket.time) }, sleep: { bucket.advance($0.components.seconds + 1) }, watch: { _ in },
      random: { 0 })
    var site = BucketSite(
      storage, workFolder: work.map { FilePath(folder.path($0)) }, temporaryParent: FilePath(folder.path), clock: clock)
    site.ignoresClock = true
    site.parallelCount = 1
    return site
  }

  /// One thing that a publisher does.
  private func act(_ store: Store, on site: BucketSite, _ chance: inout Chance) async throws {
    let key = key, options = options(), kind = chance.below(10), version = UInt64(1 + chance.below(3))
    let pack: PackID = chance.happens(500) ? "A" : "B"
    // As commands do, which go on from the ledger that they saw then.
    if chance.happens(700) { _ = try await site.exists() }
    try await site.change(signedBy: key, makesSite: true) { site in
      switch kind {
      case 0 where try site.channels().first?.packs.contains(where: { $0.pack == pack }) == true:
        _ = try await site.unpublish([pack], signedBy: key, fromAllChannels: true, options: options)
      case 1 where try !site.channels().isEmpty: _ = try await site.refresh(signedBy: key, options: options)
      case 2, 3:
        var options = options
        options.channel = try SiteChannel("beta")
        try await site.publish([.init(pack, version: version)], from: store, signedBy: key, options: options)
      default: try await site.publish([.init(pack, version: version)], from: store, signedBy: key, options: options)
      }
    }
  }

  /// What one publisher does, with its kills.
  private func publish(
    _ store: Store, _ bucket: SimulatedBucket, _ turns: Turns, _ publisher: Int, _ seed: UInt64, _ kills: Counter
  ) async throws {
    var chance = Chance(seed &* 31 &+ UInt64(publisher))
    for attempt in 0..<4 {
      let limit = attempt < 3 ? 5 + chance.below(90) : .max
      let storage = SimulatedStorage(bucket, turns: turns, name: publisher, killedAfter: limit)
      do {
        try await act(store, on: bucketSite(storage, publisher == 0 ? nil : "work-\(seed)-\(publisher)"), &chance)
      } catch is JobWasKilled {
        kills.add()
      } catch let error as DeliveryError where [.unreachable, .siteChanged].contains(error.code) {
      } catch let error as PackStoreError where [.busy, .notFound].contains(error.code) {
      }
    }
  }

  private func play(_ store: Store, _ seed: UInt64) async throws -> (kills: Int, faults: Int, requests: Int) {
    let bucket = SimulatedBucket(seed: seed, faultRate: 40)
    let kills = Counter()
    let turns = Turns(of: 0..<3, seed: seed)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for publisher in 0..<3 {
        group.addTask {
          // Who fails leaves, too: the others would wait for it.
          do {
            try await publish(store, bucket, turns, publisher, seed, kills)
          } catch {
            await turns.leave(publisher)
            throw error
          }
          await turns.leave(publisher)
        }
      }
      try await group.waitForAll()
    }
    try await finish(bucket, store, seed)
    return (kills.count, bucket.state.withLock { $0.faultCount }, bucket.state.withLock { $0.requestCount })
  }

  /// Publishers lose no record: the history of each channel has exactly the roots that were ever served.
  private func checkHistory(_ bucket: SimulatedBucket, _ seed: UInt64) async throws {
    var served: [SiteChannel: Set<String>] = [:]
    for bytes in bucket.state.withLock({ $0.served.values.map { $0 } }) {
      let root = try SignedSiteRoot(decoding: bytes, file: "root").root
      served[root.channel, default: []].insert(try root.contentDigest(of: bytes).hex)
    }
    for (channel, digests) in served {
      let history = try await SiteHistoryReader(.bucket(bucketSite(SimulatedStorage(bucket), nil))).run(of: channel)
      #expect(history.isComplete && history.changeCount >= UInt64(digests.count), "seed \(seed): \(channel)")
      #expect(digests.subtracting(history.changes.map(\.after)).isEmpty, "seed \(seed): \(channel)")
    }
  }

  /// A command that is repeated, and two that come hours later.
  private func finish(_ bucket: SimulatedBucket, _ store: Store, _ seed: UInt64) async throws {
    bucket.calm()
    let key = key, options = options()
    let site = bucketSite(SimulatedStorage(bucket), nil)
    try await site.change(signedBy: key, makesSite: true) {
      _ = try await $0.publish([.init("A", version: 3)], from: store, signedBy: key, options: options)
    }
    for _ in 0..<3 {
      bucket.advance(8_000)
      try await site.change(signedBy: key) { _ = try await $0.refresh(signedBy: key, options: options) }
    }
    bucket.advance(8_000)
    try await site.change(signedBy: key) { _ in }  // nothing is new, but objects that the previous one dropped are due
    let ledger = try bucket.ledger
    #expect(ledger.jobs.isEmpty && ledger.loose.isEmpty && ledger.deletions.isEmpty, "seed \(seed)")
    let image = try await BucketJob(
      storage: SimulatedStorage(bucket),
      ledgerFile: LedgerFile(storage: SimulatedStorage(bucket), retry: .init(), clock: .system),
      times: .init(), id: .random(), parallelCount: 1
    ).begin(tidies: false) { _ in }.image
    let signed = try #require(image)
    let roots = signed.image.roots.keys.map { ObjectKey.file(.root($0)) }
    #expect(bucket.keys == signed.keys.union(roots).union([.ledger]), "seed \(seed)")
    for (channel, root) in signed.image.roots {
      #expect(bucket.object(.file(.root(channel)))?.digest == root.digest, "seed \(seed)")
    }
    try await checkHistory(bucket, seed)
    // All of it is fetched, and compared with the image.
    let offered = try await site.change(
      signedBy: key, isDryRun: true,
      reading: { site in try site.store.read { snapshot in snapshot.packs.flatMap { snapshot.versions(of: $0.id) } } }
    ) { site in
      #expect(try site.store.read { try $0.verify(deep: true) }.faults.isEmpty)
      return try site.channels().first { $0.channel == .live }?.packs.first { $0.pack == "A" }?.offers.map(\.version)
    }
    #expect(offered == [3], "seed \(seed)")
    let faults = bucket.state.withLock { $0.faults }
    #expect(faults.isEmpty, "seed \(seed): \(faults.prefix(5))")
  }
}

private final class Counter: Sendable {
  private let value = Mutex(0)

  var count: Int { value.withLock { $0 } }
  func add() { value.withLock { $0 += 1 } }
}
