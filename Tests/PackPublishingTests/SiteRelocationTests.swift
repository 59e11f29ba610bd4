import Foundation
import PackAuthoring
import PackDelivery
import PackFormats
import PackStore
import Synchronization
import Testing

@testable import PackPublishing

/// Sites that move to another folder or bucket.
@Suite struct SiteRelocationTests {
  private let site: MovingSite
  private let bucket = SimulatedBucket(seed: 1, faultRate: 0)
  private static let url = "https://new.example.com/packs"

  init() throws { site = try MovingSite() }

  private var bucketSite: BucketSite { bucket.makeSite(in: site.folder) }

  private func relocation(
    _ origin: any SiteHost, _ target: any SiteHost, url: String = SiteRelocationTests.url, rootKey: SiteKey? = nil
  ) -> SiteRelocation {
    var move = SiteRelocation(
      from: origin, to: target, url: url, rootKey: rootKey ?? site.key, signedBy: site.key)
    move.temporaryParent = FilePath(site.folder.path)
    return move
  }

  /// Channels with offers, and the versions that the site keeps.
  private struct Content: Equatable, Sendable {
    var offers: [String: [UInt64]]
    var kept: [UInt64]
    var deltas: Int
    var labels: [String]
  }

  private static func content(_ site: Site) throws -> Content {
    let snapshot = try site.store.makeSnapshot()
    let roots = try site.channelNames().map { channel in
      let name = "\(SitePath.root(channel))"
      return try SignedSiteRoot(
        decoding: Array(try Data(contentsOf: URL(fileURLWithPath: "\(site.path)/\(name)"))), file: name
      ).root
    }
    return Content(
      offers: Dictionary(
        uniqueKeysWithValues: roots.map { ($0.channel.name, $0.packs.flatMap(\.offers).map(\.number)) }),
      kept: snapshot.versions(of: "P").map(\.number), deltas: roots.flatMap(\.packs).map(\.deltas.count).reduce(0, +),
      labels: try snapshot.versions(of: "P").compactMap { try snapshot.attributes(of: $0).label?.text })
  }

  private func content(_ host: any SiteHost) async throws -> Content {
    try await host.readVersions { try Self.content($0) }
  }

  private func expectMoved(_ old: SignedSiteRoot, to new: SignedSiteRoot) {
    #expect(old.move?.url == Self.url && new.move == nil && new.root.sequence >= old.root.sequence)
    #expect(old.root.packs == new.root.packs && old.root.site == new.root.site)
  }

