import Foundation
import PackFormats
import PackStore
import Testing

@testable import PackAuthoring

/// Deltas are built without the publisher's lock. Once, a demotion waited until the deltas of a publication were built.
@Suite struct DeltaLockTests {
  let folder: TemporaryFolder
  let store: Store
  let key = SiteKey()

  init() throws {
    folder = try TemporaryFolder()
    store = try folder.store()
  }

  private var site: Site { get throws { try Site(at: FilePath(folder.path("site"))) } }

  private static func options(_ deltaCount: Int, grace: Duration = .seconds(86_400)) -> Site.PublishOptions {
    var options = Site.PublishOptions(level: 1, deltaCount: deltaCount, gracePeriod: grace, waitsForOthers: false)
    options.deltaOptions.level = Store.DeltaOptions.fastLevel
    options.takesBack = true
    return options
  }

  private func install(_ change: UInt64) async throws {
    try await store.install(folder: FilePath(folder.makeFolder("source", sampleFiles(change))), as: "P")
  }

  /// Publishes the current version, and calls `gate` when the delta builder begins.
  private func publish(deltas: Int = 1, gate: @escaping @Sendable () throws -> Void = {}) throws -> Site.PublishResult {
    var publication = Publication(
      site: try site, source: .store(store), key: key, options: Self.options(deltas), progress: nil)
    publication.folder.checkpoint = { if $0 == "write a delta" { try gate() } }
    return try publication.run(nil)
  }

  private func edit() throws -> ChannelEdit {
    ChannelEdit(of: .live, of: try site, signedBy: key, options: Self.options(0))
  }

  private func offers() throws -> (versions: [UInt64], deltaCount: Int) {
    let pack = try #require(try site.channels().first { $0.channel == .live }?.packs.first)
    return (pack.offers.map(\.version), pack.deltaCount)
  }

  @Test func promotionEndsWhilePublicationBuildsDelta() async throws {
    try await install(0)
    _ = try publish()
    try await install(1)
    let result = try publish { _ = try edit().promote("P", 1) }
    #expect(result.deltas.map(\.description) == ["P@1 to 2"])
    #expect(try offers() == ([1], 0), "the delta to a version that was taken back is not named")
    _ = try edit().promote("P", 2)
    #expect(try offers() == ([2], 1), "the delta that was built is used")
    #expect(try await site.planDeltas(signedBy: key, options: Self.options(1)).isEmpty)
  }

  @Test func demotionEndsWhilePublicationBuildsDelta() async throws {
    try await install(0)
    _ = try publish()
    try await install(1)
    _ = try publish(deltas: 0)
    _ = try edit().promote("P", 1, .asBefore, DeviceShare("5%"))
    try await install(2)
    let beta = try SiteChannel("beta")
    var options = Self.options(1)
    options.channel = beta
    var publication = Publication(site: try site, source: .store(store), key: key, options: options, progress: nil)
    publication.folder.checkpoint = { if $0 == "write a delta" { _ = try edit().demote("P", 1) } }
    #expect(try publication.run(nil).missingDeltas.isEmpty)
    #expect(try offers().versions == [2])
    #expect(try site.channels().first { $0.channel == beta }?.packs[0].deltaCount == 1)
  }

  /// Once the result listed channels that another publisher changed while the deltas were built.
  @Test func resultListsOwnChangesOnly() async throws {
    try await install(0)
    _ = try publish()
    try await install(1)
    var options = Self.options(1)
    options.channel = try SiteChannel("beta")
    var publication = Publication(site: try site, source: .store(store), key: key, options: options, progress: nil)
    publication.folder.checkpoint = { if $0 == "write a delta" { _ = try edit().promote("P", 2) } }
    let result = try publication.run(nil)
    #expect(result.deltas.count == 1)
    // The root of 'live' names the delta, too: it was changed once by the other publisher, and once by this one.
    let live = try #require(try site.channels().first { $0.channel == .live })
    #expect(live.packs[0].offers.map(\.version) == [2])
    let expected = live.packs[0].deltaCount > 0 ? [.live, options.channel] : [options.channel]
    #expect(Set(result.changedChannels) == Set(expected.compactMap { $0 }))
    try await install(2)
    let other = try SiteChannel("other")
    publication = Publication(site: try site, source: .store(store), key: key, options: options, progress: nil)
    publication.folder.checkpoint = {
      if $0 == "write a delta" {
        _ = try ChannelEdit(of: other, of: site, signedBy: key, options: Self.options(0)).promote("P", 1)
      }
    }
    #expect(try publication.run(nil).changedChannels == [options.channel])
    #expect(try site.channels().contains { $0.channel == other })
  }

  /// The gate is in the progress of the public call.
  @Test func otherPublisherEndsWhileDeltasAreMade() async throws {
    try await install(0)
    _ = try publish()
    try await install(1)
    _ = try publish(deltas: 0)
    let (made, missing) = try await site.makeDeltas(signedBy: key, options: Self.options(1)) { [folder, key] event in
      guard case .delta = event, let site = try? Site(at: FilePath(folder.path("site"))),
        (try? site.channels()[0].packs[0].offers.map(\.version)) == [2]
      else { return }
      #expect(throws: Never.self) {
        try ChannelEdit(of: .live, of: site, signedBy: key, options: Self.options(0)).promote("P", 1)
      }
    }
    #expect(made.count == 1 && missing.isEmpty)
    #expect(try offers() == ([1], 0))
  }

  @Test func deltaIsUsedWhenVersionIsPromotedAgain() async throws {
    try await install(0)
    _ = try publish()
    try await install(1)
    _ = try publish()
    let files = folder.files("site/deltas")
    _ = try edit().promote("P", 1)
    #expect(try offers() == ([1], 0))
    _ = try edit().promote("P", 2)
    #expect(try offers() == ([2], 1) && folder.files("site/deltas") == files)
    #expect(try publish { Issue.record("the delta exists") }.deltas.isEmpty)
  }

  @Test func secondBuilderDoesNotWaitIfNotWanted() async throws {
    try await install(0)
    _ = try publish()
    try await install(1)
    let builder = try site.folder.lockDeltas(waits: false)
    let result = try publish()
    #expect(result.deltas.isEmpty && result.missingDeltas.map(\.from) == [1])
    await #expect(throws: PackStoreError.self) { try await site.makeDeltas(signedBy: key, options: Self.options(1)) }
    withExtendedLifetime(builder) {}
  }

  /// The next publication deletes the draft of a builder that died, and keeps the draft of a running builder.
  @Test func draftsOfTheDeadAreRemoved() async throws {
    try await install(0)
    _ = try publish()
    let draft = folder.path("site/deltas/draft.new")
    try Data("draft".utf8).write(to: URL(fileURLWithPath: draft))
    var builder: FileLock? = try site.folder.lockDeltas(waits: false)
    try await install(1)
    _ = try publish(deltas: 0)
    #expect(FileManager.default.fileExists(atPath: draft))
    builder = nil
    try await install(2)
    _ = try publish(deltas: 0)
    #expect(!FileManager.default.fileExists(atPath: draft) && builder == nil)
  }
}
