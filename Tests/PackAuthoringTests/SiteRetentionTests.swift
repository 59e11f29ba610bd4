import Foundation
import PackFormats
import PackStore
import Testing

@testable import PackAuthoring

/// The policy of a site decides which versions and files stay, in publications to any channel and in collections.
@Suite struct SiteRetentionTests {
  let folder: TemporaryFolder
  let key = SiteKey()
  private let beta: SiteChannel
  private static let day: Int64 = 86_400_000_000_000
  private static let start: Int64 = 20_000 * day

  init() throws {
    folder = try TemporaryFolder()
    beta = try SiteChannel("beta")
  }

  private var site: Site { get throws { try Site(existingAt: FilePath(folder.path("site"))) } }

  private func publish(
    _ number: Int, to channel: SiteChannel? = .live, day: Int64, signedBy key: SiteKey? = nil, keep: Int? = nil,
    isPurgeable: Bool = false
  ) async throws {
    let store = try folder.store()
    var install = Store.InstallOptions()
    install.attributes = try Attributes(placement: isPurgeable ? .purgeable : .durable)
    if isPurgeable {
      let cache = FilePath(folder.path("cache"))
      try await store.change { try $0.setCacheFolder(cache) }
    }
    let content = try folder.makeFolder("content", ["file": noise(20_000, seed: UInt64(number))])
    try await store.install(folder: FilePath(content), as: "P", options: install)
    var publication = Publication(
      site: try Site(at: FilePath(folder.path("site"))), source: .store(store), key: key ?? self.key,
      options: .init(level: 1, keptVersionCount: keep, deltaCount: 0, channel: channel), progress: nil)
    publication.now = Self.start + day * Self.day
    _ = try publication.run(nil)
  }

  @discardableResult
  private func collect(day: Int64, keep: Int? = nil) throws -> Site.CollectionResult {
    var collection = SiteCollection(of: try site, signedBy: key, options: .init(keptVersionCount: keep))
    collection.now = Self.start + day * Self.day
    return try collection.run()
  }

  private func setPolicy(_ policy: RetentionPolicy?, day: Int64 = 0, signedBy key: SiteKey? = nil) async throws {
    let now = Self.start + day * Self.day
    _ = try await site.changeRetentionPolicy(signedBy: key ?? self.key, now: now) { _ in policy }
  }

  private func kept() throws -> [UInt64] { try site.store.makeSnapshot().versions(of: "P").map(\.number).sorted() }

  @Test func publicationsOfAllChannelsObeyThePolicy() async throws {
    let root = SiteKey()
    func release(_ channel: SiteChannel, _ serial: UInt64) throws -> SiteKey {
      try SiteKey().delegated(
        by: root, serial: serial, madeAt: 0, endsAt: nil, product: .standard, channels: [channel])
    }
    let live = try release(.live, 2), test = try release(beta, 2)
    try await publish(1, day: 0, signedBy: live)
    try await setPolicy(try RetentionPolicy(offeredVersionCount: 2, buildCount: 1), signedBy: live)
    for number in 2...5 { try await publish(number, to: beta, day: Int64(number), signedBy: test) }
    #expect(try kept() == [1, 4, 5], "offered by live, before on beta, offered by beta")
    #expect(try site.retentionPolicy()?.offeredVersionCount == 2, "a key of another channel keeps the root of live")
    await #expect(throws: PackStoreError.self) { try await setPolicy(nil, signedBy: test) }
    for number in 6...8 { try await publish(number, to: nil, day: Int64(number), signedBy: test) }
    #expect(try kept() == [1, 4, 5, 7, 8], "one build, and the current version of the store")
    try await publish(9, to: beta, day: 9, signedBy: test, keep: 9)
    #expect(try kept().contains(4), "an override for one command")
  }

