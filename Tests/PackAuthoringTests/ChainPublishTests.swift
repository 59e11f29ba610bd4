import Foundation
import Testing

@testable import PackAuthoring
import PackFormats
@testable import PackStore

/// Which deltas the roots of a site name, so that clients find chains of them.
@Suite struct ChainPublishTests {
  let folder: TemporaryFolder
  let store: Store
  let key = SiteKey()

  init() throws {
    folder = try TemporaryFolder()
    store = try folder.store()
  }

  /// Each version has something that none before it has, and keeps it.
  private func install(_ change: UInt64) async throws {
    var files: [String: Data] = [:]
    for number in 0...change { files["\(number)"] = noise(20_000 + Int(number) * 10, seed: number) }
    try await store.install(folder: FilePath(folder.makeFolder("source", files)), as: "P")
  }

  private var site: Site { get throws { try Site(at: FilePath(folder.path("site"))) } }

  private func options(_ adjust: (inout Site.PublishOptions) -> Void = { _ in }) -> Site.PublishOptions {
    var options = Site.PublishOptions()
    options.level = 1
    options.gracePeriod = .zero
    options.deltaOptions.level = 1
    options.takesBack = true
    adjust(&options)
    return options
  }

  @discardableResult
  private func publish(
    _ packs: [Site.PublishedPack]? = nil, _ adjust: (inout Site.PublishOptions) -> Void = { _ in }
  ) async throws -> Site.PublishResult {
    try await site.publish(packs, from: store, signedBy: key, options: options(adjust))
  }

  /// Publishes versions 1 to `count`, and returns their catalogs.
  @discardableResult
  private func publish(
    versions range: ClosedRange<UInt64>, _ adjust: (inout Site.PublishOptions) -> Void = { _ in }
  ) async throws -> [CatalogID] {
    var catalogs: [CatalogID] = []
    for version in range {
      try await install(version)
      catalogs.append(try store.packs()[0].version.catalog)
      try await publish(nil, adjust)
      _ = try RemoteSiteCopy(folder)
    }
    return catalogs
  }

  private func root(_ channel: SiteChannel = .live) throws -> SiteRoot.Pack {
    try #require(try RemoteSiteCopy(folder, channel: channel).root.packs.first)
  }

  /// The deltas of a root as `1>2 2>3`: the positions of their old and new versions among `catalogs`.
  private func deltas(_ catalogs: [CatalogID], on channel: SiteChannel = .live) throws -> [String] {
    try root(channel).deltas.map { delta in
      let places = [delta.from, delta.to].map { catalogs.firstIndex(of: $0).map { $0 + 1 } ?? 0 }
      return "\(places[0])>\(places[1])"
    }
  }

  private func way(_ from: CatalogID, on channel: SiteChannel = .live) throws -> Int? {
    let pack = try root(channel)
    return DeltaRoutes(to: pack.offers[0].catalog, by: pack.deltas).shortest(from: from)?.count
  }

  // MARK: - Offers

