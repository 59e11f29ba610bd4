import Foundation
import PackFormats
import PackStore
import Testing

@testable import PackAuthoring

/// Random histories of a site: publications, promotions, demotions, withdrawals, policies, pins and collections, while days pass. After each
/// step, the files of every root that was current within the grace period exist, pinned and offered versions are kept, and no record of the
/// history is missing. `PACKSTORE_SEED` repeats a history, `PACKSTORE_SCALE` makes more of them.
@Suite struct SiteLifeTests {
  private static let scale = ProcessInfo.processInfo.environment["PACKSTORE_SCALE"].flatMap { Int($0) } ?? 1
  private static let firstSeed =
    ProcessInfo.processInfo.environment["PACKSTORE_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 1...1 << 40)
  private static let hour: Int64 = 3_600_000_000_000
  private static let stepCount = 30

  /// A root that was served, and its files.
  private struct Served {
    let channel: SiteChannel
    let sequence: UInt64
    let files: Set<String>
    var replacedAt: Int64?

    /// Whether its grace period was over at any step: a longer one comes too late.
    var isReleased = false
  }

  @Test func neededFilesAreNeverDeleted() async throws {
    print("SiteLifeTests: PACKSTORE_SEED=\(Self.firstSeed), \(Self.scale) histories")
    for round in 0..<Self.scale {
      var life = try Life(seed: Self.firstSeed &+ UInt64(round))
      for step in 0..<Self.stepCount { try await life.step("seed \(Self.firstSeed), step \(step)") }
    }
  }

  /// One site, and the time.
  private struct Life {
    let folder: TemporaryFolder
    let key = SiteKey()
    let channels: [SiteChannel?]
    var chance: SeededGenerator
    var now = 20_000 * 24 * SiteLifeTests.hour
    var served: [Served] = []
    var recordCount = 0

    /// The name of the last step, for messages.
    var action = ""

    init(seed: UInt64) throws {
      folder = try TemporaryFolder()
      channels = [.live, .live, try SiteChannel("beta"), nil]
      chance = SeededGenerator(state: seed)
    }

    var site: Site { get throws { try Site(at: FilePath(folder.path("site"))) } }
    var options: Site.PublishOptions { Site.PublishOptions(level: 1, deltaCount: 0) }

    mutating func step(_ place: String) async throws {
      now += Int64(chance.below(30)) * SiteLifeTests.hour
      let before = try policy()
      do {
        try await act()
      } catch let error as PackStoreError where [.notFound, .invalidArgument].contains(error.code) {
        action += " (\(error.code))"
      }
      try check("\(place), \(action)", grace: min(before.graceSeconds, try policy().graceSeconds))
    }

    func policy() throws -> RetentionPolicy {
      guard try site.folder.channels().contains(.live) else { return .standard }
      return try site.retentionPolicy() ?? .standard
    }

    private mutating func act() async throws {
      let pack: PackID = chance.below(2) == 0 ? "A" : "B"
      let site = try site, versions = try site.store.makeSnapshot().versions(of: pack).map(\.number)
      let version = versions.isEmpty ? 1 : versions[chance.below(versions.count)]
      let channel = channels[chance.below(3)] ?? .live
      switch chance.below(versions.isEmpty ? 1 : 10) {
      case 0, 1, 2: try await publish(pack)
      case 3: try edit(.promote(pack, version: version, appVersions: .all, share: .all, schedule: nil), channel)
      case 4:
        let share = try DeviceShare(tenThousandths: UInt32(chance.below(10_001)))
        try edit(.promote(pack, version: version, appVersions: .all, share: share, schedule: nil), channel)
      case 5: try edit(.demote(pack, version: version), channel)
      case 6:
        action = "unpublish \(pack) from \(channel)"
        var options = options
        options.channel = channel
        var change = Unpublication(site: site, key: key, isOfAll: chance.below(4) == 0, options: options)
        change.now = now
        _ = try change.run([pack])
      case 7:
        action = "collect"
        var collection = SiteCollection(of: site, signedBy: key, options: options)
        collection.now = now
        _ = try collection.run()
      case 8:
        action = "refresh"
        try await site.refresh(signedBy: key, options: options, now: now)
      default: try await changePolicy(pack, version)
      }
    }

    private mutating func publish(_ pack: PackID) async throws {
      let channel = channels[chance.below(channels.count)]
      action = "publish \(pack) to \(channel?.name ?? "none")"
      let store = try folder.store("author")
      let content = try folder.makeFolder("content", ["file": noise(9_000, seed: chance.next())])
      try await store.install(folder: FilePath(content), as: pack)
      var options = options
      options.channel = channel
      var publication = Publication(site: try site, source: .store(store), key: key, options: options, progress: nil)
      publication.now = now
      _ = try publication.run([.init(pack)])
    }

    private mutating func edit(_ change: Site.OfferEdit.Change, _ channel: SiteChannel) throws {
      action = "\(change) on \(channel)"
      var options = options
      options.takesBack = true
      var edit = SiteEdit(of: try site, signedBy: key, options: options)
      edit.now = now
      _ = try edit.run([.init(channel, change)])
    }

    private mutating func changePolicy(_ pack: PackID, _ version: UInt64) async throws {
      let pins = chance.below(2) == 0 ? [RetentionPolicy.Pin(pack, version)] : []
      let policy = try RetentionPolicy(
        offeredVersionCount: 1 + chance.below(3), buildCount: chance.below(3),
        graceSeconds: UInt64(chance.below(72)) * 3_600, pins: pins)
      action = "policy \(policy)"
      _ = try await site.changeRetentionPolicy(signedBy: key, options: options, now: now) { _ in policy }
    }

    // MARK: - Properties

    private mutating func check(_ place: String, grace: UInt64) throws {
      let folder = try site.folder, snapshot = try site.store.makeSnapshot()
      let roots = try folder.channels().compactMap { try folder.readRoot(of: $0)?.root }
      for root in roots where !served.contains(where: { $0.channel == root.channel && $0.sequence == root.sequence }) {
        for index in served.indices where served[index].channel == root.channel && served[index].replacedAt == nil {
          served[index].replacedAt = now
        }
        let files = try root.files(in: folder).keys.map(\.description)
        served.append(Served(channel: root.channel, sequence: root.sequence, files: Set(files), replacedAt: nil))
      }
      let present = Set(self.folder.files("site").keys), nanoseconds = Int64(grace) * 1_000_000_000
      for index in served.indices where served[index].replacedAt.map({ $0 + nanoseconds <= now }) ?? false {
        served[index].isReleased = true
      }
      for root in served where !root.isReleased {
        let missing = root.files.subtracting(present)
        #expect(missing.isEmpty, "\(place): files of root \(root.sequence) of \(root.channel): \(missing.sorted())")
      }
      for root in roots {
        for pack in root.packs {
          for offer in pack.offers { #expect(snapshot.version(offer.number, of: pack.id) != nil, "\(place)") }
        }
      }
      for pin in try policy().pins { #expect(snapshot.version(pin.version, of: pin.pack) != nil, "\(place): \(pin)") }
      let records = try folder.linkedRecords(of: roots)
      #expect(records.keys.allSatisfy { present.contains($0.description) }, "\(place)")
      #expect(records.count >= recordCount, "\(place): no record is forgotten")
      recordCount = records.count
    }
  }
}
