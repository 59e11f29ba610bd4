import Foundation
import PackAuthoring
import PackDelivery
import PackFormats
import PackStore
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

  @Test func checkReportsRefusedConditions() async throws {
    let result = try await BucketCheck(CarelessStorage(bucket, .refuses)).run()
    #expect(!result.isSafe && result.findings.count == 9)
    #expect(result.findings[0].fault == "the storage does not know the condition (501)")
    #expect(result.findings.filter { $0.fault == nil }.map(\.subject).contains("what was written is read"))
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
