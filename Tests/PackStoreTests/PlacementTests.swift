import Foundation
import PackStore
import Testing

/// Packs with data in a cache folder, where it can be deleted at any moment.
@Suite struct PlacementTests {
  /// Makes two packs without common content; `P` is purgeable.
  private static func store(
    in folder: borrowing TemporaryFolder, _ attributes: Attributes? = nil
  ) async throws -> Store {
    let store = try folder.store()
    let source = try folder.makeFolder("P", ["p/1": noise(400_000, seed: 1), "p/2": noise(300_000, seed: 2)])
    let other = try folder.makeFolder("Q", ["q": noise(200_000, seed: 3)])
    try await store.install(folder: FilePath(source), as: "P")
    try await store.install(folder: FilePath(other), as: "Q")
    let cache = FilePath(folder.path("cache"))
    try await store.change { transaction in
      try transaction.setCacheFolder(cache, byteBudget: 1 << 30)
      try transaction.setPlacement(.purgeable, of: "P")
    }
    return store
  }

  /// The files of the cache folder.
  private static func cacheFiles(_ folder: borrowing TemporaryFolder) -> [String] {
    let names = FileManager.default.enumerator(atPath: folder.path("cache"))?.compactMap { $0 as? String } ?? []
    return names.filter { $0.contains("/segments/") }.map { folder.path("cache/\($0)") }
  }

  private static func vanish(_ folder: borrowing TemporaryFolder) throws {
    try FileManager.default.removeItem(atPath: folder.path("cache"))
  }

  private func expectPurged(_ body: () async throws -> Void) async {
    let error = await #expect(throws: PackStoreError.self) { try await body() }
    #expect(error?.code == .purged && error?.missingByteCount ?? 0 > 0, "\(String(describing: error))")
  }

  private static func availability(_ store: Store, _ pack: PackID = "P") throws -> Store.Availability {
    let snapshot = try store.makeSnapshot()
    return try snapshot.availability(of: snapshot.versions(of: pack)[0])
  }

  @Test func whatVanishesIsPurgedAndNothingElse() async throws {
    let folder = TemporaryFolder()
    let store = try await Self.store(in: folder)
    let snapshot = try store.makeSnapshot()
    #expect(snapshot.cacheFolder == .init(path: FilePath(folder.path("cache")), byteBudget: 1 << 30))
    #expect(snapshot.pack("P")?.placement == .purgeable && snapshot.pack("P")?.isPlacedByHand == true)
    #expect(snapshot.pack("Q")?.placement == .durable && snapshot.pack("Q")?.isPlacedByHand == false)
    #expect(try Self.availability(store).state == .present)
    try Self.vanish(folder)
    let gone = try Self.availability(store)
    #expect(gone.state == .purged && gone.missingByteCount == 700_000 && gone.missingAssetCount == 2)
    #expect(try Self.availability(store, "Q").state == .present)
    let again = try Store(at: store.path, options: .readOnly).makeSnapshot()
    #expect(try again.asset("p/1").availability().missingByteCount == 400_000)
    #expect(try again.asset("q").availability().state == .present)
    await expectPurged { _ = try again.contents(of: "p/1") }
    #expect(try again.contents(of: "q") == noise(200_000, seed: 3))
  }

  @Test func aCutFileLacksItsEndAlone() async throws {
    let folder = TemporaryFolder()
    let store = try await Self.store(in: folder)
    let file = try #require(Self.cacheFiles(folder).first)
    let handle = try #require(FileHandle(forWritingAtPath: file))
    try handle.truncate(atOffset: 300_000)
    try handle.close()
    let cut = try Self.availability(store)
    #expect(cut.state == .partial && cut.missingByteCount > 0 && cut.missingByteCount < 700_000)
    let space = try store.makeSnapshot().space()
    #expect(space.packs["P"]?.missingByteCount ?? 0 > 0 && space.cache.byteCount == 300_000)
  }

  @Test func becomingDurableNeedsItsData() async throws {
    let folder = TemporaryFolder()
    let store = try await Self.store(in: folder)
    try Self.vanish(folder)
    let generation = try store.makeSnapshot().generation
    await expectPurged { try await store.setPlacement(.durable, of: "P") }
    #expect(try store.makeSnapshot().generation == generation)
    #expect(try store.makeSnapshot().pack("P")?.placement == .purgeable)
    // Installing the same content restores the missing data.
    let healed = try await store.install(folder: FilePath(folder.path("P")), as: "P")
    #expect(healed.isUnchanged && healed.restoredCount == 2)
    #expect(try Self.availability(store).state == .present)
    try await store.setPlacement(.durable, of: "P")
    try Self.vanish(folder)
    #expect(try store.contents(of: "p/1") == noise(400_000, seed: 1))
    #expect(try store.makeSnapshot().verify(deep: true).isSound)
  }

