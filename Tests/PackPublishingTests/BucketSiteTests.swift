import Foundation
import PackAuthoring
import PackDelivery
import PackFormats
import PackStore
import Synchronization
import Testing

@testable import PackPublishing

/// One publisher and a storage without faults.
@Suite struct BucketSiteTests {
  private let folder: TemporaryFolder
  private let key = SiteKey()
  private let bucket = SimulatedBucket(seed: 1, faultRate: 0)

  init() throws { folder = try TemporaryFolder() }

  private var site: BucketSite { site(SimulatedStorage(bucket)) }

  private func site(_ storage: any ObjectStorage) -> BucketSite {
    let bucket = bucket
    let clock = TransferClock(
      now: { .seconds(bucket.time) }, sleep: { bucket.advance($0.components.seconds + 1) }, watch: { _ in },
      random: { 0 })
    var site = BucketSite(storage, workFolder: nil, temporaryParent: FilePath(folder.path), clock: clock)
    site.ignoresClock = true
    site.parallelCount = 1
    return site
  }

  private static let options = Site.PublishOptions(level: 1, keptVersionCount: 1, deltaCount: 0, gracePeriod: .zero)

  private func store(_ name: String, _ content: String) async throws -> Store {
    let store = try Store(at: FilePath(folder.path(name)))
    try await store.install(folder: FilePath(folder.makeFolder("source", ["file": Data(content.utf8)])), as: "P")
    return store
  }

  private func publish(_ store: Store) async throws { try await publish(store, to: site) }

  private func publish(_ store: Store, to site: BucketSite) async throws {
    try await site.change(signedBy: key, makesSite: true) { [key] site in
      try await site.publish(from: store, signedBy: key, options: Self.options)
    }
  }

  /// A server that ignores conditions loses publications. Once, only `check-bucket` found that.
  @Test func firstPublicationRefusesStorageWithoutConditions() async throws {
    let store = try await store("first", "one")
    for answer in [CarelessStorage.Answer.ignores, .refuses] {
      let careless = site(CarelessStorage(bucket, answer))
      let error = await #expect(throws: PackStoreError.self) { try await publish(store, to: careless) }
      #expect(error?.code == .refused && error?.reason.contains("(If-None-Match)") == true, "\(error?.reason ?? "")")
      #expect(error?.specificRemedy?.hasPrefix("publish to a folder") == true)
      #expect(bucket.keys.isEmpty, "nothing stays there")
    }
  }

  /// A thief published a root with a very high number, through the ledger or past it. Then the owner revoked, and could not publish
  /// any more.
  @Test(arguments: [false, true]) func aRevokedRootIsReplaced(isInLedger: Bool) async throws {
    func delegated(_ serial: UInt64, revoked: UInt64 = 0) throws -> SiteKey {
      try SiteKey().delegated(
        by: key, serial: serial, revokedBelow: revoked, madeAt: 0, endsAt: nil, product: .standard, channels: [])
    }
    func publish(_ content: String, by signer: SiteKey) async throws {
      let store = try await store("store", content)
      try await site.change(signedBy: signer, makesSite: true) { site in
        try await site.publish(from: store, signedBy: signer, options: Self.options)
      }
    }
    let thief = try delegated(7), owner = try delegated(8, revoked: 8)
    try await publish("one", by: thief)
    func served() throws -> SiteRoot {
      let object = try #require(bucket.object(.file(.root(.live))))
      return try SignedSiteRoot(decoding: object.bytes, file: "root").root
    }
    func sign(_ root: SiteRoot) throws -> [UInt8] {
      var root = root
      root.sequence = .max - 9
      return try root.encode(signedBy: thief)
    }
    func put(_ root: [UInt8]) { bucket.state.withLock { _ = $0.write(root, .file(.root(.live)), .always) } }
    let stolen = try sign(served())
    if isInLedger {
      try await site.change(signedBy: thief, makesSite: false) { site in
        try Data(stolen).write(to: URL(fileURLWithPath: "\(site.path)/root"))
      }
    } else {
      put(stolen)
    }
    #expect(try served().sequence == .max - 9)
    try await publish("two", by: owner)
    #expect(try served().sequence < 1 << 60 && served().packs[0].offers.first?.number == 2)
    try await publish("three", by: owner)
    #expect(try served().packs[0].offers.first?.number == 3)
    // It does not become newer by being put back.
    put(stolen)
    try await publish("four", by: owner)
    #expect(try served().packs[0].offers.first?.number == 4)
  }

  @Test func checkReportsRefusedConditions() async throws {
    let result = try await BucketCheck(CarelessStorage(bucket, .refuses)).run()
    #expect(!result.isSafe && result.findings.count == 9)
    #expect(result.findings[0].fault == "the storage does not support the condition (501)")
    #expect(result.findings.filter { $0.fault == nil }.map(\.subject).contains("reads return the last write"))
    #expect(try await BucketCheck(CarelessStorage(bucket, .ignores)).run().findings[0].fault != nil)
    #expect(try await BucketCheck(SimulatedStorage(bucket)).run().isSafe)
  }

  /// Each publication has a new copy of the site: the list of numbers comes from the image.
  @Test func numbersOfWithdrawnVersionsRemain() async throws {
    let first = try await store("first", "one")
    try await publish(first)
    try await site.change(signedBy: key) { [key] site in
      try await site.unpublish(["P"], signedBy: key, fromAllChannels: true, options: Self.options)
    }
    let other = try await store("other", "another one")
    let error = await #expect(throws: PackStoreError.self) { try await publish(other) }
    #expect(error?.code == .exists)
    try await publish(first)
  }
}
