import Foundation
import PackAuthoring
import PackFormats
import PackStore
import Synchronization
import Testing

@testable import ManagedPacks

/// A manager over real sites in folders.
@Suite struct SiteTests {
  let folder = TestFolder()

  struct Publisher: Sendable {
    let folder: TestFolder
    let name: String
    var key = SiteKey()

    var site: FilePath { folder.path.appending("site-\(name)") }

    /// Publishes packs, each of files with a text; nil: the pack is withdrawn.
    func publish(
      _ packs: [PackID: [String: String]?], attributes: [PackID: Attributes] = [:], channel: SiteChannel = .live
    ) async throws {
      let cache = Store.Cache(folder: folder.path.appending("cache-\(name)"), byteBudget: 64 << 20)
      let origin = try Store(at: folder.path.appending("origin-\(name)"), options: Store.Options(cache: cache))
      var withdrawn: [PackID] = []
      for (pack, files) in packs {
        guard let files else {
          withdrawn.append(pack)
          continue
        }
        let source = "source-\(name)-\(pack)"
        try? FileManager.default.removeItem(atPath: "\(folder.path)/\(source)")
        for (path, text) in files { try folder.write(text, to: "\(source)/\(path)") }
        var options = Store.InstallOptions()
        options.attributes = attributes[pack]
        try await origin.install(folder: folder.path.appending(source), as: pack, options: options)
      }
      var options = Site.PublishOptions()
      options.channel = channel
      let site = try Site(at: site)
      if packs.values.contains(where: { $0 != nil }) {
        try await site.publish(from: origin, signedBy: key, options: options)
      }
      if !withdrawn.isEmpty { try await site.unpublish(withdrawn, signedBy: key) }
    }
  }

  func manager(
    _ sites: [ManagedConfiguration.Site], group: String = "group", environment: [String: String] = [:],
    onFirstContact: @escaping @Sendable (String, SitePublicKey) -> Void = { _, _ in },
    changing change: (inout AssetPackManager.Options) -> Void = { _ in }
  ) throws -> AssetPackManager {
    var options = AssetPackManager.Options()
    options.onFirstContact = onFirstContact
    options.environment = environment
    change(&options)
    let configuration = try ManagedConfiguration(
      appGroupID: "group.test", sites: sites, appID: "app", groupFolder: folder.path.appending(group))
    return try AssetPackManager(configuration: configuration, options: options)
  }

  private func text(_ manager: AssetPackManager, _ path: FilePath, in pack: String? = nil) throws -> String {
    String(decoding: try manager.contents(at: path, searchingInAssetPackWithID: pack), as: UTF8.self)
  }