  /// The delta that was made when a version was published stays: it costs the publisher nothing.
  @Test func stepsStay() async throws {
    let catalogs = try await publish(versions: 1...4)
    #expect(try deltas(catalogs) == ["1>2", "2>3", "3>4"])
    #expect(try (0..<3).map { try way(catalogs[$0]) } == [3, 2, 1])
    #expect(folder.files("site/deltas").count == 3)
    #expect(try await publish().isUnchanged)
    #expect(
      try Site(at: FilePath(folder.path("site"))).store.makeSnapshot().versions(of: "P").map(\.number) == [4, 3, 2])
    for delta in try root().deltas {
      let bytes = try #require(folder.files("site")["\(SitePath.delta(delta.header))"])
      #expect(UInt64(bytes.count) == delta.byteCount)
    }
  }

  @Test func noMoreThanEight() async throws {
    let catalogs = try await publish(versions: 1...11)
    #expect(try deltas(catalogs) == (3...10).map { "\($0)>\($0 + 1)" })
    #expect(folder.files("site/deltas").count == 8, "what no chain needs any more is gone")
    #expect(try way(catalogs[2]) == 8 && way(catalogs[1]) == nil)
  }

  /// Deltas from several versions: only the deltas of the shortest ways stay.
  @Test func shortestWaysStay() async throws {
    let catalogs = try await publish(versions: 1...5) { $0.deltaCount = 2 }
    let named = try Set(deltas(catalogs))
    #expect(named.isSuperset(of: ["4>5", "3>5"]))
    for from in 0..<4 { #expect(try way(catalogs[from]) != nil) }
    let pack = try root()
    let used = Set((0..<4).flatMap { DeltaRoutes(to: catalogs[4], by: pack.deltas).shortest(from: catalogs[$0]) ?? [] })
    #expect(Set(pack.deltas.filter { $0.to != catalogs[4] }).isSubset(of: used))
  }

  /// A chain that is as long as the whole is none.
  @Test func chainsThatSpareNothing() async throws {
    var catalogs: [CatalogID] = []
    for version in 1...4 as ClosedRange<UInt64> {
      let files = ["new": noise(50_000, seed: version), "old": noise(20_000, seed: 9)]
      try await store.install(folder: FilePath(folder.makeFolder("source", files)), as: "P")
      catalogs.append(try store.packs()[0].version.catalog)
      try await publish()
    }
    #expect(try deltas(catalogs) == ["3>4"])
    #expect(folder.files("site/deltas").count == 1)
  }

  /// A publication that ends before its delta is made does not lose the deltas of earlier versions.
  @Test func cancelledDeltas() async throws {
    var catalogs = try await publish(versions: 1...2)
    try await install(3)
    catalogs.append(try store.packs()[0].version.catalog)
    let options = options(), site = try site, key = key, store = store
    let task = Task {
      try await site.publish(from: store, signedBy: key, options: options) { progress in
        if case .delta = progress { withUnsafeCurrentTask { $0?.cancel() } }
      }
    }
    #expect(await isCancelled { _ = try await task.value })
    #expect(try root().offers[0].catalog == catalogs[2])
    #expect(try deltas(catalogs) == ["1>2"] && way(catalogs[0]) == nil, "it leads nowhere yet")
    try await site.refresh(signedBy: key, options: options)
    try await site.makeDeltas(signedBy: key, options: options)
    #expect(try deltas(catalogs) == ["1>2", "2>3"])
  }

  /// Where none is ever made, it goes when its version does.
  @Test func withoutFurtherDeltas() async throws {
    var catalogs = try await publish(versions: 1...2)
    catalogs += try await publish(versions: 3...4) { $0.deltaCount = 0 }
    #expect(try deltas(catalogs) == ["1>2"])
    catalogs += try await publish(versions: 5...5) { $0.deltaCount = 0 }
    #expect(try deltas(catalogs) == [] && folder.files("site/deltas").isEmpty)
  }

  @Test func aStepThatIsLost() async throws {
    let catalogs = try await publish(versions: 1...3)
    let step = try #require(try root().deltas.first { $0.from == catalogs[0] })
    try folder.remove("site/\(SitePath.delta(step.header))")
    try await publish()
    #expect(try deltas(catalogs) == ["2>3"])
  }

  @Test func aDamagedStep() async throws {
    let catalogs = try await publish(versions: 1...3)
    let step = try #require(try root().deltas.first { $0.from == catalogs[0] })
    let file = URL(fileURLWithPath: folder.path("site/\(SitePath.delta(step.header))"))
    var bytes = try Data(contentsOf: file)
    bytes[bytes.count - 9] ^= 1
    try bytes.write(to: file)
    _ = try await Site.repair(at: site.path, signedBy: key)
    #expect(try deltas(catalogs) == ["2>3"])
  }

  // MARK: - Withdrawal

  /// Taking a version back also removes the chains through it, and later chains.
  @Test(arguments: ["demote", "go back", "go far back", "unpublish"]) func withdrawnVersions(how: String) async throws {
    var catalogs = try await publish(versions: 1...3) { $0.deltaCount = 1 }
    let site = try site
    switch how {
    case "demote":
      // The app that is older has version 2.
      try await site.promote(
        "P", version: 2, to: .live, appVersions: .range(AppVersionRange("..<2")), signedBy: key, options: options())
      try await site.demote("P", version: 3, from: .live, signedBy: key, options: options())
    case "go back": try await site.promote("P", version: 2, to: .live, signedBy: key, options: options())
    case "go far back": try await site.promote("P", version: 1, to: .live, signedBy: key, options: options())
    default: try await site.unpublish(["P"], signedBy: key, options: options())
    }
    if how != "unpublish" {
      #expect(try root().deltas.allSatisfy { $0.to != catalogs[2] })
    }
    try await install(4)
    catalogs.append(try store.packs()[0].version.catalog)
    try await publish { $0.deltaCount = 3 }
    let named = try deltas(catalogs)
    #expect(!named.contains("2>3") && !named.contains("1>3"), "\(named)")
    if how == "go far back" { #expect(!named.contains("1>2"), "\(named)") }
    if let way = DeltaRoutes(to: catalogs[3], by: try root().deltas).shortest(from: catalogs[0]) {
      #expect(way.allSatisfy { $0.to != catalogs[2] })
    }
    _ = try RemoteSiteCopy(folder)
  }

  /// A release that was halted is in the middle of no chain.
  @Test func haltedReleases() async throws {
    var catalogs = try await publish(versions: 1...2)
    try await site.promote("P", version: 1, to: .live, signedBy: key, options: options())
    try await site.promote("P", version: 2, to: .live, share: .none, signedBy: key, options: options())
    try await site.makeDeltas(signedBy: key, options: options())
    #expect(try !deltas(catalogs).contains("1>2"), "no device is updated to it")
    try await install(3)
    catalogs.append(try store.packs()[0].version.catalog)
    try await publish { $0.deltaCount = 2 }
    #expect(try Set(deltas(catalogs)) == ["1>3", "2>3"])
  }

  /// Channels count apart: what one took back is in no chain of it, though others offer it.
  @Test func otherChannels() async throws {
    var catalogs = try await publish(versions: 1...3)
    let beta = try SiteChannel("beta"), site = try site
    for version in 1...3 as ClosedRange<UInt64> {
      try await site.promote("P", version: version, to: beta, signedBy: key, options: options())
    }
    #expect(try deltas(catalogs, on: beta) == ["2>3"], "it never named the others")
    try await site.promote("P", version: 2, to: .live, signedBy: key, options: options())
    #expect(try root(beta).offers[0].number == 3 && deltas(catalogs, on: beta).contains("2>3"))
    try await install(4)
    catalogs.append(try store.packs()[0].version.catalog)
    try await publish { $0.deltaCount = 2 }
    #expect(try !deltas(catalogs).contains("2>3"))
    #expect(try deltas(catalogs, on: beta).contains("2>3"))
    _ = try RemoteSiteCopy(folder, channel: beta)
  }

  // MARK: - Dry runs

  @Test func whatDevicesWouldFetch() async throws {
    let catalogs = try await publish(versions: 1...3)
    let site = try site, steps = try root().deltas
    // Apps that are older have the first version.
    try await site.promote(
      "P", version: 1, to: .live, appVersions: .range(AppVersionRange("..<2")), signedBy: key, options: options())
    #expect(try Set(deltas(catalogs)).isSuperset(of: ["1>2", "2>3"]))
    let plan = try await site.promote(
      "P", version: 3, to: .live, appVersions: .all, signedBy: key, options: options(), isDryRun: true)
    #expect(plan.updates.map(\.from.number) == [1] && plan.updates[0].deltaCount == 2)
    #expect(plan.updates[0].deltaByteCount == Int(steps.byteCount))
    let beta = try SiteChannel("beta")
    try await site.promote("P", version: 1, to: beta, signedBy: key, options: options())
    let other = try await site.promote("P", version: 3, to: beta, signedBy: key, options: options(), isDryRun: true)
    #expect(other.updates.map(\.deltaCount) == [0], "the channel never had version 2")
  }

  /// Unchanged roots are not signed again.
  @Test func nothingIsWrittenForNothing() async throws {
    try await publish(versions: 1...3)
    let before = folder.files("site")
    #expect(try await publish().isUnchanged)
    var dry = Publication(site: try site, source: .store(store), key: key, options: options(), progress: nil)
    dry.isDryRun = true
    #expect(try dry.run(nil).isUnchanged)
    #expect(folder.files("site") == before)
  }
}
