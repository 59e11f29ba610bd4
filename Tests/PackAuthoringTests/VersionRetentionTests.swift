import Foundation
import PackFormats
import PackStore
import Testing

@testable import PackAuthoring

/// Which versions stay on a site. Once, builds that were never offered counted as versions, and three of them dropped the one to go
/// back to.
@Suite struct VersionRetentionTests {
  let folder: TemporaryFolder
  let store: Store
  let key = SiteKey()

  init() throws {
    folder = try TemporaryFolder()
    store = try folder.store()
  }

  private var site: Site { get throws { try Site(at: FilePath(folder.path("site"))) } }

  /// Publishes the next version, for tests of a pack of one small file.
  @discardableResult
  private func publish(_ channel: SiteChannel? = .live, keep: Int = 3, count: Int = 1) async throws -> [UInt64] {
    var options = Site.PublishOptions(
      level: 1, keptVersionCount: keep, deltaCount: 0, channel: channel, gracePeriod: .zero)
    options.collectionPercent = 0
    for _ in 0..<count {
      let content = Data("\(UUID())".utf8)
      try await store.install(folder: FilePath(folder.makeFolder("source", ["file": content])), as: "P")
      try await site.publish(from: store, signedBy: key, options: options)
    }
    return try kept
  }

  private static let takingBack = {
    var options = Site.PublishOptions()
    options.takesBack = true
    return options
  }()

  private var kept: [UInt64] { get throws { try site.store.makeSnapshot().versions(of: "P").map(\.number).sorted() } }

  @Test func buildsDoNotDisplaceThePreviousVersion() async throws {
    try await publish(count: 2)
    #expect(try await publish(nil, count: 3) == [1, 2, 3, 4, 5])
    #expect(try await publish(nil, count: 2) == [1, 2, 5, 6, 7], "builds that were never offered are limited as well")
    try await site.promote("P", version: 1, to: .live, signedBy: key, options: Self.takingBack)
  }

  @Test func offeredVersionsAreCounted() async throws {
    #expect(try await publish(count: 5) == [3, 4, 5])
    #expect(try await publish(keep: 2) == [5, 6])
    #expect(try await publish(keep: 1) == [7], "one version: none to go back to")
  }

  @Test func previousVersionOfEachChannelStays() async throws {
    let beta = try SiteChannel("beta")
    try await publish(count: 2)
    #expect(try await publish(beta, keep: 2, count: 5) == [1, 2, 6, 7])
    #expect(try await publish(nil, keep: 2, count: 4) == [1, 2, 6, 7, 10, 11])
  }

  /// Version 3 was taken back: devices have it, and deltas lead from there.
  @Test func withdrawnVersionStays() async throws {
    try await publish(count: 3)
    try await site.promote("P", version: 2, to: .live, signedBy: key, options: Self.takingBack)
    #expect(try await publish(nil, count: 3).starts(with: [1, 2, 3]))
    #expect(try await publish(nil, keep: 2, count: 3).starts(with: [2, 3]))
  }

  /// Builds that a later offer passed by are dropped before versions that were offered.
  @Test func supersededBuildsAreDroppedFirst() async throws {
    try await publish(count: 2)
    try await publish(nil, count: 3)
    #expect(try await publish() == [1, 2, 6])
  }

  /// The share of version 2 rose to all devices: version 1 is the one before it.
  @Test func replacedShareIsThePreviousVersion() async throws {
    try await publish()
    try await publish(nil)
    try await site.promote("P", version: 2, to: .live, share: DeviceShare("5%"), signedBy: key)
    try await site.promote("P", version: 2, to: .live, signedBy: key)
    #expect(try await publish(nil, keep: 2, count: 5).starts(with: [1, 2]))
  }

  @Test func lostListIsNoError() async throws {
    try await publish(count: 3)
    for bytes in ["", "packstore offered 0 9\nlive P x\n\u{0}\nlive\nlive P 1 1\n.. P 1\nlive .P 1\n"] {
      try Data(bytes.utf8).write(to: URL(fileURLWithPath: folder.path("site/offered")))
      try await publish()
    }
  }

  @Test func listIsReadAsItWasWritten() {
    var history = OfferHistory()
    history.replace([1], by: [2], of: "P", on: .live, at: 1_000_000_000)
    history.replace([2], by: [3], of: "P", on: .live, at: 2_500_000_000)
    history.replace([7], by: [], of: "Q", on: .live, at: 0)
    #expect(OfferHistory(decoding: history.encode()) == history)
    #expect(history.previous(of: "P", on: .live, among: [1, 2, 3]) == 2)
    #expect(history.ending(of: 2, of: "P") == 2_000_000_000 && history.ending(of: 3, of: "P") == nil)
    for line in ["@-1 P 1", "@x P 1", "@9 P", "@9 P x", "@9 . 1", "@99999999999999999999 P 1"] {
      let damaged = OfferHistory(decoding: history.encode() + Array("\(line)\n".utf8))
      #expect(damaged == history, "\(line)")
    }
    history.restrict { pack, number in pack == "P" && number == 1 }
    #expect(history.ending(of: 2, of: "P") == nil && history.ending(of: 1, of: "P") == 1_000_000_000)
    #expect(history.previous(of: "P", on: .live, among: [1, 2, 3]) == 1 && !history.contains(7, of: "Q"))
  }
}
