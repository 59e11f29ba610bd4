import Foundation
import PackStore
import Testing

@testable import PackAuthoring

/// What becomes of a site between publications, and of what leaves it.
@Suite struct SiteChangeTests {
  let folder: TemporaryFolder
  let store: Store
  let key = SiteKey()

  private static let day: Int64 = 86_400 * 1_000_000_000

  init() throws {
    folder = try TemporaryFolder()
    store = try folder.store()
  }

  private func install(_ change: UInt64 = 0, as pack: PackID = "P") async throws {
    try await store.install(folder: FilePath(folder.makeFolder("source", sampleFiles(change))), as: pack)
  }

  private static func options(grace days: Int64, keep: Int = 1) -> Site.PublishOptions {
    var options = Site.PublishOptions()
    options.level = 1
    options.keptVersionCount = keep
    options.deltaCount = 0
    options.gracePeriod = .seconds(days * 86_400)
    return options
  }

  @discardableResult
  private func publish(at day: Int64, grace: Int64 = 7, keep: Int = 1) throws -> Site.PublishResult {
    var publication = Publication(
      site: try Site(at: FilePath(folder.path("site"))), source: store, key: key,
      options: Self.options(grace: grace, keep: keep), progress: nil)
    publication.now = day * Self.day
    return try publication.run(nil)
  }

  @discardableResult
  private func unpublish(_ packs: [PackID], at day: Int64, grace: Int64 = 7) throws -> Site.PublishResult {
    var change = Unpublication(
      site: try Site(existingAt: FilePath(folder.path("site"))), key: key, options: Self.options(grace: grace))
    change.now = day * Self.day
    return try change.run(packs)
  }

  private var names: Set<String> {
    Set(
      folder.files("site").keys.filter { name in
        ["segments/", "versions/", "frames/", "deltas/"].contains { name.hasPrefix($0) }
      })
  }

  // MARK: - Commits that are no publication

  /// Each way of changing a store, tried on a site by way of the API.
  @Test func onlyPublicationsChangeASite() async throws {
    try await install()
    try publish(at: 1)
    let before = folder.files("site")
    let site = try Store(at: FilePath(folder.path("site")))
    let source = try folder.makeFolder("other", sampleFiles(3))
    let changes: [@Sendable (inout Transaction) throws -> Void] = [
      { _ = try $0.install(folder: FilePath(source), as: "Q") }, { try $0.remove("P") }, { _ = try $0.rollBack("P") },
      { try $0.pin("P", version: 1) }, { try $0.unpin("P") }, { try $0.trim("P", keeping: 1) },
      { try $0.setPriority(4, of: "P") },
    ]
    for change in changes {
      do {
        try await site.write(change)
        Issue.record("a site took a commit")
      } catch {
        #expect((error as? PackStoreError)?.code == .isSite && "\(error)".contains("Site.unpublish"))
      }
    }
    let installed = await failure { _ = try await site.install(folder: FilePath(source), as: "Q") }
    #expect(installed == .isSite)
    #expect(folder.files("site") == before)
    let marks = (try site.makeSnapshot().isSite, try store.makeSnapshot().isSite)
    #expect(marks == (true, false))
  }

  // MARK: - Grace

  @Test func whatLeftStaysForTheGracePeriod() async throws {
    try await install(0)
    try publish(at: 1)
    let old = names
    try await install(1)
    let result = try publish(at: 10)
    #expect(result.droppedVersions.map(\.number) == [1])
    #expect(result.retiredByteCount > 0 && result.retiredUntil == Date(timeIntervalSince1970: 17 * 86_400))
    #expect(try names.isSuperset(of: old) && ServedSite(folder).versions == ["P": [2]])
    let waiting = try publish(at: 16)
    #expect(waiting.isUnchanged && waiting.retiredByteCount == result.retiredByteCount && names.isSuperset(of: old))
    let tree = folder.files("site")
    try publish(at: 16)
    #expect(folder.files("site") == tree, "nothing is due, and nothing is written")
    let over = try publish(at: 17)
    #expect(over.isUnchanged && over.retiredByteCount == 0 && over.retiredUntil == nil)
    #expect(try names == Set(ServedSite(folder).files))
    let verification = try Store(at: FilePath(folder.path("site")), options: .readOnly).makeSnapshot().verify(
      deep: true)
    #expect(verification.isSound)
  }

