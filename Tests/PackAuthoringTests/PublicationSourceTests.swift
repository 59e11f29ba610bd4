import Foundation
import Testing

@testable import PackAuthoring
import PackFormats
@testable import PackStore

/// Publications from manifests and archives, and what dry runs say of them.
@Suite struct PublicationSourceTests {
  let folder: TemporaryFolder
  let store: Store
  let key = SiteKey()

  init() throws {
    folder = try TemporaryFolder()
    store = try folder.store()
  }

  private var site: Site { get throws { try Site(at: FilePath(folder.path("site"))) } }

  private var options: Site.PublishOptions { Site.PublishOptions(level: 1, deltaCount: 0, gracePeriod: .zero) }

  private func install(_ change: UInt64, as pack: PackID = "P") async throws {
    try await store.install(folder: FilePath(folder.makeFolder("source", sampleFiles(change))), as: pack)
  }

  @discardableResult
  private func publish(
    _ source: Site.Source, _ packs: [Site.PublishedPack]? = nil, dry: Bool = false
  ) async throws -> Site.PublishResult {
    try await site.publish(packs, from: source, signedBy: key, options: options, isDryRun: dry)
  }

  /// The announced result of a dry run equals the real one, and the dry run leaves every byte of the site unchanged.
  @discardableResult
  private func publishAsPlanned(
    _ source: Site.Source, _ packs: [Site.PublishedPack]? = nil, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> Site.PublishResult {
    _ = try site
    let before = folder.files("site")
    let plan = try await publish(source, packs, dry: true)
    #expect(folder.files("site") == before, "a dry run leaves no trace", sourceLocation: sourceLocation)
    let result = try await publish(source, packs)
    #expect(plan.isUnchanged == result.isUnchanged, sourceLocation: sourceLocation)
    #expect(plan.changedChannels == result.changedChannels, sourceLocation: sourceLocation)
    #expect(plan.droppedVersions.map(\.number) == result.droppedVersions.map(\.number), sourceLocation: sourceLocation)
    let said = { (packs: [Site.PublishResult.Pack]) in
      packs.map {
        "\($0.version) \($0.previous?.number ?? 0) \($0.isUnchanged) \($0.newByteCount) \($0.newStoredByteCount)"
      }
    }
    #expect(said(plan.packs) == said(result.packs), sourceLocation: sourceLocation)
    #expect(plan.newByteCount <= result.newByteCount, sourceLocation: sourceLocation)
    return result
  }

  /// Nothing of an attempt stays in the site's store.
  private func expectNothingUnfinished(sourceLocation: SourceLocation = #_sourceLocation) {
    let rest = folder.files("site").keys.filter { $0.hasPrefix("incoming/") || $0.hasPrefix("tmp/") }
    #expect(rest.isEmpty, sourceLocation: sourceLocation)
  }

  // MARK: - Stores

  @Test func aDryRunOfAStore() async throws {
    try await install(0)
    try await install(7, as: "Q")
    #expect(try await publishAsPlanned(.store(store)).changedChannels == [.live])
    #expect(try await publishAsPlanned(.store(store)).isUnchanged)
    try await install(1)
    try await publishAsPlanned(.store(store), [.init("P")])
    for change in 2...5 {
      try await install(UInt64(change))
      try await publishAsPlanned(.store(store))
    }
    #expect(try RemoteSiteCopy(folder).versions["P"]?.count == 3, "versions were dropped as planned")
    try await store.write { try $0.setPriority(5, of: "Q") }
    #expect(try await publishAsPlanned(.store(store)).changedChannels == [.live], "a priority is said in the root")
  }

  // MARK: - Manifests

  private func evaluate(_ change: UInt64, _ more: String = "") throws -> ManifestEvaluation {
    try folder.makeFolder("game", sampleFiles(change))
    let text = #"""
      {"assetPackID": "M", "downloadPolicy": {"onDemand": {}}, "sourceRoot": "game", "packstore": {"layout": "sequential"},
      \#(more) "fileSelectors": [{"directory": "small"}, {"fileSource": "changing", "fileDestination": "data"}]}
      """#
    try Data(text.utf8).write(to: URL(fileURLWithPath: folder.path("Manifest.json")))
    return try Manifest.evaluate(contentsOf: FilePath(folder.path("Manifest.json")))
  }

  @Test func manifestsArePackedIntoTheSite() async throws {
    let first = try await publishAsPlanned(.manifest(evaluate(0, #""platforms": ["iOS"],"#)))
    #expect(first.packs.map { "\($0.version)" } == ["M@1"])
    let attributes = try site.store.read { try $0.attributes(of: first.packs[0].version) }
    #expect(attributes.platforms.map(\.rawValue) == ["iOS"])
    #expect(try contents(of: "M", in: site.store)["data"] == sampleFiles(0)["changing"])
    #expect(try RemoteSiteCopy(folder).versions == ["M": [1]])
    #expect(try await publishAsPlanned(.manifest(evaluate(0, #""platforms": ["iOS"],"#))).isUnchanged)
    #expect(try await publishAsPlanned(.manifest(evaluate(1))).packs.map(\.version.number) == [2])
    #expect(try await publishAsPlanned(.manifest(evaluate(2), version: 9)).packs.map(\.version.number) == [9])
    expectNothingUnfinished()
    // What `package` makes of it is the same version.
    try await publish(.manifest(evaluate(3), version: 12))
    var packing = Manifest.PackageOptions()
    packing.version = 12
    packing.level = 1
    let archive = FilePath(folder.path("M.pack"))
    _ = try await evaluate(3).package(to: archive, signedBy: key, options: packing)
    #expect(try await publish(.archives(ArchivedPacks(at: [archive], signedBy: key))).isUnchanged)
  }

  /// A number that is taken is "already there" for the same content, also when it is not current, and refused for other.
  @Test func numbersOfManifests() async throws {
    for number in 1...3 { try await publish(.manifest(evaluate(UInt64(number)), version: UInt64(number))) }
    #expect(try await publishAsPlanned(.manifest(evaluate(3), version: 3)).isUnchanged)
    let back = try await publishAsPlanned(.manifest(evaluate(2), version: 2))
    #expect(back.packs.map(\.isWithdrawal) == [true])
    #expect(try RemoteSiteCopy(folder).root.packs[0].offers.map(\.number) == [2])
    let before = folder.files("site")
    for (change, number) in [(5, 3), (5, 2), (2, 1)] as [(UInt64, UInt64)] {
      let refused = await failure { try await publish(.manifest(evaluate(change), version: number)) }
      #expect(refused == .exists)
    }
    #expect(await failure { try await publish(.manifest(evaluate(2, #""language": "en","#), version: 2)) } == .exists)
    #expect(await failure { try await publish(.manifest(evaluate(6)), [.init("N")]) } == .notFound)
    #expect(await failure { try await publish(.manifest(evaluate(6)), [.init("M", version: 2)]) } == .invalidArgument)
    let broken = try evaluate(6, #""fileSelector": [],"#)
    #expect(await failure { try await publish(.manifest(broken)) } == .refused)
    #expect(folder.files("site") == before)
    expectNothingUnfinished()
  }

  // MARK: - Archives

  private func export(
    _ pack: PackID, _ version: UInt64? = nil, to name: String, by key: SiteKey? = nil, product: Store.Product? = nil,
    expiry: Site.PublishOptions.Expiry = .never
  ) async throws -> FilePath {
    let file = FilePath(folder.path(name))
    let options = Site.PublishOptions(level: 3, product: product, expiry: expiry)
    _ = try await store.export(
      .init(pack, version: version), to: file, signedBy: key ?? self.key, options: options, replacing: true)
    return file
  }

  private func archives(_ paths: FilePath...) throws -> Site.Source {
    .archives(try ArchivedPacks(at: paths, signedBy: key))
  }

  @Test func archivesAreTakenAsTheyAre() async throws {
    try await install(0)
    let first = try await export("P", to: "P-1.pack")
    try await install(1)
    let second = try await export("P", to: "P-2.pack")
    try await install(7, as: "Q")
    let other = try await export("Q", to: "Q.pack")
    let result = try await publishAsPlanned(archives(first, other))
    #expect(result.packs.map { "\($0.version)" } == ["P@1", "Q@1"])
    #expect(try contents(of: "P", in: site.store) == sampleFiles(0))
    #expect(try await publishAsPlanned(archives(first, other)).isUnchanged)
    #expect(try await publishAsPlanned(archives(first, second)).packs.map(\.version.number) == [2])
    #expect(try contents(of: "P", in: site.store) == sampleFiles(1))
    #expect(try await publishAsPlanned(archives(first, second), [.init("P", version: 1)]).packs[0].isWithdrawal)
    #expect(try RemoteSiteCopy(folder).versions == ["P": [1, 2], "Q": [1]])
    #expect(await failure { try await publish(archives(first), [.init("P", version: 2)]) } == .notFound)
    #expect(await failure { try await publish(archives(first), [.init("Q")]) } == .notFound)
    expectNothingUnfinished()
    let names = try ArchivedPacks.paths(inFolder: FilePath(folder.path)).compactMap(\.lastComponent?.string)
    #expect(names == ["P-1.pack", "P-2.pack", "Q.pack"])
  }

  @Test func aNumberOfOtherContentIsRefused() async throws {
    try await install(0)
    try await publish(archives(export("P", to: "P.pack")))
    let before = folder.files("site")
    let another = try Store(at: FilePath(folder.path("another")))
    try await another.install(folder: FilePath(folder.makeFolder("source", sampleFiles(3))), as: "P")
    let file = FilePath(folder.path("another.pack"))
    _ = try await another.export(.init("P"), to: file, signedBy: key)
    #expect(await failure { try await publish(archives(file)) } == .exists)
    #expect(await failure { try await publish(archives(file), dry: true) } == .exists)
    // The same content, and other attributes.
    let told = try Store(at: FilePath(folder.path("told")))
    let attributes = try Attributes(json: Array(#"{"language":"en"}"#.utf8), file: "attributes")
    try await told.install(
      folder: FilePath(folder.makeFolder("source", sampleFiles(0))), as: "P", options: .init(attributes: attributes))
    _ = try await told.export(.init("P"), to: file, signedBy: key, replacing: true)
    #expect(await failure { try await publish(archives(file)) } == .exists)
    #expect(folder.files("site") == before)
    expectNothingUnfinished()
    let both = await failure { _ = try ArchivedPacks(at: [file, FilePath(folder.path("P.pack"))], signedBy: key) }
    #expect(both == .exists)
  }

  /// Each archive that clients of the publisher would not take: refused, and the site is as it was.
  @Test func archivesOfOthersAreRefused() async throws {
    try await install(0)
    let good = try await export("P", to: "good.pack")
    let year = Int64(365 * 86_400) * 1_000_000_000, now = nanosecondsSince1970()
    func releaseKey(_ serial: UInt64, endsAt: Int64? = nil, by root: SiteKey? = nil) throws -> SiteKey {
      try SiteKey().delegated(
        by: root ?? key, serial: serial, madeAt: now - year, endsAt: endsAt, product: .standard, channels: [])
    }
    let release = try releaseKey(9), thief = try releaseKey(5), next = try SiteKey().following(key)
    func take(_ file: FilePath, by key: SiteKey) throws { _ = try ArchivedPacks(at: [file], signedBy: key) }
    try await take(export("P", to: "a.pack", by: release), by: release)
    try await take(export("P", to: "a.pack", by: release), by: key)
    let refused: [(String, SiteKey, FilePath)] = [
      ("another publisher", SiteKey(), good),
      ("a key that was replaced", release, try await export("P", to: "thief.pack", by: thief)),
      ("a root key that another followed", next, good),
      ("an archive that expired", key, try await expired()),
    ]
    for (name, signer, file) in refused {
      #expect(await failure { try take(file, by: signer) } == .untrusted, "\(name)")
    }
    let ended = try SiteKey().delegated(
      by: key, serial: 8, madeAt: now - year, endsAt: now + 3_600_000_000_000, product: .standard, channels: [])
    let archive = try SignedArchive(at: await export("P", to: "ended.pack", by: ended))
    #expect(await failure { try archive.requirePublisher(key, at: now + year) } == .untrusted)
    #expect(await failure { try archive.requirePublisher(key, at: now) } == nil)
    // The keys in the site bind as well.
    try await site.publish(from: store, signedBy: release, options: options)
    let before = folder.files("site")
    let stolen = FilePath(folder.path("thief.pack"))
    let trusting = try ArchivedPacks(at: [stolen], signedBy: thief)
    let replaced = await failure {
      _ = try await site.publish(from: .archives(trusting), signedBy: thief, options: options)
    }
    #expect(replaced == .untrusted)
    #expect(folder.files("site") == before)
  }

  /// An archive that is valid only for a moment.
  private func expired() async throws -> FilePath {
    var publication = Publication(
      site: try Site(at: FilePath(folder.path("short"))), source: .store(store), key: key,
      options: Site.PublishOptions(level: 1, deltaCount: 0, expiry: .after(.seconds(60))), progress: nil)
    publication.now = nanosecondsSince1970() - 3_600_000_000_000
    _ = try publication.run([.init("P")])
    let folder = SiteFolder(path: FilePath(folder.path("short")))
    let file = FilePath(self.folder.path("expired.pack"))
    _ = try ArchiveWriter(of: folder, #require(try folder.readRoot()?.root)).write(to: FilePlace(file))
    return file
  }

  @Test func productsDoNotMix() async throws {
    try await install(0)
    let levels = try Store.Product("levels")
    let archive = try await export("P", to: "levels.pack", product: levels)
    try await publish(archives(archive))
    #expect(try RemoteSiteCopy(folder).root.product == levels, "a new site is what its first archive is")
    let standard = try await export("P", to: "standard.pack")
    #expect(await failure { try await publish(archives(standard)) } == .invalidArgument)
    #expect(await failure { _ = try archives(archive, standard) } == .invalidArgument)
    var options = options
    options.product = .standard
    let other = try archives(archive)
    let refused = await failure { _ = try await site.publish(from: other, signedBy: key, options: options) }
    #expect(refused == .invalidArgument)
  }

  /// A flipped bit anywhere in an archive changes no content, and existing packs stay.
  @Test func damagedArchives() async throws {
    try await install(0)
    let file = try await export("P", to: "P.pack")
    let bytes = try Array(Data(contentsOf: URL(fileURLWithPath: file.string)))
    _ = try site
    let before = folder.files("site")
    var refusals = 0
    for offset in stride(from: 257, to: bytes.count - 1024, by: bytes.count / 61) {
      var damaged = bytes
      damaged[offset] ^= 0x10
      try Data(damaged).write(to: URL(fileURLWithPath: file.string))
      let code = await failure { try await publish(archives(file), dry: true) }
      guard let code else { continue }  // padding, or bytes that clients do not read
      refusals += 1
      #expect([.corrupt, .untrusted, .newerFormat, .otherDraft].contains(code), "\(code) at \(offset)")
      #expect(folder.files("site") == before, "at \(offset)")
    }
    #expect(refusals > 40)
    try Data(bytes.prefix(bytes.count / 2)).write(to: URL(fileURLWithPath: file.string))
    #expect(await failure { try await publish(archives(file)) } == .corrupt)
    expectNothingUnfinished()
  }

  /// Data that the site lost is restored from an archive with the same number.
  @Test func archivesRestore() async throws {
    try await install(0)
    let file = try await export("P", to: "P.pack")
    try await publish(archives(file))
    // The store forgets its packs, as after a repair that found nothing; the root still names them.
    var transactionOptions = Transaction.Options()
    transactionOptions.isPublication = true
    var transaction = try site.store.makeTransaction(options: transactionOptions)
    try transaction.remove("P")
    try transaction.commit()
    let result = try await publish(archives(file))
    #expect(result.restoredVersions.map(\.number) == [1] && result.lostVersions.isEmpty)
    #expect(try RemoteSiteCopy(folder).versions == ["P": [1]])
    #expect(try contents(of: "P", in: site.store) == sampleFiles(0))
  }

  // MARK: - Other dry runs

  /// A dry run creates neither a missing folder nor a lock file of a site, and changes no byte; it reports the result.
  @Test func dryRunsLeaveNoTrace() async throws {
    try await install(0)
    try await publish(.store(store))
    try await install(1)
    try await publish(.store(store))
    try await install(7, as: "Q")
    try await publish(.store(store))
    for name in ["roots", "retired", "root.lock", "deltas"] { try? folder.remove("site/\(name)") }
    let names = { Set(FileManager.default.enumerator(atPath: folder.path("site"))?.compactMap { $0 as? String } ?? []) }
    let before = (names(), folder.files("site"))
    let site = try Site(existingAt: FilePath(folder.path("site")))
    var takingBack = Site.PublishOptions()
    takingBack.takesBack = true
    let promoted = try await site.promote(
      "P", version: 1, to: .live, signedBy: key, options: takingBack, isDryRun: true)
    #expect(promoted.offers["P"]?.count == 1)
    let beta = try SiteChannel("beta")
    #expect(try await site.promote("P", version: 1, to: beta, signedBy: key, isDryRun: true).isNew)
    let unpublished = try await site.unpublish(["Q"], signedBy: key, isDryRun: true)
    #expect(unpublished.droppedVersions.map(\.pack) == ["Q"] && unpublished.changedChannels == [.live])
    let refreshed = try await site.refresh(signedBy: key, isDryRun: true)
    #expect(refreshed.channels.map(\.channel) == [.live])
    let deltas = try await site.planDeltas(signedBy: key)
    #expect(deltas.map { "\($0.from) \($0.to)" } == ["P@1 P@2"])
    try await site.publish([.init("P", version: 1)], from: store, signedBy: key, options: options, isDryRun: true)
    #expect(names() == before.0 && folder.files("site") == before.1)
    let made = try await site.makeDeltas(signedBy: key, options: options.withDeltas(1))
    #expect(made.made.map { "\($0.fromVersion) \($0.toVersion)" } == ["1 2"])
    #expect(try await site.planDeltas(signedBy: key).isEmpty)
    let real = try await site.unpublish(["Q"], signedBy: key, options: options)
    #expect(real.changedChannels == unpublished.changedChannels)
  }
}

extension Site.PublishOptions {
  fileprivate func withDeltas(_ count: Int) -> Self {
    var options = self
    options.deltaCount = count
    options.deltaOptions.level = Store.DeltaOptions.fastLevel
    return options
  }
}