  @Test func collectionDropsAndExplainsWhatThePolicyDoesNotKeep() async throws {
    for number in 1...5 { try await publish(number, day: 0, keep: 9) }
    let plan = try await site.collect(signedBy: key, isDryRun: true)
    #expect(plan.droppedVersions.map(\.number).sorted() == [1, 2] && plan.deletedFileCount == 0)
    try await setPolicy(try RetentionPolicy(offeredVersionCount: 2, graceSeconds: 86_400, pins: [.init("P", 1)]))
    let (versions, files) = try site.uses(now: Date(nanosecondsSince1970: Self.start))
    #expect(
      versions.map { "\($0.version) \($0.reason)" } == [
        "5 offered", "4 previous", "3 leaving", "2 leaving", "1 pinned",
      ])
    #expect(versions[0].channels == [.live] && files.allSatisfy { !$0.isDead })
    let names = folder.files("site").keys.filter { SitePath($0).map { !$0.isRoot } ?? false }
    #expect(Set(files.map(\.path)) == Set(names))
    #expect(try collect(day: 0).droppedVersions.map(\.number).sorted() == [2, 3])
    #expect(try kept() == [1, 4, 5])
    _ = try RemoteSiteCopy(folder)
    let leaving = Set(
      files.filter { file in file.versions.allSatisfy { $0.reason == .leaving } && file.channels.isEmpty }.map(\.path))
    #expect(!leaving.isEmpty && leaving.isSubset(of: folder.files("site").keys), "they stay for the grace period")
    let (_, retired) = try site.uses(now: Date(nanosecondsSince1970: Self.start))
    #expect(Set(retired.filter { $0.until != nil }.map(\.path)) == leaving)
    let freed = try collect(day: 2)
    #expect(freed.deletedFileCount == leaving.count && freed.freedByteCount > 0 && freed.droppedVersions.isEmpty)
    #expect(leaving.isDisjoint(with: folder.files("site").keys))
    #expect(try collect(day: 3).deletedFileCount == 0)
    _ = try RemoteSiteCopy(folder)
  }

  /// A pin once had no effect on a withdrawal, which deleted all versions of the pack.
  @Test(arguments: [false, true]) func pinnedVersionsSurviveTheWithdrawalOfTheirPack(prunes: Bool) async throws {
    for number in 1...4 { try await publish(number, day: 0, keep: 9) }
    try await setPolicy(try RetentionPolicy(pins: [.init("P", 2)]))
    let options = Site.PublishOptions(level: 1, gracePeriod: .zero)
    if prunes {
      let other = try folder.store("other")
      try await other.install(folder: FilePath(folder.makeFolder("content", ["file": noise(5_000, seed: 9)])), as: "Q")
      var options = options
      (options.prunes, options.prunedPercentLimit, options.deltaCount) = (true, 100, 0)
      let plan = try await site.publish(from: other, signedBy: key, options: options, isDryRun: true)
      #expect(plan.droppedVersions.map(\.number).sorted() == [1, 3])
      try await site.publish(from: other, signedBy: key, options: options)
    } else {
      let plan = try await site.unpublish(["P"], signedBy: key, options: options, isDryRun: true)
      #expect(plan.droppedVersions.map(\.number).sorted() == [1, 3])
      try await site.unpublish(["P"], signedBy: key, options: options)
    }
    #expect(try kept() == [2, 4], "the pinned one, and the current version of the store")
    #expect(try site.channels()[0].packs.allSatisfy { $0.pack != "P" })
    _ = try RemoteSiteCopy(folder)
    try await site.promote("P", version: 2, to: .live, signedBy: key)
    _ = try RemoteSiteCopy(folder)
    try await setPolicy(nil)
    try await site.unpublish(["P"], signedBy: key, options: options)
    #expect(try kept() == [])
  }

  @Test func replacedKeysCannotCollect() async throws {
    let root = SiteKey()
    let keys = try ([2, 3] as [UInt64]).map { serial in
      try SiteKey().delegated(
        by: root, serial: serial, madeAt: 0, endsAt: nil, product: .standard, channels: [])
    }
    for number in 1...2 { try await publish(number, day: 0, signedBy: keys[number - 1], keep: 9) }
    for isDryRun in [true, false] {
      let error = await #expect(throws: PackStoreError.self) {
        try await site.collect(signedBy: keys[0], options: .init(keptVersionCount: 1), isDryRun: isDryRun)
      }
      #expect(error?.code == .untrusted)
    }
    #expect(try kept() == [1, 2])
    try await site.collect(signedBy: keys[1], options: .init(keptVersionCount: 1))
    #expect(try kept() == [2])
  }

  @Test func purgeableVersionsStayForAPeriodOfTheirOwn() async throws {
    for number in 1...3 { try await publish(number, day: Int64(number), keep: 9, isPurgeable: true) }
    try await setPolicy(
      try RetentionPolicy(offeredVersionCount: 1, graceSeconds: 0, purgeableGraceSeconds: 10 * 86_400))
    // Version 1 left the roots on day 2, version 2 on day 3.
    #expect(try collect(day: 11).droppedVersions.isEmpty)
    let uses = try site.uses(now: Date(nanosecondsSince1970: Self.start + 11 * Self.day)).versions
    #expect(uses.map(\.reason) == [.offered, .purgeable, .purgeable])
    #expect(uses[2].until == Date(nanosecondsSince1970: Self.start + 12 * Self.day))
    #expect(try collect(day: 12).droppedVersions.map(\.number) == [1])
    #expect(try collect(day: 13).droppedVersions.map(\.number) == [2])
    #expect(try kept() == [3])
  }

  @Test func pinsNameKeptVersions() async throws {
    try await publish(1, day: 0)
    await #expect(throws: PackStoreError.self) { try await setPolicy(try RetentionPolicy(pins: [.init("P", 2)])) }
    await #expect(throws: PackStoreError.self) { try await setPolicy(try RetentionPolicy(pins: [.init("Q", 1)])) }
    #expect(try site.retentionPolicy() == nil)
    try await setPolicy(try RetentionPolicy(pins: [.init("P", 1)]))
    #expect(try site.retentionPolicy()?.pins == [.init("P", 1)])
    try await site.unpublish(["P"], signedBy: key, fromAllChannels: true)
    #expect(try kept() == [1], "a withdrawal keeps it")
    let site = try site
    var fault = try SiteChange(
      of: site.store, named: site.store.id, channel: nil, in: site.folder, signedBy: key, options: .init(),
      now: nanosecondsSince1970(), progress: nil)
    try fault.remove([(pack: "P", versions: site.store.makeSnapshot().versions(of: "P"))])
    let survey = try SiteSurvey(of: site, now: nanosecondsSince1970())
    #expect(survey.status.alarms.contains { $0.code == .policyUnmet && $0.isUrgent && $0.count == 1 })
  }

  @Test func policyStaysInTheNextRoots() async throws {
    try await publish(1, day: 0)
    let policy = try RetentionPolicy(offeredVersionCount: 7)
    try await setPolicy(policy)
    let unchanged = try await site.changeRetentionPolicy(signedBy: key) { $0 }
    #expect(unchanged.isUnchanged && unchanged.policy == policy)
    try await publish(2, day: 1)
    try await site.refresh(signedBy: key)
    try await site.promote("P", version: 1, to: beta, signedBy: key)
    _ = try await Site.repair(at: FilePath(folder.path("site")), signedBy: key)
    #expect(try site.retentionPolicy() == policy)
    #expect(try SiteFolder(path: FilePath(folder.path("site"))).readRoot(of: beta)?.root.retentionPolicy() == nil)
    try await setPolicy(nil)
    #expect(try site.retentionPolicy() == nil)
  }
}