  @Test func folderMovesToFolder() async throws {
    let old = FolderHost(try await site.make()), new = FolderHost(site.path("new"))
    let before = try await content(old)
    #expect(before.kept.count == 3 && before.deltas > 0 && before.labels.count == 3 && before.offers.count == 2)
    try await relocation(old, new).run()
    #expect(try await content(new) == before)
    for channel in [SiteChannel.live, site.beta] {
      expectMoved(try site.root(old.path, channel), to: try site.root(new.path, channel))
    }
    for place in [new, old] { #expect(try await site.serves(place.path)) }
    // The new place accepts publications, the old one only a refresh, which keeps the statement.
    try await site.publish("four", to: new.path)
    let error = await #expect(throws: PackStoreError.self) { try await site.publish("four", to: old.path) }
    #expect(error?.code == .refused && error?.reason.contains(Self.url) == true)
    await #expect(throws: PackStoreError.self) {
      try await Site(existingAt: old.path).promote("P", version: 2, to: site.beta, signedBy: site.key)
    }
    let sequence = try site.root(old.path).root.sequence
    try await Site(existingAt: old.path).refresh(signedBy: site.key)
    let refreshed = try site.root(old.path)
    #expect(refreshed.root.sequence > sequence && refreshed.move?.url == Self.url)
    // Clients would ignore the statement if another root key signed the root.
    let next = try SiteKey().following(site.key), place = old.path
    let refusal = await #expect(throws: PackStoreError.self) {
      try await Site(existingAt: place).refresh(signedBy: next)
    }
    #expect(try refusal?.code == .refused && site.root(place).move?.url == Self.url)
    // It is done: another run changes nothing, and another target is refused.
    try await relocation(old, new).run()
    await #expect(throws: PackStoreError.self) {
      try await relocation(old, FolderHost(site.path("third")), url: "https://third.example.com/").run()
    }
  }

  /// Folder to bucket to another bucket to folder.
  @Test func roundTripKeepsEverything() async throws {
    let folder = FolderHost(try await site.make()), last = FolderHost(site.path("last"))
    let other = SimulatedBucket(seed: 2, faultRate: 0)
    let before = try await content(folder)
    try await relocation(folder, bucketSite).run()
    #expect(try await content(bucketSite) == before)
    expectMoved(try site.root(folder.path), to: try site.root(bucket))
    let second = other.makeSite(in: site.folder)
    try await relocation(bucketSite, second).run()
    expectMoved(try site.root(bucket), to: try site.root(other))
    let key = site.key, beta = site.beta
    let error = await #expect(throws: PackStoreError.self) {
      try await bucketSite.change(signedBy: key) { try await $0.promote("P", version: 2, to: beta, signedBy: key) }
    }
    #expect(error?.code == .refused)
    try await relocation(second, last).run()
    expectMoved(try site.root(other), to: try site.root(last.path))
    #expect(try await content(last) == before)
    #expect(try await site.serves(last.path))
    #expect(
      bucket.state.withLock { $0.faults } == [] && other.state.withLock { $0.faults } == [],
      "\(other.state.withLock { $0.faults })")
    try await site.publish("four", to: last.path)
    let verified = try await Site(existingAt: last.path).store.verify(deep: true)
    #expect(verified.isSound)
  }

  @Test func devicesFollow() async throws {
    let old = FolderHost(try await site.make()), new = FolderHost(site.path("new"))
    let device = try Store(at: site.path("device"))
    try await device.pull(from: old.path.string)
    try await relocation(old, new).run()
    // The new place cannot be reached in this test: the old one still serves.
    var options = Store.PullOptions()
    options.attemptLimit = 1
    options.permitsHost = { host in
      throw DeliveryError(.denied, "the host is not permitted", at: host)
    }
    let result = try await device.pull(from: old.path.string, options: options)
    #expect(result.refusedMove?.location == Self.url && result.packs.map(\.outcome) == [.unchanged])
  }

  @Test(arguments: ["copy", "arrive", "leave", "left"]) func interruptedMoveContinues(step: String) async throws {
    for toBucket in [false, true] {
      let site = try MovingSite(), bucket = SimulatedBucket(seed: 3, faultRate: 0)
      let old = FolderHost(try await site.make()), new = FolderHost(site.path("new"))
      let target: any SiteHost = toBucket ? bucket.makeSite(in: site.folder) : new
      func move() -> SiteRelocation {
        SiteRelocation(from: old, to: target, url: Self.url, rootKey: site.key, signedBy: site.key)
      }
      let before = try await content(old)
      var interrupted = move()
      interrupted.checkpoint = { if $0 == step { throw JobWasKilled() } }
      await #expect(throws: JobWasKilled.self) { try await interrupted.run() }
      #expect(try await site.serves(old.path))
      if !toBucket { #expect(try await site.serves(new.path)) }
      #expect(bucket.state.withLock { $0.faults } == [])
      let state = try site.root(old.path).move?.url
      #expect(state == (step == "left" ? Self.url : nil))
      if !toBucket, step != "copy" {
        await #expect(throws: PackStoreError.self, "not yet") { try await site.publish("early", to: new.path) }
      }
      try await move().run()
      #expect(try await content(target) == before)
      expectMoved(try site.root(old.path), to: toBucket ? try site.root(bucket) : try site.root(new.path))
    }
  }

  /// The site changes between an interruption and the next run: the new place gets the change.
  @Test func publicationBetweenTwoRunsIsKept() async throws {
    let old = FolderHost(try await site.make()), new = FolderHost(site.path("new"))
    var interrupted = relocation(old, new)
    interrupted.checkpoint = { if $0 == "leave" { throw JobWasKilled() } }
    await #expect(throws: JobWasKilled.self) { try await interrupted.run() }
    try await site.publish("four", to: old.path)
    try await relocation(old, new).run()
    let after = try await content(new)
    #expect(after.offers["live"] == [4])
    #expect(try await site.serves(new.path))
  }

  /// The publisher dies at random requests of a move into a bucket.
  @Test(arguments: 1...12) func killedAtARequest(number: Int) async throws {
    let old = FolderHost(try await site.make())
    let before = try await content(old)
    var killed = bucket.makeSite(in: site.folder, SimulatedStorage(bucket, killedAfter: number * 7))
    killed.parallelCount = 1
    do { try await relocation(old, killed).run() } catch is JobWasKilled {}
    #expect(bucket.state.withLock { $0.faults } == [])
    #expect(try await site.serves(old.path))
    bucket.advance(10_000)  // past the lease of the dead job
    try await relocation(old, bucketSite).run()
    #expect(try await content(bucketSite) == before)
    expectMoved(try site.root(old.path), to: try site.root(bucket))
    #expect(bucket.state.withLock { $0.faults } == [])
  }

  @Test func onlyTheRootKeyMoves() async throws {
    let root = SiteKey()
    let release = try SiteKey().delegated(
      by: root, serial: 2, madeAt: 0, endsAt: nil, product: .standard, channels: [])
    let site = try MovingSite(signedBy: release)
    let old = FolderHost(try await site.make()), new = FolderHost(site.path("new"))
    func move(_ rootKey: SiteKey) -> SiteRelocation {
      SiteRelocation(from: old, to: new, url: Self.url, rootKey: rootKey, signedBy: release)
    }
    for key in [release, SiteKey()] {
      let error = await #expect(throws: PackStoreError.self) { try await move(key).run() }
      #expect(error?.code == .untrusted)
      #expect(try site.root(old.path).move == nil)
    }
    try await move(root).run()
    #expect(try site.root(old.path).move?.url == Self.url)
  }

  /// A key for one channel would leave the clients of the others behind.
  @Test func keyForOneChannelCannotMove() async throws {
    let old = FolderHost(try await site.make())
    let partial = try SiteKey().delegated(
      by: site.key, serial: 3, madeAt: 0, endsAt: nil, product: .standard, channels: [site.beta])
    let error = await #expect(throws: PackStoreError.self) {
      try await SiteRelocation(
        from: old, to: FolderHost(site.path("new")), url: Self.url, rootKey: site.key, signedBy: partial
      ).run()
    }
    #expect(error?.code == .untrusted)
    #expect(try site.root(old.path).move == nil)
  }
}