  /// What comes back is not retired any more, and a version that is retired once more waits from then on.
  @Test func whatComesBackStays() async throws {
    try await install(0)
    try publish(at: 1)
    try await install(1)
    try publish(at: 2)
    try await store.write { _ = try $0.rollBack("P", toVersion: 1) }
    try publish(at: 8)
    #expect(try ServedSite(folder).versions == ["P": [1]])
    try publish(at: 12)
    let first = try Set(ServedSite(folder).files)
    try await store.write { _ = try $0.rollBack("P", toVersion: 2) }
    try publish(at: 13)
    try publish(at: 19)
    #expect(names.isSuperset(of: first))
  }

  /// A clock that was wrong removes nothing early: one that goes back, and one that was ahead once.
  @Test func clocks() async throws {
    try await install(0)
    try publish(at: 100)
    let old = names
    try await install(1)
    try publish(at: 5)
    #expect(try publish(at: 12).retiredByteCount > 0)
    #expect(try publish(at: 106).retiredByteCount > 0 && names.isSuperset(of: old))
    #expect(try publish(at: 107).retiredByteCount == 0)
  }

  @Test func aDamagedListIsSaid() async throws {
    try await install(0)
    try publish(at: 1)
    let before = try ServedSite(folder).root
    try Data("packstore retired\n".utf8).write(to: URL(fileURLWithPath: folder.path("site/retired")))
    try await install(1)
    let error = #expect(throws: PackStoreError.self) { try publish(at: 2) }
    #expect(error?.code == .corrupt && error?.file == folder.path("site/retired"))
    #expect(try ServedSite(folder, exactly: false).root == before)
  }

  // MARK: - Unpublishing

  @Test func unpublishing() async throws {
    try await install(0)
    try await install(5, as: "Q")
    let first = try publish(at: 1)
    let old = names
    let result = try unpublish(["Q"], at: 2)
    #expect(result.droppedVersions.map { "\($0)" } == ["Q@1"] && result.sequence > first.sequence)
    #expect(try ServedSite(folder).versions == ["P": [1]] && names.isSuperset(of: old))
    #expect(await failure { try unpublish(["Q"], at: 2) } == .notFound)
    try await store.write { try $0.remove("Q") }
    try publish(at: 10)
    #expect(try names == Set(ServedSite(folder).files))
    try unpublish(["P"], at: 11, grace: 0)
    #expect(try ServedSite(folder).versions == [:] && names == [])
    let stranger = Unpublication(
      site: try Site(existingAt: FilePath(folder.path("site"))), key: SiteKey(), options: .init())
    #expect(await failure { _ = try stranger.run(["P"]) } == .untrusted)
    #expect(await failure { _ = try Site(existingAt: FilePath(folder.path("none"))) } == .notAStore)
    #expect(!FileManager.default.fileExists(atPath: folder.path("none")))
  }

  // MARK: - Healing

  /// Commits as a program would that knows nothing of sites: past the mark, and with no word to the root.
  private func commitBehindTheBack(_ body: (inout Transaction) throws -> Void) throws {
    let site = try Store(at: FilePath(folder.path("site")))
    for round in 0..<3 {
      var options = Transaction.Options()
      options.isPublication = true
      var transaction = try site.makeTransaction(options: options)
      if round == 0 { try body(&transaction) }
      transaction.collect()
      try transaction.commit()
    }
  }