  /// C1, C8, C9, C12: manifest, user info, and files in one namespace.
  @Test func readsOneNamespace() async throws {
    let publisher = Publisher(folder: folder, name: "a")
    let info = try UserInfo(json: #"{"level": 7}"#)
    try await publisher.publish(
      [
        "One": ["Videos/a.txt": "one", "both.txt": "one"],
        "Two": ["Videos/b.txt": "two", "both.txt": "two", "empty": ""],
      ],
      attributes: ["One": try Attributes(userInfo: info), "Two": try Attributes(priority: 3)])
    let manager = try manager([.init(publisher.site.string)])
    let manifest = try await manager.manifest
    #expect(manifest.assetPacks.map(\.id).sorted() == ["One", "Two"] && manifest.appGroupID == "group.test")
    #expect(try manifest.assetPack(withID: "One").userInfo == Data(#"{"level": 7}"#.utf8))
    #expect(try await manager.allAssetPacks == manifest.assetPacks)
    #expect(throws: ManagedBackgroundAssetsError.fileNotFound(at: "Videos/a.txt")) {
      try manager.contents(at: "Videos/a.txt")
    }
    try await manager.ensureLocalAvailability(of: manifest.assetPacks)
    #expect(try text(manager, "Videos/a.txt") == "one" && text(manager, "Videos/b.txt") == "two")
    #expect(try text(manager, "./Videos//a.txt") == "one")
    #expect(try text(manager, "both.txt") == "two" && text(manager, "both.txt", in: "One") == "one")
    #expect(try manager.contents(at: "both.txt", options: []) == Data("two".utf8))
    let descriptor = try manager.descriptor(for: "Videos/a.txt")
    var bytes = [UInt8](repeating: 0, count: 10)
    #expect(try bytes.withUnsafeMutableBytes { try descriptor.read(into: $0) } == 3)
    try descriptor.close()
    #expect(try manager.localVersion(ofAssetPackWithID: "One") == 1)
    #expect(try await manager.localSize(ofAssetPackWithID: "One", calculationMethod: .logical) == 6)
    #expect(try await manager.localSize(ofAssetPackWithID: "One", calculationMethod: .allocated) > 0)
    #expect(try manager.entries(in: "Videos").map(\.path) == ["Videos/a.txt", "Videos/b.txt"])
    #expect(throws: ManagedBackgroundAssetsError.assetPackNotFound(withID: "None")) {
      try text(manager, "x", in: "None")
    }
    #expect(throws: ManagedBackgroundAssetsError.assetPackNotFound(withID: "None")) {
      try manager.localVersion(ofAssetPackWithID: "None")
    }
  }

  /// C8: plain files and merged folders, which stay as they are.
  @Test func urls() async throws {
    let publisher = Publisher(folder: folder, name: "a")
    try await publisher.publish(["One": ["Videos/a.txt": "one", "empty": ""], "Two": ["Videos/b.txt": "two"]])
    let manager = try manager([.init(publisher.site.string)])
    try await manager.ensureLocalAvailability(of: manager.allAssetPacks)
    let file = try manager.url(for: "Videos/a.txt"), folder = try manager.url(for: "Videos")
    #expect(try String(contentsOf: file, encoding: .utf8) == "one" && file.lastPathComponent == "a.txt")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["a.txt", "b.txt"])
    #expect(try Data(contentsOf: manager.url(for: "empty")).isEmpty)
    #expect(try manager.url(for: "Videos/a.txt") == file)
    #expect(throws: ManagedBackgroundAssetsError.fileNotFound(at: "none")) { try manager.url(for: "none") }
    try await publisher.publish(["One": ["Videos/a.txt": "new"]])
    let pack = try await manager.assetPack(withID: "One")
    try await manager.ensureLocalAvailability(of: pack, requireLatestVersion: true)
    #expect(try String(contentsOf: file, encoding: .utf8) == "one")
    #expect(try String(contentsOf: manager.url(for: "Videos/a.txt"), encoding: .utf8) == "new")
    #expect(try String(contentsOfFile: folder.path + "/a.txt", encoding: .utf8) == "one")
  }

  /// C9: a path never leaves the namespace.
  @Test(arguments: ["/etc/passwd", "../x", "a/../../x", "", ".", "a/..", "//x"]) func paths(path: String) async throws {
    let manager = try manager([.init(folder.path.string)])
    for call in 0..<3 {
      #expect {
        switch call {
        case 0: _ = try manager.contents(at: FilePath(path))
        case 1: _ = try manager.descriptor(for: FilePath(path))
        default: _ = try manager.url(for: FilePath(path))
        }
      } throws: {
        ($0 as? ManagedPacksError)?.code == .invalidPath
      }
    }
  }

  /// C10: files that were opened before an update keep their bytes.
  @Test func updateWhileFilesAreOpen() async throws {
    let publisher = Publisher(folder: folder, name: "a"), old = String(repeating: "old ", count: 50_000)
    try await publisher.publish(["One": ["a.txt": old]])
    let manager = try manager([.init(publisher.site.string)])
    try await manager.ensureLocalAvailability(of: manager.allAssetPacks)
    let data = try manager.contents(at: "a.txt"), descriptor = try manager.descriptor(for: "a.txt")
    try await publisher.publish(["One": ["a.txt": "new"]])
    let updates = manager.statusUpdates(forAssetPackWithID: "One")
    #expect(try await manager.checkForUpdates() == (["One"], []))
    #expect(await kinds(updates).last == "finished")
    #expect(try text(manager, "a.txt") == "new")
    #expect(data == Data(old.utf8))
    var bytes = [UInt8](repeating: 0, count: old.utf8.count)
    #expect(
      try bytes.withUnsafeMutableBytes { try descriptor.read(into: $0) } == bytes.count && bytes == Array(old.utf8))
    try descriptor.close()
  }

  /// C6: the next check removes a pack that its publisher withdrew; other packs stay, and so do pinned versions.
  @Test(arguments: [false, true]) func withdrawnPack(isPinned: Bool) async throws {
    let publisher = Publisher(folder: folder, name: "a")
    try await publisher.publish(["One": ["a.txt": "one"], "Two": ["b.txt": "two"]])
    let manager = try manager([.init(publisher.site.string)])
    try await manager.ensureLocalAvailability(of: manager.allAssetPacks)
    if isPinned { try await manager.store.pin("Two", version: 1) }
    #expect(try await manager.checkForUpdates() == ([], []))
    try await publisher.publish(["Two": nil])
    #expect(try await manager.status(ofAssetPackWithID: "Two") == [.obsolete, .downloaded])
    #expect(try await manager.checkForUpdates() == ([], isPinned ? [] : ["Two"]))
    #expect(manager.assetPackIsAvailableLocally(withID: "One"))
    #expect(manager.assetPackIsAvailableLocally(withID: "Two") == isPinned)
    #expect(try await manager.checkForUpdates() == ([], []))
  }

  /// A pack was withdrawn whose earlier version was pinned, and the pinned content was deleted with it. The manager keeps such packs, and
  /// removes others also while they are read.
  @Test(arguments: ["", "pinned", "held"]) func withdrawnPackWithEarlierVersion(state: String) async throws {
    let publisher = Publisher(folder: folder, name: "a")
    try await publisher.publish(["One": ["a.txt": "one"], "Two": ["b.txt": "earlier"]])
    let manager = try manager([.init(publisher.site.string)])
    try await manager.ensureLocalAvailability(of: manager.allAssetPacks)
    try await manager.store.pin("Two", version: 1)
    try await publisher.publish(["Two": ["b.txt": "later"]])
    let updates = manager.statusUpdates(forAssetPackWithID: "Two")
    #expect(try await manager.checkForUpdates() == (["Two"], []))
    #expect(await kinds(updates).last == "finished")
    #expect(try manager.store.versions(of: "Two").map(\.number) == [2, 1])
    if state != "pinned" { try await manager.store.unpin("Two") }
    if state == "held" { try await manager.store.rollBack("Two", toVersion: 1) }
    try await publisher.publish(["Two": nil])
    let reader = try manager.store.makeSnapshot()
    let isKept = !state.isEmpty
    #expect(try await manager.checkForUpdates() == ([], isKept ? [] : ["Two"]))
    #expect(try manager.store.versions(of: "Two").count == (isKept ? 2 : 0))
    #expect(
      try reader.packs.contains { $0.id == "Two" }
        && reader.availability(of: #require(reader.pack("Two")).version).isWhole)
    // Without the pin, the pack goes with the next check.
    try await manager.store.change { transaction in
      if isKept { try transaction.unpin("Two") }
    }
    #expect(try await manager.checkForUpdates() == ([], isKept ? ["Two"] : []))
  }

  /// Two sites of one group had the same root key and product: their packs replaced each other, without a warning.
  @Test(arguments: ["same", "copy", "other"]) func sharedKeyIsReported(key: String) async throws {
    let first = Publisher(folder: folder, name: "a")
    try await first.publish(["One": ["a.txt": "one"]])
    let second =
      key == "other" ? Publisher(folder: folder, name: "b") : Publisher(folder: folder, name: "b", key: first.key)
    if key == "copy" {
      try FileManager.default.copyItem(atPath: first.site.string, toPath: second.site.string)
    } else {
      try await second.publish(["Two": ["b.txt": "two"]])
    }
    let reports = Mutex<[[String]]>([])
    let manager = try manager(
      [.init(first.site.string), .init(second.site.string)],
      changing: { $0.onSharedKey = { site, other, _ in reports.withLock { $0.append([site, other]) } } })
    for _ in 0..<2 { _ = try await manager.allAssetPacks }
    _ = try await manager.checkForUpdates()
    #expect(reports.withLock { $0 } == (key == "same" ? [[first.site.string, second.site.string]] : []))
  }

  /// X9: packs of several publishers in one app, each followed at its own site; numbers of one mean nothing to the other.
  @Test func mixedHosts() async throws {
    let first = Publisher(folder: folder, name: "a"), second = Publisher(folder: folder, name: "b")
    try await first.publish(["One": ["a.txt": "one"], "Both": ["both.txt": "first"]])
    try await second.publish(["Two": ["b.txt": "two"], "Both": ["both.txt": "second"]])
    let manager = try manager([.init(first.site.string), .init(second.site.string)])
    let packs = try await manager.allAssetPacks
    #expect(packs.map(\.id).sorted() == ["Both", "One", "Two"])
    try await manager.ensureLocalAvailability(of: packs)
    #expect(
      try text(manager, "a.txt") == "one" && text(manager, "b.txt") == "two" && text(manager, "both.txt") == "first")
    for id in ["One", "Two", "Both"] { #expect(try await manager.status(ofAssetPackWithID: id).rawValue == 69) }
    try await second.publish(["Two": ["b.txt": "newer"], "Both": ["both.txt": "newer"]])
    let updates = manager.statusUpdates(forAssetPackWithID: "Two")
    #expect(try await manager.checkForUpdates() == (["Two"], []))
    #expect(await kinds(updates).last == "finished")
    #expect(try text(manager, "b.txt") == "newer" && text(manager, "both.txt") == "first")
    // A site that does not answer changes nothing: its packs stay, and the packs of the other site are fetched.
    try FileManager.default.removeItem(atPath: second.site.string)
    #expect(try await manager.checkForUpdates() == ([], []))
    #expect(try await manager.allAssetPacks.map(\.id).sorted() == ["Both", "One"])
    #expect(manager.assetPackIsAvailableLocally(withID: "Two"))
  }

  /// C15: several managers of one group, over one folder: what one fetches all see, and no pack comes twice.
  @Test func severalManagers() async throws {
    let publisher = Publisher(folder: folder, name: "a")
    try await publisher.publish(["One": ["a.txt": "one"]])
    let managers = try (0..<4).map { _ in try manager([.init(publisher.site.string)]) }
    try await withThrowingTaskGroup { group in
      for manager in managers {
        group.addTask { try await manager.ensureLocalAvailability(of: manager.assetPack(withID: "One")) }
      }
      try await group.waitForAll()
    }
    for manager in managers { #expect(try text(manager, "a.txt") == "one") }
    try await managers[0].remove(assetPackWithID: "One")
    #expect(managers.allSatisfy { !$0.assetPackIsAvailableLocally(withID: "One") })
  }

  /// A key that the app does not name is reported once, and pinned; then another key at the same place is refused.
  @Test func firstContact() async throws {
    let publisher = Publisher(folder: folder, name: "a"), stranger = Publisher(folder: folder, name: "b")
    try await publisher.publish(["One": ["a.txt": "one"], "Two": ["b.txt": "two"]])
    let told = Log()
    let site = ManagedConfiguration.Site(publisher.site.string)
    let manager = try manager([site], onFirstContact: { told.append("\($1)") })
    try await manager.ensureLocalAvailability(of: manager.assetPack(withID: "One"))
    try await manager.ensureLocalAvailability(of: manager.assetPack(withID: "Two"))
    #expect(told.lines == ["\(publisher.key.publicKey)"])
    try await stranger.publish(["One": ["a.txt": "forged"]])
    try FileManager.default.removeItem(atPath: publisher.site.string)
    try FileManager.default.moveItem(atPath: stranger.site.string, toPath: publisher.site.string)
    await #expect { try await manager.checkForUpdates() } throws: { ($0 as? DeliveryError)?.code == .otherKey }
    #expect(try text(manager, "a.txt") == "one")
    let named = ManagedConfiguration.Site(publisher.site.string, trustedKey: stranger.key.publicKey)
    let other = try self.manager([named], group: "other", onFirstContact: { told.append("\($1)") })
    try await other.ensureLocalAvailability(of: other.assetPack(withID: "One"))
    #expect(told.lines.count == 1)
  }

  /// A manager with an invalid configuration reports the reason in each call.
  @Test func misconfigured() async throws {
    try folder.write("", to: "group")
    #expect(throws: ManagedPacksError.self) { try manager([.init("x")]) }
    let missing = try manager([.init("\(folder.path)/none")], group: "other")
    await #expect(throws: DeliveryError.self) { try await missing.manifest }
  }
}
