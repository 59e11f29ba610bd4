import Foundation
import PackFormats
import PackStore
import Synchronization
import Testing

@testable import PackAuthoring

@Suite struct PublishTests {
  let folder: TemporaryFolder
  let store: Store
  let key = SiteKey()

  init() throws {
    folder = try TemporaryFolder()
    store = try folder.store()
  }

  private func install(_ change: UInt64 = 0, as pack: PackID = "P", map: [String] = []) async throws {
    var options = Store.InstallOptions()
    options.mappedPaths = map
    try await store.install(
      folder: FilePath(folder.makeFolder("source", sampleFiles(change))), as: pack, options: options)
  }

  @discardableResult
  private func publish(
    _ packs: [Site.PublishedPack]? = nil, keep: Int = 3, to site: String = "site",
    _ adjust: (inout Site.PublishOptions) -> Void = { _ in }
  ) async throws -> Site.PublishResult {
    var options = Site.PublishOptions()
    options.level = 1
    options.keptVersionCount = keep
    options.gracePeriod = .zero
    options.deltaCount = 0
    options.deltaOptions.level = Store.DeltaOptions.fastLevel
    adjust(&options)
    return try await Site(at: FilePath(folder.path(site))).publish(packs, from: store, signedBy: key, options: options)
  }

  @Test func aSiteIsAStoreWithSignedFiles() async throws {
    try await install()
    let result = try await publish()
    #expect(!result.isUnchanged && result.publicKey == key.publicKey)
    #expect(result.packs.map(\.version.number) == [1] && result.packs[0].previous == nil)
    let served = try RemoteSiteCopy(folder)
    #expect(
      served.publicKey == key.publicKey && served.root.sequence == result.sequence && served.root.expiresAt == nil)
    #expect(served.versions == ["P": [1]])
    let site = try Store(at: FilePath(folder.path("site")), options: .readOnly)
    #expect(served.root.site == site.id)
    #expect(try contents(of: "P", in: site) == sampleFiles())
    let verification = try site.read { try $0.verify(deep: true) }
    #expect(verification.faults.isEmpty)
    #expect(try site.packs()[0].version.catalog == store.packs()[0].version.catalog)
    #expect(result.byteCount == served.byteCount(folder))
    #expect(result.newByteCount == result.byteCount)
  }

  /// The size of a publication is the size of its changes: a client with the previous version fetches no more.
  @Test func onlyWhatIsNewIsAdded() async throws {
    try await install(0)
    let first = try await publish()
    let before = folder.files("site")
    try await install(1)
    let second = try await publish()
    #expect(second.packs[0].previous?.number == 1 && !second.packs[0].isWithdrawal)
    let added = folder.files("site").filter { $0.key == "root" || before[$0.key] == nil }
    let kinds: Set<Substring> = ["root", "segments", "frames", "versions", "changes"]
    let fetched = added.filter { kinds.contains($0.key.split(separator: "/")[0]) }
    #expect(second.newByteCount == fetched.values.map(\.count).reduce(0, +))
    #expect(second.newByteCount < 400_000 && first.newByteCount > 1_000_000)
    for (name, bytes) in before where name.hasPrefix("segments/") || name.hasPrefix("frames/") {
      #expect(folder.files("site")[name] == bytes, "\(name) is immutable")
    }
    #expect(try RemoteSiteCopy(folder).versions == ["P": [2, 1]])
  }

  @Test func nothingNewChangesNothing() async throws {
    try await install()
    try await publish()
    let before = folder.files("site")
    let again = try await publish()
    #expect(again.isUnchanged && again.newByteCount == 0 && again.packs[0].isUnchanged)
    #expect(folder.files("site") == before)
    try await store.setPriority(5, of: "P")
    let moved = try await publish()
    #expect(!moved.isUnchanged && moved.sequence > again.sequence && moved.packs[0].isUnchanged)
    #expect(try RemoteSiteCopy(folder).root.packs[0].priority == 5)
  }

  @Test func severalPacks() async throws {
    try await install(0, as: "zulu")
    try await install(1, as: "Alpha-1.x_y")
    try await install(2, as: "0")
    try await publish()
    #expect(try RemoteSiteCopy(folder).versions == ["zulu": [1], "Alpha-1.x_y": [1], "0": [1]])
    #expect(try RemoteSiteCopy(folder).root.packs.map(\.id) == ["0", "Alpha-1.x_y", "zulu"])
    try await install(3, as: "0")
    try await install(3, as: "zulu")
    let result = try await publish([Site.PublishedPack("zulu")])
    #expect(result.packs.map(\.version.pack) == ["zulu"])
    #expect(try RemoteSiteCopy(folder).versions == ["zulu": [2, 1], "Alpha-1.x_y": [1], "0": [1]])
  }

  @Test(arguments: [String(repeating: "x", count: 128), "a.b", "_", "9-9", "CON", "root"])
  func strangeNames(_ name: String) async throws {
    let pack = try PackID(validating: name)
    try await install(0, as: pack)
    try await publish()
    #expect(try RemoteSiteCopy(folder).versions == [name: [1]])
  }

  @Test func packsWithoutFiles() async throws {
    try folder.makeFolder("nothing", [:])
    try await store.install(folder: FilePath(folder.path("nothing")), as: "Empty")
    try await publish()
    let served = try RemoteSiteCopy(folder)
    #expect(served.versions == ["Empty": [1]])
    #expect(try contents(of: "Empty", in: Store(at: FilePath(folder.path("site")))) == [:])
  }

  @Test func aStoreWithoutPacks() async throws {
    let result = try await publish()
    #expect(result.packs.isEmpty)
    #expect(try RemoteSiteCopy(folder).root.packs.isEmpty)
    #expect(try await publish().isUnchanged)
  }

  @Test func mapAssetsStaySo() async throws {
    try await install(0, map: ["big", "changing"])
    try await publish()
    try await install(1, map: ["big", "changing"])
    try await publish()
    try Site(at: FilePath(folder.path("site"))).store.read { snapshot in
      for path in ["big", "changing"] {
        let isMapped = try snapshot.asset(path).isMapped
        #expect(isMapped)
      }
    }
    #expect(try RemoteSiteCopy(folder).versions == ["P": [2, 1]])
  }

  /// If the location of a version changes but not its content, its manifest changes.
  @Test func newlyMappedAssets() async throws {
    try await install()
    try await publish()
    let before = try RemoteSiteCopy(folder).root.packs[0].offers
    try await install(map: ["big"])
    let result = try await publish()
    #expect(!result.isUnchanged)
    let after = try RemoteSiteCopy(folder).root.packs[0].offers
    #expect(before.map(\.catalog) == after.map(\.catalog) && before.map(\.manifest) != after.map(\.manifest))
  }

  @Test func pruning() async throws {
    for change in 0..<5 as Range<UInt64> {
      try await install(change)
      let result = try await publish(keep: 2)
      #expect(result.droppedVersions.map(\.number) == (change >= 2 ? [change - 1] : []))
      let served = try RemoteSiteCopy(folder)
      #expect(served.versions == ["P": change == 0 ? [1] : [change + 1, change]])
    }
    // Fewer than before: nothing is new, and much goes.
    let before = folder.files("site").keys.filter { $0.hasPrefix("segments/") }.count
    let result = try await publish(keep: 1)
    #expect(result.droppedVersions.map(\.number) == [4] && result.packs[0].isUnchanged && !result.isUnchanged)
    let served = try RemoteSiteCopy(folder)
    #expect(served.versions == ["P": [5]])
    let after = folder.files("site").keys.filter { $0.hasPrefix("segments/") }
    #expect(after.count < before && Set(after) == served.segments, "what nothing names is gone")
    #expect(try Site(at: FilePath(folder.path("site"))).store.read { try $0.verify(deep: true).faults.isEmpty })
  }

  @Test func pinnedVersionsStay() async throws {
    try await install(0)
    try await publish()
    var options = Transaction.Options()
    options.isPublication = true
    var pinning = try Site(at: FilePath(folder.path("site"))).store.makeTransaction(options: options)
    try pinning.pin("P", version: 1)
    try pinning.commit()
    for change in 1..<4 as Range<UInt64> {
      try await install(change)
      try await publish(keep: 1)
    }
    #expect(try RemoteSiteCopy(folder).versions == ["P": [4, 1]])
  }

  /// A store that went back publishes that, and goes on later.
  @Test func withdrawals() async throws {
    for change in 0..<2 as Range<UInt64> {
      try await install(change)
      try await publish()
    }
    try await store.write { _ = try $0.rollBack("P") }
    let result = try await publish()
    #expect(result.packs[0].isWithdrawal && result.packs[0].newStoredByteCount < 100_000)
    #expect(try RemoteSiteCopy(folder).versions == ["P": [1, 2]])
    try await store.write { try $0.unpin("P") }
    try await install(7)
    #expect(try await publish().packs[0].isWithdrawal == false)
    #expect(try RemoteSiteCopy(folder).versions == ["P": [3, 1, 2]])
  }

  @Test func oneVersionOfSeveral() async throws {
    for change in 0..<2 as Range<UInt64> { try await install(change) }
    let sequence = try await publish([Site.PublishedPack("P", version: 1)]).sequence
    #expect(try RemoteSiteCopy(folder).versions == ["P": [1]])
    #expect(await failure { try await publish([Site.PublishedPack("P", version: 9)]) } == .notFound)
    #expect(await failure { try await publish([Site.PublishedPack("Q")]) } == .notFound)
    #expect(try RemoteSiteCopy(folder).root.sequence == sequence)
  }

  @Test func expiry() async throws {
    try await install()
    try await publish { $0.expiry = .after(.seconds(3600)) }
    let first = try RemoteSiteCopy(folder).root
    #expect(first.expiresAt == first.madeAt + 3_600_000_000_000)
    let renewed = try await publish()
    let second = try RemoteSiteCopy(folder).root
    #expect(!renewed.isUnchanged && renewed.sequence > first.sequence && renewed.packs[0].isUnchanged)
    #expect(second.expiresAt! > first.expiresAt! && second.expiresAfter == first.expiresAfter)
    let site = try Site(at: FilePath(folder.path("site")))
    let refreshed = try await site.refresh(signedBy: key)
    let third = try RemoteSiteCopy(folder).root
    #expect([third.sequence] == refreshed.channels.map(\.sequence) && third.sequence > second.sequence)
    #expect(third.expiresAt! > second.expiresAt! && third.packs == second.packs)
    #expect(await failure { try await site.refresh(signedBy: SiteKey()) } == .untrusted)
    var options = Site.PublishOptions()
    options.expiry = .never
    try await site.refresh(signedBy: key, options: options)
    #expect(try RemoteSiteCopy(folder).root.expiresAt == nil)
    #expect(try await publish().isUnchanged, "a site that does not expire is not written for nothing")
  }

  @Test func aSiteKeepsItsProduct() async throws {
    try await install(0)
    try await publish { $0.product = try? Store.Product("levels") }
    #expect(try RemoteSiteCopy(folder).root.product.name == "levels")
    try await install(1)
    try await publish()
    #expect(try RemoteSiteCopy(folder).root.product.name == "levels")
    #expect(await failure { try await publish { $0.product = .standard } } == .invalidArgument)
  }

  private var deltas: [String] {
    get throws {
      let pack = try RemoteSiteCopy(folder).root.packs[0]
      let versions = try Store(at: FilePath(folder.path("site")), options: .readOnly).makeSnapshot().versions(
        of: pack.id)
      return pack.deltas.map { delta in
        let from = versions.first { $0.catalog == delta.from }, to = pack.offers.first { $0.catalog == delta.to }
        return "\(from?.number ?? 0) to \(to?.number ?? 0)"
      }
    }
  }

  @Test func deltasLeadToTheCurrentVersion() async throws {
    try await install(0)
    #expect(try await publish { $0.deltaCount = 2 }.deltas == [])
    try await install(1)
    let second = try await publish { $0.deltaCount = 2 }
    #expect(second.deltas.map(\.description) == ["P@1 to 2"])
    #expect(try deltas == ["1 to 2"])
    #expect(second.byteCount == (try RemoteSiteCopy(folder)).byteCount(folder))
    #expect(try await publish { $0.deltaCount = 2 }.isUnchanged, "it is there")
    try await install(2)
    #expect(try await publish { $0.deltaCount = 2 }.deltas.map(\.fromVersion) == [2, 1])
    #expect(try deltas == ["2 to 3", "1 to 3"] && folder.files("site/deltas").count == 2)
    // Back to the first version, from the previous one.
    let back = try await publish([Site.PublishedPack("P", version: 2)], keep: 2) { $0.deltaCount = 1 }
    #expect(back.deltas.map(\.description) == ["P@3 to 2"])
    #expect(try deltas == ["3 to 2"] && folder.files("site/deltas").count == 1)
  }

  /// They stay as long as they lead to the current version.
  @Test func deltasStay() async throws {
    for change in 0..<2 as Range<UInt64> {
      try await install(change)
      try await publish { $0.deltaCount = 1 }
    }
    try await store.setPriority(5, of: "P")
    try await publish()
    #expect(try deltas == ["1 to 2"])
    try folder.remove("site/deltas/" + folder.files("site/deltas").keys.first!)
    #expect(try await publish().isUnchanged == false)
    #expect(try deltas == [], "one that is gone is named no longer")
    try await publish { $0.deltaCount = 1 }
    #expect(try deltas == ["1 to 2"])
    try await publish(keep: 1)
    #expect(try deltas == ["0 to 2"], "clients have the first version, though the site does not")
  }

  /// A version that has the content of the one before, and other attributes, is another version: a delta that makes the
  /// one before is dead weight, which no client can apply to reach it.
  @Test func deltasOfAnEqualCatalogGo() async throws {
    for change in 0..<2 as Range<UInt64> {
      try await install(change)
      try await publish { $0.deltaCount = 1 }
    }
    try #require(deltas == ["1 to 2"])
    try await store.setAttributes(Attributes(language: LanguageTag("de")), of: "P")
    try await publish()
    #expect(try RemoteSiteCopy(folder).root.packs[0].offers.map(\.number).first == 3)
    #expect(try deltas == [] && folder.files("site/deltas").isEmpty)
    let again = try await publish { $0.deltaCount = 2 }
    #expect(again.deltas.map(\.description) == ["P@1 to 3"])
  }

  /// A version is out, be there a delta to it or not.
  @Test func deltasThatCannotBeMade() async throws {
    try await install(0)
    try await publish()
    try await install(1)
    try await publish()
    let segments = try Site(at: FilePath(folder.path("site"))).store.read { snapshot in
      try snapshot.segments(of: snapshot.versions(of: "P")[1])
    }
    for segment in segments where segment.kind == .data {
      let name = "site/segments/\(segment.id)"
      var bytes = try Data(contentsOf: URL(fileURLWithPath: folder.path(name)))
      for place in stride(from: 100, to: bytes.count, by: 500) { bytes[place] ^= 1 }
      try bytes.write(to: URL(fileURLWithPath: folder.path(name)))
    }
    let result = try await publish { $0.deltaCount = 1 }
    try #require(result.deltas.isEmpty && result.missingDeltas.count == 1)
    #expect(result.missingDeltas[0].from == 1 && result.missingDeltas[0].version.number == 2)
    #expect(result.missingDeltas[0].reason.contains("chunk"))
    #expect(folder.files("site/deltas").isEmpty)
  }

  /// The version is out before its deltas are made, and stays so.
  @Test func cancelledDeltas() async throws {
    try await install(0)
    try await publish()
    try await install(1)
    let task = Task {
      try await Site(at: FilePath(folder.path("site"))).publish(from: store, signedBy: key) { progress in
        if case .delta = progress { withUnsafeCurrentTask { $0?.cancel() } }
      }
    }
    #expect(await isCancelled { _ = try await task.value })
    #expect(try RemoteSiteCopy(folder, exactly: false).versions == ["P": [2]] && deltas == [])
    try await publish { $0.deltaCount = 1 }
    #expect(try deltas == ["1 to 2"])
    _ = try RemoteSiteCopy(folder)
  }

  @Test func whatIsRefused() async throws {
    try await install()
    try await publish()
    #expect(
      await failure { try await Site(at: FilePath(folder.path("site"))).publish(from: store, signedBy: SiteKey()) }
        == .untrusted)
    #expect(
      await failure { try await Site(at: FilePath(folder.path("store"))).publish(from: store, signedBy: key) }
        == .notAStore)
    #expect(await failure { try await publish(keep: 0) } == .invalidArgument)
    #expect(await failure { try await publish { $0.level = 23 } } == .invalidArgument)
    let site = try Site(at: FilePath(folder.path("site")))
    #expect(await failure { try await site.publish(from: site.store, signedBy: key) } == .invalidArgument)
    // Another store that has another version 1.
    let other = try folder.store("other")
    try await other.install(folder: FilePath(folder.makeFolder("source", sampleFiles(9))), as: "P")
    #expect(await failure { try await site.publish(from: other, signedBy: key) } == .exists)
    #expect(try RemoteSiteCopy(folder).versions == ["P": [1]])
    // A root that was tampered with has no signer.
    var root = try #require(folder.files("site")["root"])
    root[20] ^= 1
    try root.write(to: URL(fileURLWithPath: folder.path("site/root")))
    #expect(await failure { try await publish() } == .untrusted)
  }

  @Test func someoneElsePublishes() async throws {
    try await install()
    try await publish()
    try await install(1)
    let lock = try FileLock(SiteFolder(path: .init(folder.path("site"))).lockFile, waits: false, reason: "")
    #expect(await failure { try await publish { $0.waitsForOthers = false } } == .busy)
    let waiting = Task { try await publish() }
    waiting.cancel()
    #expect(await isCancelled { _ = try await waiting.value })
    withExtendedLifetime(lock) {}
    #expect(try RemoteSiteCopy(folder).versions == ["P": [1]])
  }

  @Test func atTheSameTime() async throws {
    for index in 0..<4 as Range<UInt64> { try await install(index, as: PackID(validating: "P\(index)")) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for index in 0..<4 { group.addTask { try await publish([Site.PublishedPack(PackID(validating: "P\(index)"))]) } }
      try await group.waitForAll()
    }
    let served = try RemoteSiteCopy(folder)
    #expect(served.versions == ["P0": [1], "P1": [1], "P2": [1], "P3": [1]])
  }

  @Test func cancelling() async throws {
    try await install()
    let began = AsyncStream.makeStream(of: Void.self)
    let task = Task {
      try await Site(at: FilePath(folder.path("site"))).publish(from: store, signedBy: key) { _ in
        began.continuation.yield()
      }
    }
    for await _ in began.stream { break }
    task.cancel()
    let code = await failure { _ = try await task.value }
    #expect(code == nil, "it ended, or was cancelled")
    try await publish()
    #expect(try RemoteSiteCopy(folder).versions == ["P": [1]])
  }

  @Test func progressIsTold() async throws {
    try await install()
    let stored = Mutex(0), described = Mutex(0)
    try await Site(at: FilePath(folder.path("site"))).publish(from: store, signedBy: key) { progress in
      switch progress {
      case .store("P", let progress): stored.withLock { $0 = max($0, progress.byteCount) }
      case .describe(_, let total): described.withLock { $0 = total }
      default: break
      }
    }
    #expect(described.withLock { $0 } > 1_000_000)
  }

  /// New offers are reported while the old root is still served, and only if a channel exists that devices follow.
  @Test func newOffersAreReportedBeforeTheRootIsSigned() async throws {
    let root = folder.path("site") + "/root"
    func offered(_ adjust: (inout Site.PublishOptions) -> Void = { _ in }) async throws -> [PackVersion] {
      var options = Site.PublishOptions(level: 1, deltaCount: 0)
      adjust(&options)
      let before = FileManager.default.contents(atPath: root), versions = Mutex<[PackVersion]>([])
      try await Site(at: FilePath(folder.path("site"))).publish(from: store, signedBy: key, options: options) {
        guard case .offer(let offered) = $0 else { return }
        #expect(FileManager.default.contents(atPath: root) == before)
        versions.withLock { $0 += offered }
      }
      return versions.withLock { $0 }
    }
    try await install()
    #expect(try await offered().isEmpty, "a new channel")
    #expect(try await offered().isEmpty, "nothing is new")
    try await install(1)
    #expect(try await offered { $0.channel = nil }.isEmpty, "no channel")
    #expect(try await offered().map(\.number) == [2])
    try await install(2)
    try await install(3, as: "Q")
    #expect(try await offered { $0.channel = try? SiteChannel("beta") }.isEmpty, "a new channel")
    #expect(try await offered().map { "\($0)" }.sorted() == ["P@3", "Q@1"])
  }
}

extension RemoteSiteCopy {
  /// Names of the segment files that the root leads to.
  var segments: Set<String> { Set(files.filter { $0.hasPrefix("segments/") }) }

  func byteCount(_ folder: TemporaryFolder) -> Int {
    let all = folder.files("site")
    return (files + ["root"]).map { all[$0]!.count }.reduce(0, +)
  }
}
