import Foundation
import Testing

@testable import PackAuthoring
import PackFormats
@testable import PackStore

/// The change lists of a site: which exist, and when they are made and deleted.
@Suite struct ChangeListTests {
  let folder: TemporaryFolder
  let store: Store
  let key = SiteKey()

  init() throws {
    folder = try TemporaryFolder()
    store = try folder.store()
  }

  /// Publishes versions of a pack with a few files that differ by `changes`. Returns the id of each.
  @discardableResult
  private func publish(_ changes: some Sequence<Int>, keep: Int = 3) async throws -> [CatalogID] {
    var catalogs: [CatalogID] = []
    for change in changes { catalogs.append(try await publish(change, keep: keep)) }
    return catalogs
  }

  private func publish(_ change: Int, keep: Int) async throws -> CatalogID {
    var files = Dictionary(uniqueKeysWithValues: (0..<50).map { ("still/\($0)", Data("the file \($0)".utf8)) })
    files["changed"] = Data("change \(change)".utf8)
    try await store.install(folder: FilePath(folder.makeFolder("source", files)), as: "P")
    var options = Site.PublishOptions()
    options.keptVersionCount = keep
    options.deltaCount = 0
    options.gracePeriod = .zero
    let site = try Site(at: FilePath(folder.path("site")))
    return try await site.publish(from: store, signedBy: key, options: options).packs[0].version.catalog
  }

  private func manifest() throws -> VersionManifest {
    let site = SiteFolder(path: FilePath(folder.path("site")))
    let pack = try #require(try site.readRoot()?.root.packs.first)
    return try site.manifest(of: pack.offers[0], in: pack.id)
  }

  private var lists: Set<String> { Set(folder.files("site/changes").keys) }

  @Test func oneLeadsFromEachEarlierVersion() async throws {
    let catalogs = try await publish(1...4)
    // The first was about to leave the site when the last came: clients have it all the same.
    #expect(try manifest().changeLists.map(\.from) == catalogs.dropLast().reversed())
    #expect(try RemoteSiteCopy(folder).versions == ["P": [4, 3, 2]])
    for list in try manifest().changeLists {
      #expect(list.byteCount < 500, "\(list.byteCount) bytes for one change of 51 files")
    }
  }

  @Test func oneOfEachContent() async throws {
    let catalogs = try await publish([1, 2, 1, 3], keep: 9)
    #expect(catalogs[0] == catalogs[2])
    #expect(try manifest().changeLists.map(\.from) == [catalogs[2], catalogs[1]])
  }

  @Test func notMoreThanEight() async throws {
    let catalogs = try await publish(1...10, keep: 20)
    #expect(try manifest().changeLists.map(\.from) == catalogs[1..<9].reversed())
  }