  @Test func whatWasLostIsPublishedAgain() async throws {
    for change in 0..<3 as Range<UInt64> {
      try await store.write(options: .init(keptVersionCount: 5)) { [folder] transaction in
        try transaction.install(folder: FilePath(folder.makeFolder("source", sampleFiles(change))), as: "P")
      }
      try publish(at: Int64(change) + 1, keep: 3)
    }
    try await install(7, as: "Q")
    try publish(at: 4, keep: 3)
    #expect(try ServedSite(folder).versions == ["P": [3, 2, 1], "Q": [1]])
    try commitBehindTheBack { try $0.trim("P", keeping: 1) }
    let mended = try publish(at: 5, keep: 3)
    #expect(mended.restoredVersions.map(\.number) == [1, 2] && mended.lostVersions.isEmpty)
    #expect(try ServedSite(folder).versions == ["P": [3, 2, 1], "Q": [1]])
    try commitBehindTheBack { try $0.remove("P") }
    _ = try publish(at: 6, keep: 3)
    #expect(try ServedSite(folder).versions == ["P": [3, 2, 1], "Q": [1]])
    try commitBehindTheBack { try $0.remove("P") }
    try await store.write { try $0.trim("P", keeping: 2) }
    let result = try publish(at: 7, keep: 3)
    #expect(result.lostVersions.map(\.description) == ["P@1"])
    #expect(try ServedSite(folder).versions == ["P": [3, 2], "Q": [1]])
    #expect(try publish(at: 8, keep: 3).isUnchanged)
  }

  /// A publisher that died after its commit took packs and versions off on purpose: the next does not bring them back.
  @Test func whatWasDroppedStaysAway() async throws {
    try await install(0)
    try await install(5, as: "Q")
    try publish(at: 1)
    var change = Unpublication(
      site: try Site(existingAt: FilePath(folder.path("site"))), key: key, options: Self.options(grace: 7))
    change.folder.checkpoint = { step in
      if step == "committed" { throw CancellationError() }
    }
    let interrupted = change
    let isDead = await isCancelled { _ = try interrupted.run(["Q"]) }
    #expect(isDead)
    var publication = Publication(
      site: try Site(at: FilePath(folder.path("site"))), source: store, key: key, options: Self.options(grace: 7),
      progress: nil)
    publication.now = 3 * Self.day
    let result = try publication.run([Site.PublishedPack("P")])
    #expect(result.restoredVersions.isEmpty && result.lostVersions.isEmpty)
    #expect(try ServedSite(folder).versions == ["P": [1]])
  }

  // MARK: - Repair

  @Test func repair() async throws {
    try await install(0)
    try await install(5, as: "Q")
    try publish(at: 1)
    let site = folder.path("site"), before = folder.files("site")
    func repair(_ key: SiteKey?, from donors: [FilePath] = []) async throws -> Site.RepairResult {
      try await Site.repair(at: FilePath(site), from: donors, signedBy: key)
    }
    #expect(try await repair(key).wasWhole && folder.files("site") == before, "what is whole is left alone")
    // The tables that a damaged manifest names cannot be told: it is another pack's.
    let packs = try ServedSite(folder).root.packs
    let (p, q) = (packs[0].versions[0], packs[1].versions[0])
    let intact = try #require(before[SitePath.version(q.manifest).description])
    let table = try q.openManifest(Array(intact), of: "Q").segments[0].id
    for name in [SitePath.frames(table).description, SitePath.version(p.manifest).description] {
      var bytes = try #require(before[name])
      bytes[bytes.count - 1] ^= 1
      try bytes.write(to: URL(fileURLWithPath: "\(site)/\(name)"))
    }
    let plan = try await repair(nil)
    #expect(plan.damagedFiles.count == 2 && plan.sequence == nil && !plan.wasWhole)
    #expect(await failure { _ = try await repair(SiteKey()) } == .untrusted)
    let result = try await repair(key)
    #expect(result.damagedFiles == plan.damagedFiles && result.store.wasWhole)
    #expect(folder.files("site") == before, "made anew, they are what they were")

    for name in try FileManager.default.contentsOfDirectory(atPath: "\(site)/index") {
      try folder.remove("site/index/\(name)")
    }
    try folder.remove("site/CONTROL")
    #expect(await failure { _ = try await Store.repair(at: FilePath(site)) } == .isSite)
    #expect(try await repair(key).store.isRebuilt)
    #expect(try ServedSite(folder).versions == ["P": [1], "Q": [1]])
    #expect(
      try Store(at: FilePath(site)).makeSnapshot().packs.allSatisfy { $0.origin == .local },
      "a site's packs are its own")
    let other = await failure {
      let store = try Store(at: FilePath(site))
      _ = try store.makeTransaction()
    }
    #expect(other == .isSite)

    try folder.remove("site/root")
    #expect(try await repair(key).damagedFiles == ["root"])
    #expect(try ServedSite(folder).versions == ["P": [1], "Q": [1]])
  }
}
