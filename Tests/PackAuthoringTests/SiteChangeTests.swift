import Foundation
import PackFormats
import PackStore
import Testing

@testable import PackAuthoring

/// Changes of a site between publications, and its removed files.
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

  /// A pack of one small file, for tests that look at roots alone.
  private func installLittle(_ content: String = "one", as pack: PackID = "P") async throws {
    try await store.install(folder: FilePath(folder.makeFolder("source", ["file": Data(content.utf8)])), as: pack)
  }

  private static func options(
    grace days: Int64, keep: Int = 1, product: Store.Product? = nil, expiry: Site.PublishOptions.Expiry = .asBefore
  ) -> Site.PublishOptions {
    var options = Site.PublishOptions()
    options.product = product
    options.expiry = expiry
    options.level = 1
    options.keptVersionCount = keep
    options.deltaCount = 0
    options.gracePeriod = .seconds(days * 86_400)
    return options
  }

  @discardableResult
  private func publish(
    at day: Int64, grace: Int64 = 7, keep: Int = 1, product: Store.Product? = nil,
    expiry: Site.PublishOptions.Expiry = .asBefore,
    opening: @escaping @Sendable (SitePath) throws -> Void = { _ in }
  ) throws -> Site.PublishResult {
    var publication = Publication(
      site: try Site(at: FilePath(folder.path("site"))), source: .store(store), key: key,
      options: Self.options(grace: grace, keep: keep, product: product, expiry: expiry), progress: nil)
    publication.now = day * Self.day
    publication.folder.opening = opening
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
        ["attributes/", "segments/", "versions/", "frames/", "deltas/", "changes/"].contains { name.hasPrefix($0) }
      })
  }

  // MARK: - Commits other than publications

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
    #expect(try names.isSuperset(of: old) && RemoteSiteCopy(folder).versions == ["P": [2]])
    let waiting = try publish(at: 16)
    #expect(waiting.isUnchanged && waiting.retiredByteCount == result.retiredByteCount && names.isSuperset(of: old))
    let tree = folder.files("site")
    try publish(at: 16)
    #expect(folder.files("site") == tree, "nothing is due, and nothing is written")
    let over = try publish(at: 17)
    #expect(over.isUnchanged && over.retiredByteCount == 0 && over.retiredUntil == nil)
    #expect(try names == Set(RemoteSiteCopy(folder).files))
    let verification = try Store(at: FilePath(folder.path("site")), options: .readOnly).makeSnapshot().verify(
      deep: true)
    #expect(verification.isSound)
  }

  /// A version that returns is not retired any more, and its grace period begins again if it is retired again.
  @Test func whatComesBackStays() async throws {
    try await install(0)
    try publish(at: 1)
    try await install(1)
    try publish(at: 2)
    try await store.write { _ = try $0.rollBack("P", toVersion: 1) }
    try publish(at: 8)
    #expect(try RemoteSiteCopy(folder).versions == ["P": [1]])
    try publish(at: 12)
    let first = try Set(RemoteSiteCopy(folder).files)
    try await store.write { _ = try $0.rollBack("P", toVersion: 2) }
    try publish(at: 13)
    try publish(at: 19)
    #expect(names.isSuperset(of: first))
  }

  /// A clock that goes back once removes nothing early.
  @Test func aClockThatWasBehind() async throws {
    try await install(0)
    try publish(at: 100)
    let old = names
    try await install(1)
    try publish(at: 5)
    #expect(try publish(at: 106).retiredByteCount > 0 && names.isSuperset(of: old))
    #expect(try publish(at: 107).retiredByteCount == 0)
  }

  /// A clock that was ahead once removes nothing early, nor keeps files for as long as it was ahead.
  @Test func aClockThatWasAhead() async throws {
    try await install(0)
    try publish(at: 4)
    let old = names
    try await install(1)
    try publish(at: 5)
    try await refresh(at: 100)
    #expect(try publish(at: 6).retiredByteCount > 0 && names.isSuperset(of: old), "the root's date removes nothing")
    try await install(2)
    try publish(at: 100)
    let second = names
    #expect(try publish(at: 7).retiredByteCount > 0)
    #expect(try publish(at: 14).retiredByteCount > 0 && names.isSuperset(of: second.subtracting(old)))
    #expect(try publish(at: 21).retiredByteCount == 0)
  }

  /// Clients refuse a root dated more than a day ahead: the next signed root has the right date, and a higher number.
  @Test(arguments: ["publish", "publish what is new", "refresh", "unpublish", "repair"])
  func aRootOfTheFuture(_ way: String) async throws {
    try await installLittle()
    try await installLittle(as: "Q")
    try publish(at: 30, expiry: .after(.seconds(86_400)))
    let wrong = try RemoteSiteCopy(folder).root
    switch way {
    case "publish": try publish(at: 2)
    case "publish what is new":
      try await installLittle("two")
      try publish(at: 2)
    case "refresh": try await refresh(at: 2)
    case "unpublish": try unpublish(["Q"], at: 2)
    default:
      var repair = SiteRepair(of: FilePath(folder.path("site")), from: [], options: .init(), progress: nil)
      repair.now = 2 * Self.day
      _ = try repair.run(signedBy: key)
    }
    let root = try RemoteSiteCopy(folder).root
    #expect(root.madeAt == 2 * Self.day && root.sequence > wrong.sequence && root.expiresAt == 3 * Self.day)
    // Within a day clocks may differ, and dates never go back.
    try publish(at: 3)
    try publish(at: 2)
    #expect(try RemoteSiteCopy(folder).root.madeAt == 3 * Self.day)
  }

  private func refresh(at day: Int64) async throws {
    let site = try Site(existingAt: FilePath(folder.path("site")))
    try await site.refresh(signedBy: key, options: .init(), now: day * Self.day)
  }

  /// The system refuses to open a manifest because this process has too many open files: the manifest does not count as
  /// lost, and its files are not deleted.
  @Test func whatCannotBeOpenedIsNotLost() async throws {
    try await install(0)
    try publish(at: 1)
    try commitBehindTheBack { try $0.remove("P") }
    let before = folder.files("site")
    try await install(1)
    for refusal in [Errno.tooManyOpenFiles, .permissionDenied, .ioError] {
      let code = await failure {
        try publish(at: 2) { file in
          guard file.description.hasPrefix("versions/") else { return }
          throw PackStoreError(.ioError, "cannot open", file: "\(file)", systemError: refusal)
        }
      }
      #expect(code == .ioError && folder.files("site") == before)
    }
  }

  @Test func aDamagedListIsSaid() async throws {
    try await install(0)
    try publish(at: 1)
    let before = try RemoteSiteCopy(folder).root
    try Data("packstore retired\n".utf8).write(to: URL(fileURLWithPath: folder.path("site/retired")))
    try await install(1)
    let error = #expect(throws: PackStoreError.self) { try publish(at: 2) }
    #expect(error?.code == .corrupt && error?.subject?.name == folder.path("site/retired"))
    #expect(try RemoteSiteCopy(folder, exactly: false).root == before)
  }

  // MARK: - Unpublishing

  @Test func unpublishing() async throws {
    try await install(0)
    try await install(5, as: "Q")
    let first = try publish(at: 1)
    let old = names
    let result = try unpublish(["Q"], at: 2)
    #expect(result.droppedVersions.map { "\($0)" } == ["Q@1"] && result.sequence > first.sequence)
    #expect(try RemoteSiteCopy(folder).versions == ["P": [1]] && names.isSuperset(of: old))
    #expect(await failure { try unpublish(["Q"], at: 2) } == .notFound)
    try await store.write { try $0.remove("Q") }
    try publish(at: 10)
    #expect(try names == Set(RemoteSiteCopy(folder).files))
    try unpublish(["P"], at: 11, grace: 0)
    #expect(try RemoteSiteCopy(folder).versions == [:] && names == [])
    let stranger = Unpublication(
      site: try Site(existingAt: FilePath(folder.path("site"))), key: SiteKey(), options: .init())
    #expect(await failure { _ = try stranger.run(["P"]) } == .untrusted)
    #expect(await failure { _ = try Site(existingAt: FilePath(folder.path("none"))) } == .notAStore)
    #expect(!FileManager.default.fileExists(atPath: folder.path("none")))
  }

  // MARK: - PurgedDataRecovery

  /// Commits like a program without support for sites: past the mark, and without updating the root.
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
    #expect(try RemoteSiteCopy(folder).versions == ["P": [3, 2, 1], "Q": [1]])
    try commitBehindTheBack { try $0.trim("P", keeping: 1) }
    #expect(try publish(at: 5, keep: 3).lostVersions.isEmpty, "what no channel offers is not missed")
    #expect(try RemoteSiteCopy(folder).versions == ["P": [3], "Q": [1]])
    try commitBehindTheBack { try $0.remove("P") }
    let mended = try publish(at: 6, keep: 3)
    #expect(mended.restoredVersions.map(\.number) == [3] && mended.lostVersions.isEmpty)
    #expect(try RemoteSiteCopy(folder).versions == ["P": [3], "Q": [1]])
    try commitBehindTheBack { try $0.remove("P") }
    try await store.write { try $0.remove("P") }
    let result = try publish(at: 7, keep: 3)
    #expect(result.lostVersions.map(\.description) == ["P@3"])
    #expect(try RemoteSiteCopy(folder).versions == ["Q": [1]])
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
      site: try Site(at: FilePath(folder.path("site"))), source: .store(store), key: key,
      options: Self.options(grace: 7),
      progress: nil)
    publication.now = 3 * Self.day
    let result = try publication.run([Site.PublishedPack("P")])
    #expect(result.restoredVersions.isEmpty && result.lostVersions.isEmpty)
    #expect(try RemoteSiteCopy(folder).versions == ["P": [1]])
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
    // The tables of a damaged manifest cannot be determined: it belongs to another pack.
    let packs = try RemoteSiteCopy(folder).root.packs
    let (p, q) = (packs[0].offers[0], packs[1].offers[0])
    let intact = try #require(before[SitePath.version(q.manifest).description])
    let table = try q.openManifest(Array(intact), of: "Q").segments[0].id
    for name in [SitePath.frames(table).description, SitePath.version(p.manifest).description] {
      var bytes = try #require(before[name])
      bytes[bytes.count - 1] ^= 1
      try bytes.write(to: URL(fileURLWithPath: "\(site)/\(name)"))
    }
    let plan = try await repair(nil)
    #expect(plan.damagedFiles.count == 2 && plan.sequences.isEmpty && !plan.wasWhole)
    #expect(await failure { _ = try await repair(SiteKey()) } == .untrusted)
    let result = try await repair(key)
    #expect(result.damagedFiles == plan.damagedFiles && result.store.wasWhole)
    #expect(folder.files("site") == before, "made again, they are what they were")

    for name in try FileManager.default.contentsOfDirectory(atPath: "\(site)/index") {
      try folder.remove("site/index/\(name)")
    }
    try folder.remove("site/CONTROL")
    #expect(await failure { _ = try await Store.repair(at: FilePath(site)) } == .isSite)
    #expect(try await repair(key).store.isRebuilt)
    #expect(try RemoteSiteCopy(folder).versions == ["P": [1], "Q": [1]])
    #expect(
      try Store(at: FilePath(site)).makeSnapshot().packs.allSatisfy { $0.origin == .local },
      "a site's packs are its own")
    let other = await failure {
      let store = try Store(at: FilePath(site))
      _ = try store.makeTransaction()
    }
    #expect(other == .isSite)

  }

  /// After any damage of the root, a repair signs another one with the values of the lost one: product and expiry must
  /// be given, and are never guessed.
  @Test func aLostRoot() async throws {
    let product = try Store.Product("levels")
    try await installLittle()
    try publish(at: 1, product: product, expiry: .after(.seconds(86_400)))
    let root = try #require(folder.files("site")["root"])
    var damaged: [Data?] = [
      nil, Data(), root.prefix(11), root.prefix(50), root.prefix(100), root.dropLast(), root + [0],
    ]
    for offset in [0, 7, 12, 24, 40, 92, root.count - 65, root.count - 1] {
      var bytes = root
      bytes[offset] ^= 1
      damaged.append(bytes)
    }
    func lose(_ bytes: Data?) throws {
      try? folder.remove("site/root")
      try bytes?.write(to: URL(fileURLWithPath: folder.path("site/root")))
    }
    func repair(_ options: Site.PublishOptions, _ key: SiteKey) async throws -> Site.RepairResult {
      try await Site.repair(at: FilePath(folder.path("site")), signedBy: key, options: options)
    }
    for bytes in damaged {
      try lose(bytes)
      let plan = try await Site.repair(at: FilePath(folder.path("site")), signedBy: nil)
      #expect(plan.damagedFiles == ["root"])
      for incomplete in [
        Site.PublishOptions(), Self.options(grace: 7, product: product), Self.options(grace: 7, expiry: .never),
      ] {
        #expect(await failure { _ = try await repair(incomplete, key) } == .invalidArgument)
      }
      #expect(folder.files("site")["root"] == bytes)
      let options = Self.options(grace: 7, product: product, expiry: .after(.seconds(2 * 86_400)))
      #expect(try await repair(options, key).damagedFiles == ["root"])
      let served = try RemoteSiteCopy(folder)
      #expect(served.versions == ["P": [1]] && served.root.product == product && served.publicKey == key.publicKey)
      #expect(served.root.expiresAfter == 2 * Self.day)
    }
    #expect(try await repair(.init(), key).wasWhole)
    // A damaged root still has its owner, and a root of another format is not damaged.
    try lose(damaged[7])
    let options = Self.options(grace: 7, product: product, expiry: .never)
    #expect(await failure { _ = try await repair(options, SiteKey()) } == .untrusted)
    var newer = root
    newer[8] = 200
    try lose(newer)
    #expect(await failure { _ = try await repair(options, key) } == .newerFormat)
  }

  /// A repair does not open and empty a channel with a damaged root: clients would conclude that its packs are
  /// withdrawn. The channel is closed by a key that is certainly allowed to sign it, or the repair is refused.
  @Test func aDamagedRootOfAChannel() async throws {
    try await installLittle()
    try publish(at: 1)
    let beta = try SiteChannel("beta"), place = folder.path("site/roots/beta")
    func edit(_ key: SiteKey) throws -> ChannelEdit {
      ChannelEdit(
        of: beta, of: try Site(at: FilePath(folder.path("site"))), signedBy: key, options: Self.options(grace: 7))
    }
    func repair(_ key: SiteKey) async throws -> Site.RepairResult {
      try await Site.repair(at: FilePath(folder.path("site")), signedBy: key)
    }
    _ = try edit(key).promote("P", 1)
    let whole = try #require(folder.files("site")["roots/beta"])
    var bent = whole
    bent[whole.count - 100] ^= 1
    var bentAuthority = whole
    bentAuthority[100] ^= 1
    // Whose word it is signed by is known: it is this key's.
    try bent.write(to: URL(fileURLWithPath: place))
    let repaired = try await repair(key)
    #expect(repaired.damagedFiles == ["roots/beta"] && repaired.closedChannels == [beta])
    let closed = try #require(try SiteFolder(path: FilePath(folder.path("site"))).readRoot(of: beta)).root
    #expect(closed.isClosed && closed.packs.isEmpty)
    #expect(try RemoteSiteCopy(folder).versions == ["P": [1]])
    #expect(try await repair(key).wasWhole)
    _ = try edit(key).promote("P", 1)
    // Its key is unknown, and a key for all channels could lock out the channel's own key.
    for bytes in [Data(), whole.prefix(80), bentAuthority] {
      try bytes.write(to: URL(fileURLWithPath: place))
      let before = folder.files("site")
      #expect(await failure { _ = try await repair(key) } == .corrupt || folder.files("site") == before)
      #expect(folder.files("site") == before)
    }
    let own = try SiteKey().delegated(
      by: key, serial: 7, madeAt: 0, endsAt: nil, product: .standard, channels: [.live, beta])
    #expect(try await repair(own).closedChannels == [beta])
    // A key for all channels does not change a channel that a key of its own has signed, with any damage elsewhere.
    let betaKey = try SiteKey().delegated(
      by: key, serial: 9, madeAt: 0, endsAt: nil, product: .standard, channels: [beta])
    _ = try edit(betaKey).promote("P", 1)
    var last = try #require(folder.files("site")["roots/beta"])
    last[last.count - 1] ^= 1
    try last.write(to: URL(fileURLWithPath: place))
    let all = try SiteKey().delegated(by: key, serial: 11, madeAt: 0, endsAt: nil, product: .standard, channels: [])
    #expect(await failure { _ = try await repair(all) } != nil)
    #expect(folder.files("site")["roots/beta"] == last)
  }

  /// The root of `live` is lost, and another channel's root exists: the folder is not a site without `live`.
  @Test func aLostRootBesideAnother() async throws {
    try await installLittle()
    try publish(at: 1)
    let beta = try SiteChannel("beta"), site = try Site(at: FilePath(folder.path("site")))
    _ = try ChannelEdit(of: beta, of: site, signedBy: key, options: Self.options(grace: 7)).promote("P", 1)
    try folder.remove("site/root")
    #expect(await failure { try publish(at: 3) } == .invalidArgument)
    #expect(await failure { _ = try await site.promote("P", version: 1, to: beta, signedBy: key) } == .invalidArgument)
    #expect(try await Site.repair(at: site.path, signedBy: nil).damagedFiles == ["root"])
    #expect(await failure { _ = try await Site.repair(at: site.path, signedBy: key) } == .invalidArgument)
    let betaKey = try SiteKey().delegated(
      by: key, serial: 9, madeAt: 0, endsAt: nil, product: .standard, channels: [beta])
    try await site.refresh(signedBy: betaKey)  // it is none of its business
    let options = Self.options(grace: 7, product: .standard, expiry: .never)
    let repaired = try await Site.repair(at: site.path, signedBy: key, options: options)
    #expect(repaired.damagedFiles == ["root"])
    #expect(
      try RemoteSiteCopy(folder).versions.isEmpty, "what it offered is not guessed: it may be that of the other channel"
    )
    #expect(try publish(at: 3).packs.map(\.version.number) == [1])
    #expect(try RemoteSiteCopy(folder).versions == ["P": [1]])
  }

  /// A site that begins with another channel has a root of `live`, so that one which is missing later was lost.
  @Test func aSiteThatBeginsWithAnotherChannel() async throws {
    try await installLittle()
    var options = Self.options(grace: 7)
    options.channel = try SiteChannel("beta")
    let site = try Site(at: FilePath(folder.path("site")))
    try await site.publish(from: store, signedBy: key, options: options)
    #expect(
      try RemoteSiteCopy(folder).versions.isEmpty
        && RemoteSiteCopy(folder, channel: options.channel!).versions == ["P": [1]])
  }

  /// A publication does not guess values that only the root had either.
  @Test(arguments: [true, false]) func publishingWithoutTheRoot(hasPacks: Bool) async throws {
    let product = try Store.Product("levels")
    try await installLittle()
    try publish(at: 1, product: product, expiry: .after(.seconds(86_400)))
    if !hasPacks { try unpublish(["P"], at: 2) }
    try folder.remove("site/root")
    #expect(await failure { try publish(at: 3) } == .invalidArgument)
    #expect(await failure { try publish(at: 3, product: product) } == .invalidArgument)
    #expect(await failure { try unpublish(["P"], at: 3) } == .invalidArgument)
    #expect(folder.files("site")["root"] == nil)
    try publish(at: 3, product: product, expiry: .never)
    let root = try RemoteSiteCopy(folder).root
    #expect(root.product == product && root.expiresAfter == nil)
  }
}