  /// A copy without frame tables and lists is published to as one with them, if it is known that the site has them; of versions
  /// that are kept and not offered, too, and whether or not it has frames.
  @Test(arguments: [true, false]) func listsAndTablesMayBeElsewhere(areKnown: Bool) async throws {
    try await publish(1...3)
    let place = FilePath(folder.path("site")), site = SiteFolder(path: place)
    let before = try Site(existingAt: place).inventory().files
    let left = before.filter { if case .segment = $0 { false } else { $0.mayBeElsewhere } }
    #expect(left.contains { if case .changes = $0 { true } else { false } } && left.count > 6)
    for file in left { try site.remove(file) }
    try await store.install(folder: FilePath(folder.makeFolder("source", ["other": Data("text".utf8)])), as: "P")
    let copy = try Site(copyAt: place, elsewhere: areKnown ? before : [])
    #expect(try copy.inventory().files.isSuperset(of: before) == areKnown)
    var options = options
    options.keptVersionCount = 9
    try await copy.publish(from: store, signedBy: key, options: options)
    let known = try copy.inventory().files
    #expect(areKnown == left.allSatisfy { !FileManager.default.fileExists(atPath: folder.path("site/\($0)")) })
    if areKnown { #expect(known.isSuperset(of: left)) }
    for file in known.subtracting(left) where !FileManager.default.fileExists(atPath: folder.path("site/\(file)")) {
      Issue.record("\(file) is missing")
    }
  }

  /// They live and retire with the manifest that names them.
  @Test func theyLeaveTheSiteWithTheirVersion() async throws {
    try await publish(1...3, keep: 1)
    #expect(try lists == Set(manifest().changeLists.map(\.digest.hex)) && lists.count == 1)
    try await Site(existingAt: FilePath(folder.path("site"))).unpublish(["P"], signedBy: key, options: options)
    #expect(lists.isEmpty)
  }

  private var options: Site.PublishOptions {
    var options = Site.PublishOptions()
    options.gracePeriod = .zero
    return options
  }

  /// The next publication makes a missing list again, and a repair a damaged one.
  @Test func whatIsLostIsMadeAgain() async throws {
    try await publish(1...2)
    let before = try manifest(), name = "site/changes/\(before.changeLists[0].digest.hex)"
    let bytes = try #require(FileManager.default.contents(atPath: folder.path(name)))
    try folder.remove(name)
    try await Site(at: FilePath(folder.path("site"))).publish(from: store, signedBy: key, options: options)
    #expect(FileManager.default.contents(atPath: folder.path(name)) == bytes)
    #expect(try manifest() == before && RemoteSiteCopy(folder).versions["P"]?.first == 2)

    var damaged = bytes
    damaged[140] ^= 1
    #expect(FileManager.default.createFile(atPath: folder.path(name), contents: damaged))
    let plan = try await Site.repair(at: FilePath(folder.path("site")), signedBy: nil)
    #expect(plan.damagedFiles == ["changes/\(before.changeLists[0].digest.hex)"])
    _ = try await Site.repair(at: FilePath(folder.path("site")), signedBy: key)
    #expect(FileManager.default.contents(atPath: folder.path(name)) == bytes)
    #expect(try manifest() == before)
  }

  /// The last version from which a list led is not kept any more: then the version is described without it.
  @Test func whatCannotBeMadeAgainIsLeftOut() async throws {
    try await publish(1...2, keep: 1)
    try folder.remove("site/changes/\(try manifest().changeLists[0].digest.hex)")
    try await Site(at: FilePath(folder.path("site"))).publish(from: store, signedBy: key, options: options)
    #expect(try manifest().changeLists.isEmpty && lists.isEmpty)
    #expect(try RemoteSiteCopy(folder).versions == ["P": [2]])
  }

  /// Later publications also refuse a damaged list that a repair refused.
  @Test func whatIsDamagedAndCannotBeMadeAgainIsRemoved() async throws {
    try await publish(1...2, keep: 1)
    let list = "site/changes/\(try manifest().changeLists[0].digest.hex)"
    var bytes = try #require(FileManager.default.contents(atPath: folder.path(list)))
    bytes[140] ^= 1
    #expect(FileManager.default.createFile(atPath: folder.path(list), contents: bytes))
    _ = try await Site.repair(at: FilePath(folder.path("site")), signedBy: key)
    #expect(try manifest().changeLists.isEmpty && lists.isEmpty)
    try await Site(at: FilePath(folder.path("site"))).publish(from: store, signedBy: key, options: options)
    #expect(try manifest().changeLists.isEmpty && lists.isEmpty)
    #expect(try RemoteSiteCopy(folder).versions == ["P": [2]])
  }

  /// Archives are for devices that have anything.
  @Test func archivesHaveNone() async throws {
    try await publish(1...2)
    let site = try Store(at: FilePath(folder.path("site")), options: .readOnly)
    let file = FilePath(folder.path("P.pack"))
    _ = try await site.export(.init("P"), to: file, signedBy: key)
    let archive = try ArchiveIndex(byteCount: try InputFile(file).byteCount, file: "P.pack") { offset, count in
      try InputFile(file).bytes(at: offset, upTo: count)
    }
    #expect(archive.members.keys.contains { if case .version = $0 { true } else { false } })
    #expect(!archive.members.keys.contains { if case .changes = $0 { true } else { false } })
  }
}