  @Test func attributesPlaceUnlessAUserDid() async throws {
    let folder = TemporaryFolder()
    let store = try folder.store()
    let cache = Store.CacheFolder(path: FilePath(folder.path("cache")))
    var options = Transaction.Options()
    options.cacheFolder = cache
    var install = Store.InstallOptions()
    install.attributes = try Attributes(placement: .purgeable)
    let source = FilePath(try folder.makeFolder("P", ["p": noise(300_000, seed: 1)]))
    func pack() throws -> Store.Pack { try #require(try store.makeSnapshot().pack("P")) }

    try await store.change(options: options) { [install] in
      _ = try $0.install(folder: source, as: "P", options: install)
    }
    #expect(try pack().placement == .purgeable && !pack().isPlacedByHand)
    #expect(try store.makeSnapshot().cacheFolder == cache)
    #expect(!Self.cacheFiles(folder).isEmpty)
    try await store.setAttributes(Attributes(), of: "P")
    #expect(try pack().placement == .durable && Self.cacheFiles(folder).isEmpty)
    try await store.setPlacement(.durable, of: "P")
    try await store.setAttributes(Attributes(placement: .purgeable), of: "P")
    #expect(try pack().placement == .durable && pack().isPlacedByHand)

    // A copy follows, too.
    let copy = try folder.store("copy")
    let snapshot = try store.makeSnapshot()
    try await copy.change(options: options) { _ = try $0.copy("P", from: snapshot) }
    #expect(try copy.makeSnapshot().pack("P")?.placement == .purgeable)
    #expect(try copy.contents(of: "p") == noise(300_000, seed: 1))
  }

  @Test func withoutACacheFolderNothingHappens() async throws {
    let folder = TemporaryFolder()
    let store = try folder.store()
    let source = FilePath(try folder.makeFolder("P", ["p": noise(30_000, seed: 1)]))
    try await store.install(folder: source, as: "P")
    let generation = try store.makeSnapshot().generation
    let none = await #expect(throws: PackStoreError.self) { try await store.setPlacement(.purgeable, of: "P") }
    #expect(none?.code == .invalidArgument && none?.remedy?.contains("standardFolder") == true)
    // What cannot be used is named.
    try Data().write(to: URL(fileURLWithPath: folder.path("file")))
    let unusable = await #expect(throws: PackStoreError.self) {
      try await store.change { transaction in
        try transaction.setCacheFolder(FilePath(folder.path("file/cache")))
        try transaction.setPlacement(.purgeable, of: "P")
      }
    }
    #expect(
      unusable?.code == .ioError && unusable?.subject?.name?.hasPrefix(folder.path("file/cache")) == true,
      "\(unusable as Any)")
    let relative = await #expect(throws: PackStoreError.self) {
      try await store.change { try $0.setCacheFolder("cache") }
    }
    #expect(relative?.code == .invalidArgument)
    #expect(try store.makeSnapshot().generation == generation)
  }

  @Test func aPurgeFreesWhatNoReaderHasOpen() async throws {
    let folder = TemporaryFolder()
    let store = try await Self.store(in: folder)
    let other = try Store(at: store.path, options: .readOnly)
    var snapshot: Snapshot? = try other.makeSnapshot()
    #expect(try snapshot?.contents(of: "p/1").count == 400_000)
    let deferred = try await store.purge(bytes: 1)
    #expect(deferred.freedByteCount == 0 && deferred.deferredByteCount > 700_000 && deferred.impossibleByteCount == 0)
    #expect(try snapshot?.contents(of: "p/2").count == 300_000, "what is open goes on")
    snapshot = nil
    _ = other
    #expect(!store.isPurged("P"), "nothing was taken")
  }

  @Test func aPurgeMarksItsPackUntilThatIsWhole() async throws {
    let folder = TemporaryFolder()
    let store = try await Self.store(in: folder)
    let space = try store.makeSnapshot().space()
    let result = try await store.purge(bytes: Int.max)
    #expect(
      result.freedByteCount >= space.cache.byteCount && result.fileCount == space.cache.count
        && result.deferredByteCount == 0)
    #expect(store.isPurged("P") && !store.isPurged("Q"))
    #expect(try Self.availability(store).state == .purged)
    #expect(try store.contents(of: "q") == noise(200_000, seed: 3), "what is durable stays")
    try await store.install(folder: FilePath(folder.path("P")), as: "P")
    #expect(!store.isPurged("P"))
  }

  @Test func pinnedVersionsStay() async throws {
    let folder = TemporaryFolder()
    let store = try await Self.store(in: folder)
    try await store.pin("P", version: 1)
    let result = try await store.purge(bytes: 1)
    #expect(result.freedByteCount == 0 && result.impossibleByteCount == 1 && !store.isPurged("P"))
  }

  @Test func goingBackToWhatWasPurged() async throws {
    let folder = TemporaryFolder()
    let store = try await Self.store(in: folder)
    let next = try folder.makeFolder("next", ["p/1": noise(500_000, seed: 7)])
    try await store.install(folder: FilePath(next), as: "P")
    try Self.vanish(folder)
    await expectPurged { try await store.rollBack("P") }
    #expect(try store.makeSnapshot().pack("P")?.version.number == 2)
    let now = try await store.rollBack("P", allowsPurged: true)
    let snapshot = try store.makeSnapshot()
    #expect(now.number == 1 && snapshot.pack("P")?.isHeld == true)
    #expect(try snapshot.availability(of: now).state == .purged)
    await expectPurged { _ = try snapshot.contents(of: "p/2") }
    #expect(try snapshot.contents(of: "q") == noise(200_000, seed: 3))
  }

  /// Sizes of files below a folder.
  private static func size(_ folder: String) throws -> Int {
    let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
    return try names.map { name in
      let facts = try FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")
      return facts[.type] as? FileAttributeType == .typeRegular ? (facts[.size] as? Int ?? 0) : 0
    }.reduce(0, +)
  }

  /// A purge frees the announced bytes if the data exists, is truncated or is missing.
  @Test(arguments: ["whole", "cut", "gone"]) func accountsAreExact(state: String) async throws {
    let folder = TemporaryFolder()
    let store = try await Self.store(in: folder)
    if state == "gone" { try Self.vanish(folder) }
    if state == "cut" {
      let file = try #require(Self.cacheFiles(folder).first)
      let handle = try #require(FileHandle(forWritingAtPath: file))
      try handle.truncate(atOffset: 200_000)
      try handle.close()
    }
    func measure() throws -> Int {
      try ["store/segments", "store/tables", "cache"].map { try Self.size(folder.path($0)) }.reduce(0, +)
    }
    let space = try store.makeSnapshot().space(), pack = try #require(space.packs["P"])
    let files = try measure()
    #expect(files == space.segments.byteCount + space.tables.byteCount + space.cache.byteCount)
    let bytes = [
      space.ownByteCount, space.sharedByteCount, space.deadByteCount, space.tableByteCount, space.unneededByteCount,
    ].reduce(0, +)
    #expect(bytes == files)
    #expect(space.freedByteCount + space.sharedFileByteCount + space.unneededByteCount == files)
    #expect(space.total.byteCount == (try Self.size(folder.path("store"))))
    #expect((pack.missingByteCount > 0) == (state != "whole") && (pack.cacheByteCount > 0) == (state != "gone"))
    try await store.remove("P")
    #expect(files - (try measure()) == pack.freedByteCount)
  }

  @Test func theStandardFolder() throws {
    func folder(_ environment: [String: String]) throws -> String {
      try Store.Cache.standardFolder(named: "game", environment: environment).string
    }
    #if !canImport(Darwin)
      #expect(try folder(["XDG_CACHE_HOME": "/var/c", "HOME": "/home/u"]) == "/var/c/game")
      #expect(try folder(["XDG_CACHE_HOME": "c", "HOME": "/home/u"]) == "/home/u/.cache/game")
      #expect(try folder(["HOME": "/home/u"]) == "/home/u/.cache/game")
      #expect(throws: PackStoreError.self) { try folder([:]) }
    #endif
  }

  /// Another user who can write to the cache folder replaces the store's folder in it. The store neither follows a link nor uses a
  /// folder that others can write to: its data counts as purged, and no file elsewhere is deleted.
  @Test(arguments: ["link", "writable"]) func aReplacedFolderIsNotUsed(kind: String) async throws {
    let folder = TemporaryFolder(), files = FileManager.default
    let store = try await Self.store(in: folder)
    let segment = try #require(Self.cacheFiles(folder).first), name = FilePath(segment).lastComponent!.string
    let own = FilePath(segment).removingLastComponent().removingLastComponent()
    // Another store's segments, one of them with the name of a segment that this store may purge.
    let segments = [name: "1", String(repeating: "a", count: 32): "2"]
    let other = FilePath(try folder.makeFolder("other/segments", segments))
    let victim = other.removingLastComponent()
    if kind == "link" {
      try files.removeItem(atPath: own.string)
      try files.createSymbolicLink(atPath: own.string, withDestinationPath: victim.string)
    } else {
      try files.setAttributes([.posixPermissions: 0o777], ofItemAtPath: own.string)
    }
    let inTheWay = kind == "link" ? victim : own
    let before = try files.subpathsOfDirectory(atPath: inTheWay.string).sorted()
    #expect(try Self.availability(store).state == .purged)
    #expect(try store.makeSnapshot().space().cache.byteCount == 0)
    #expect(try await store.purge(bytes: 1 << 40).freedByteCount == 0)
    _ = try await store.collect()
    let error = await #expect(throws: PackStoreError.self) {
      try await store.install(folder: FilePath(folder.path("P")), as: "P")
    }
    #expect(error?.code == .ioError)
    try await store.remove("P")
    #expect(try files.subpathsOfDirectory(atPath: inTheWay.string).sorted() == before)
    #expect(try store.contents(of: "q") == noise(200_000, seed: 3))
  }

  /// The path that the user chose may lead through links.
  @Test func theCacheFolderMayBeALink() async throws {
    let folder = TemporaryFolder()
    try folder.makeFolder("elsewhere", ["a": "1"])
    #expect(symlink("elsewhere", folder.path("cache")) == 0)
    let store = try await Self.store(in: folder)
    #expect(try Self.availability(store).state == .present)
    #expect(try store.contents(of: "p/1") == noise(400_000, seed: 1))
  }
}
