import Foundation
import PackAuthoring
import PackFormats
import PackStore
import Synchronization
import Testing

@testable import ManagedPacks
@testable import PackDelivery

/// Packs from download manifests: archives of Apple's format and of PackStore, from any web server.
@Suite struct DownloadManifestTests {
  static let url = "https://example.com/manifest.json"

  let folder = TestFolder()
  let transport = StubTransport()
  let key = SiteKey()

  /// A text whose archive has several kilobytes.
  private static let longText = (0..<5000).map { "\($0)" }.joined(separator: ",")

  // MARK: - Content

  /// Writes an archive of a pack with files, and returns its bytes.
  private func archive(
    _ pack: PackID, _ files: [String: String], version: UInt64 = 1, signed: Bool = false,
    attributes: Attributes? = nil
  ) async throws -> [UInt8] {
    let name = "\(pack)-\(version)-\(UInt64.random(in: 0 ... .max))"
    for (path, text) in files { try folder.write(text, to: "\(name)/\(path)") }
    let store = try Store(at: folder.path.appending("publisher-\(name)"))
    var options = Store.InstallOptions(version: version)
    options.attributes = attributes
    try await store.install(folder: folder.path.appending(name), as: pack, options: options)
    let file = folder.path.appending("\(name).archive")
    if signed {
      _ = try await store.export(.init(pack, version: version), to: file, signedBy: key, options: .init(level: 3))
    } else {
      _ = try await store.exportAppleArchive(.init(pack), to: file)
    }
    return Array(try Data(contentsOf: URL(fileURLWithPath: file.string)))
  }

  /// One entry of a manifest and its archive.
  private struct Listed {
    var pack: String
    var version: UInt64 = 1
    var bytes: [UInt8]
    var size: Int?
    var more = ""
  }

  private func list(_ packs: [Listed], at url: String = url) {
    let entries = packs.map { pack in
      """
      {"id": "\(pack.pack)", "version": \(pack.version), "url": "\(Self.archiveURL(pack.pack))",
       "downloadSize": \(pack.size ?? pack.bytes.count), "downloadPolicy": {"onDemand": {}}\(pack.more)}
      """
    }
    transport.files.withLock { files in
      var manifest = StubTransport.File(0)
      manifest.bytes = Array(#"{"assetPacks": [\#(entries.joined(separator: ","))]}"#.utf8)
      files[url] = manifest
      for pack in packs {
        var file = StubTransport.File(0)
        file.bytes = pack.bytes
        file.validator = "\"\(pack.version)-\(pack.bytes.count)\""
        files[Self.archiveURL(pack.pack)] = file
      }
    }
  }

  private static func archiveURL(_ pack: String) -> String { "https://cdn.example.com/\(pack)" }

  private func manager(
    _ location: String = url, allowsUnsigned: Bool = true, trustedKey: SitePublicKey? = nil,
    onFirstContact: @escaping @Sendable (String, SitePublicKey) -> Void = { _, _ in }
  ) throws -> AssetPackManager {
    var options = AssetPackManager.Options()
    options.transport = transport
    options.environment = [:]
    options.clock = UnmanagedSetup.clock
    options.speaksToAgent = false
    options.onFirstContact = onFirstContact
    let configuration = try ManagedConfiguration(
      appGroupID: "group.test", sites: [.init(location, trustedKey: trustedKey, allowsUnsigned: allowsUnsigned)],
      appID: "app", groupFolder: folder.path.appending("group"))
    return try AssetPackManager(configuration: configuration, options: options)
  }

  private func text(_ manager: AssetPackManager, _ path: FilePath) throws -> String {
    String(decoding: try manager.contents(at: path), as: UTF8.self)
  }

  private func requests(of pack: String) -> [String] {
    transport.log.lines.filter { $0.hasPrefix(Self.archiveURL(pack)) }
  }

  // MARK: - Installing

  @Test func installsAppleArchives() async throws {
    let bytes = try await archive(
      "Tutorial", ["Videos/a.txt": "one"], attributes: Attributes(language: try LanguageTag("de")))
    list([Listed(pack: "Tutorial", version: 3, bytes: bytes, more: #", "userInfo": {"level": 1}"#)])
    let manager = try manager()
    let pack = try await manager.assetPack(withID: "Tutorial")
    #expect(pack.version == 3 && pack.downloadSize == bytes.count && pack.userInfo == Data(#"{"level": 1}"#.utf8))
    try await manager.ensureLocalAvailability(of: pack)
    #expect(try text(manager, "Videos/a.txt") == "one")
    #expect(try manager.localVersion(ofAssetPackWithID: "Tutorial") == 3)
    let status = try await manager.status(ofAssetPackWithID: "Tutorial")
    #expect(status == [.downloadAvailable, .upToDate, .downloaded])
    // The manifest is read again, and the archive is not.
    try await manager.ensureLocalAvailability(of: pack, requireLatestVersion: true)
    #expect(requests(of: "Tutorial").count == 1)
    #expect(try namesInFolder(folder.path.appending("group/archives/Tutorial")) == ["lock"])
  }

  @Test func updatesWhenTheVersionRises() async throws {
    let first = try await archive("Tutorial", ["a.txt": "one"])
    list([Listed(pack: "Tutorial", bytes: first)])
    let manager = try manager()
    try await manager.ensureLocalAvailability(of: manager.assetPack(withID: "Tutorial"))
    list([Listed(pack: "Tutorial", version: 2, bytes: try await archive("Tutorial", ["a.txt": "two"]))])
    #expect(try await manager.checkForUpdates().updatingIDs == ["Tutorial"])
    try await manager.finishRequests()
    #expect(try text(manager, "a.txt") == "two")
    // Equal content with a higher number is a version, too; otherwise it would be fetched again and again.
    let count = requests(of: "Tutorial").count
    list([Listed(pack: "Tutorial", version: 5, bytes: try await archive("Tutorial", ["a.txt": "two"]))])
    #expect(try await manager.checkForUpdates().updatingIDs == ["Tutorial"])
    try await manager.finishRequests()
    #expect(try manager.localVersion(ofAssetPackWithID: "Tutorial") == 5)
    #expect(try await manager.checkForUpdates().updatingIDs.isEmpty)
    #expect(requests(of: "Tutorial").count == count + 1)
    // A lower number takes nothing back.
    list([Listed(pack: "Tutorial", version: 4, bytes: first)])
    try await manager.ensureLocalAvailability(of: manager.assetPack(withID: "Tutorial"), requireLatestVersion: true)
    #expect(try manager.localVersion(ofAssetPackWithID: "Tutorial") == 5)
  }

  @Test func removesPacksThatTheManifestDrops() async throws {
    let signed = try await archive("Signed", ["s.txt": "s"], signed: true)
    let unsigned = try await archive("Tutorial", ["a.txt": "one"])
    list([Listed(pack: "Tutorial", bytes: unsigned), Listed(pack: "Signed", bytes: signed)])
    let manager = try manager()
    try await manager.ensureLocalAvailability(of: manager.allAssetPacks)
    list([])
    #expect(try await manager.checkForUpdates().removedIDs == ["Tutorial"])
    // Only a root of its publisher withdraws a signed pack.
    #expect(manager.assetPackIsAvailableLocally(withID: "Signed"))
  }

  @Test func signedArchivesKeepTheirPublisher() async throws {
    list([Listed(pack: "One", version: 2, bytes: try await archive("One", ["a.txt": "one"], version: 2, signed: true))])
    let contacts = Log()
    let manager = try manager(allowsUnsigned: false) { _, key in contacts.append("\(key)") }
    try await manager.ensureLocalAvailability(of: manager.assetPack(withID: "One"))
    let origin = try #require(try manager.store.makeSnapshot().pack("One")?.origin)
    #expect(origin.key != nil)
    #expect(contacts.lines.count == 1)
    #expect(try await manager.status(ofAssetPackWithID: "One") == [.downloadAvailable, .upToDate, .downloaded])
    // An unsigned archive cannot replace it.
    let permissive = try self.manager()
    list([Listed(pack: "One", version: 3, bytes: try await archive("One", ["a.txt": "evil"], version: 3))])
    _ = try await permissive.checkForUpdates()
    try await permissive.finishRequests()
    #expect(try text(permissive, "a.txt") == "one")
    list([Listed(pack: "One", version: 3, bytes: try await archive("One", ["a.txt": "two"], version: 3, signed: true))])
    try await manager.ensureLocalAvailability(of: manager.assetPack(withID: "One"), requireLatestVersion: true)
    #expect(try text(manager, "a.txt") == "two")
  }

  @Test func deduplicatesOnArrival() async throws {
    let text = (0..<200_000).map { "\($0)" }.joined(separator: ",")
    list([
      Listed(pack: "One", bytes: try await archive("One", ["a.txt": text])),
      Listed(pack: "Two", bytes: try await archive("Two", ["b.txt": text])),
    ])
    let manager = try manager()
    try await manager.ensureLocalAvailability(of: manager.assetPack(withID: "One"))
    let before = try segmentByteCount()
    try await manager.ensureLocalAvailability(of: manager.assetPack(withID: "Two"))
    let after = try segmentByteCount()
    #expect(after - before < before / 4)
  }

  private func segmentByteCount() throws -> UInt64 {
    let segments = folder.path.appending("group/store/segments")
    return try namesInFolder(segments).reduce(0) { try $0 + InputFile($1, in: segments).byteCount }
  }

  // MARK: - Interruptions

  @Test func continuesAfterAnInterruption() async throws {
    let bytes = try await archive("Tutorial", ["a.txt": Self.longText])
    list([Listed(pack: "Tutorial", bytes: bytes)])
    transport.change(Self.archiveURL("Tutorial")) { $0.breaks = [bytes.count / 2] }
    let first = try manager()
    await #expect(throws: DeliveryError.self) {
      try await first.ensureLocalAvailability(of: first.assetPack(withID: "Tutorial"))
    }
    // Another process continues.
    let second = try manager()
    try await second.ensureLocalAvailability(of: second.assetPack(withID: "Tutorial"))
    #expect(
      requests(of: "Tutorial") == [
        "\(Self.archiveURL("Tutorial")) 0", "\(Self.archiveURL("Tutorial")) \(bytes.count / 2)",
      ])
  }

  @Test func anotherStateOfTheFileBeginsAgain() async throws {
    let bytes = try await archive("Tutorial", ["a.txt": Self.longText])
    list([Listed(pack: "Tutorial", bytes: bytes)])
    transport.change(Self.archiveURL("Tutorial")) { file in
      file.breaks = [bytes.count / 2]
      file.bytes = [UInt8](repeating: 1, count: bytes.count)
      file.bytes.replaceSubrange(0..<600, with: bytes[..<600])
    }
    let manager = try manager()
    await #expect(throws: DeliveryError.self) {
      try await manager.ensureLocalAvailability(of: manager.assetPack(withID: "Tutorial"))
    }
    transport.change(Self.archiveURL("Tutorial")) { file in
      file.bytes = bytes
      file.validator = #""changed""#
    }
    try await manager.ensureLocalAvailability(of: manager.assetPack(withID: "Tutorial"))
    #expect(try text(manager, "a.txt").hasPrefix("0,1,"))
  }

  // MARK: - Refusals

  @Test func unsignedArchivesNeedPermission() async throws {
    let bytes = try await archive("Tutorial", ["a.txt": Self.longText])
    list([Listed(pack: "Tutorial", bytes: bytes)])
    for manager in [try manager(allowsUnsigned: false), try manager(trustedKey: SiteKey().publicKey)] {
      await #expect {
        try await manager.ensureLocalAvailability(of: manager.assetPack(withID: "Tutorial"))
      } throws: {
        ($0 as? DeliveryError)?.code == .notSigned
      }
      #expect(!manager.assetPackIsAvailableLocally(withID: "Tutorial"))
    }
  }

  /// The fault of an archive, and the code of its error.
  @Test(arguments: ["size", "smaller", "digest", "name", "tar", "text", "cut"])
  func refusesFaultyArchives(fault: String) async throws {
    let good = try await archive("Tutorial", ["a.txt": "one"])
    var listed = Listed(pack: "Tutorial", bytes: good)
    switch fault {
    case "size": listed.size = good.count + 1
    case "smaller": listed.size = good.count - 1
    case "digest": listed.more = #", "packstore": {"sha256": "\#(String(repeating: "0", count: 64))"}"#
    case "name": listed.bytes = try await archive("Other", ["a.txt": "one"])
    case "tar":
      listed.bytes = [UInt8](repeating: 0, count: 257) + Array("ustar\u{0}00".utf8) + [UInt8](repeating: 0, count: 2000)
    case "text": listed.bytes = Array("<!doctype html>".utf8)
    default: listed.bytes = Array(good.dropLast(20))
    }
    list([listed])
    let manager = try manager()
    let error = await #expect(throws: (any Error).self) {
      try await manager.ensureLocalAvailability(of: manager.assetPack(withID: "Tutorial"))
    }
    #expect(error is DeliveryError || error is PackStoreError, "\(String(describing: error))")
    #expect(!manager.assetPackIsAvailableLocally(withID: "Tutorial"))
    // The repaired archive can be installed.
    list([Listed(pack: "Tutorial", version: 2, bytes: good)])
    try await manager.ensureLocalAvailability(of: manager.assetPack(withID: "Tutorial"))
  }

  @Test(arguments: ["http://example.com/a", "file:///etc/passwd", "/etc/passwd", ""])
  func refusesUnsafeURLs(url: String) async throws {
    var manifest = StubTransport.File(0)
    manifest.bytes = Array(
      #"{"assetPacks": [{"id": "A", "version": 1, "downloadSize": 10, "url": "\#(url)"}]}"#.utf8)
    transport.files.withLock { [manifest] in $0[Self.url] = manifest }
    let manager = try manager()
    await #expect {
      try await manager.ensureLocalAvailability(of: manager.assetPack(withID: "A"))
    } throws: {
      ($0 as? DeliveryError)?.code == .invalidLocation
    }
  }

  // MARK: - Kinds of sites

  @Test func manifestInAFile() async throws {
    let bytes = try await archive("Tutorial", ["a.txt": "one"])
    list([Listed(pack: "Tutorial", bytes: bytes)])
    let text = transport.files.withLock { String(decoding: $0[Self.url]?.bytes ?? [], as: UTF8.self) }
    try folder.write(text, to: "manifest")
    for location in ["\(folder.path)/manifest", "file://\(folder.path)/manifest"] {
      let manager = try manager(location)
      #expect(try await manager.allAssetPacks.map(\.id) == ["Tutorial"])
    }
  }

  @Test func missingManifestIsAnError() async throws {
    let manager = try manager()
    let error = await #expect(throws: DeliveryError.self) { try await manager.allAssetPacks }
    #expect(error?.location?.hasPrefix("https://example.com/") == true)
  }
}

/// Downloads of asset packs as values.
extension DownloadManifestTests {
  private func decoded() throws -> ManagedPacks.AssetPackManifest {
    func policy(_ name: String, _ event: String) -> String {
      #"{"\#(name)": {"installationEventTypes": ["\#(event)"]}}"#
    }
    let entries = [
      ("First", policy("essential", "firstInstallation")), ("Later", policy("prefetch", "subsequentUpdate")),
      ("Asked", #"{"onDemand": {}}"#),
    ].map { id, policy in
      #"{"id": "\#(id)", "version": 1, "url": "https://cdn.example.com/\#(id)", "downloadSize": 10, "downloadPolicy": \#(policy)}"#
    }
    let json = #"{"assetPacks": [\#(entries.joined(separator: ","))]}"#
    return try ManagedPacks.AssetPackManifest(from: Data(json.utf8), appGroupID: "group.test")
  }

  @Test(
    arguments: [
      (.install, ["First"]), (.update, ["Later"]), (.periodic, ["First", "Later"]), (.languageChange, []),
      (nil, ["Asked", "First", "Later"]),
    ] as [(BAContentRequest?, [String])])
  func downloadsForAnEvent(event: BAContentRequest?, names: [String]) throws {
    let downloads = try decoded().allDownloads(for: event)
    #expect(downloads.map(\.identifier).sorted() == names)
    #expect(downloads.filter(\.isEssential).map(\.identifier) == (event == .install ? ["First"] : []))
    #expect(
      downloads.allSatisfy { $0.record.url == "https://cdn.example.com/\($0.identifier)" && $0.record.byteCount == 10 })
    #expect(downloads.allSatisfy { $0.record.group == "group.test" && !$0.removingEssential().isEssential })
  }

  /// In an app with asset packs, a scheduled download installs the pack through the manager's queue.
  @Test func scheduledDownloadInstallsThePack() async throws {
    list([Listed(pack: "Tutorial", bytes: try await archive("Tutorial", ["a.txt": "one"]))])
    let manager = try manager()
    var options = BADownloadManager.Options()
    options.assetPackManager = manager
    options.environment = [:]
    options.speaksToAgent = false
    var configuration = try ManagedConfiguration(
      appGroupID: "group.test", sites: [.init(Self.url)], appID: "app", groupFolder: folder.path.appending("group"))
    configuration.hasManagedAssetPacks = true
    let downloads = try BADownloadManager(configuration: configuration, options: options)
    let download = try await manager.assetPack(withID: "Tutorial").download()
    #expect(download.state == .created)
    #expect { try downloads.cancel(download) } throws: { ($0 as? BAError)?.code == .downloadNotScheduled }
    let updates = manager.statusUpdates(forAssetPackWithID: "Tutorial")
    try downloads.scheduleDownload(download)
    #expect { try downloads.scheduleDownload(download) } throws: { ($0 as? BAError)?.code == .downloadAlreadyScheduled }
    #expect(await kinds(updates).last == "finished")
    #expect(try text(manager, "a.txt") == "one")
  }
}

#if Delivery
  extension DownloadManifestTests {
    /// The content of the URL decides, not its form.
    @Test(arguments: ["packs/list", "packs/list.json"])
    func contentDeterminesTheKind(name: String) async throws {
      let playground = Playground()
      let bytes = try await archive("Tutorial", ["a.txt": "one"])
      let folder = URL(fileURLWithPath: "\(playground.path)/www/packs")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try Data(bytes).write(to: folder.appendingPathComponent("Tutorial"))
      let server = try WebServer.nginx(playground, serving: "www")
      let manifest = """
        {"assetPacks": [{"id": "Tutorial", "version": 1, "url": "\(server.url)/packs/Tutorial",
          "downloadSize": \(bytes.count), "downloadPolicy": {"onDemand": {}}}]}
        """
      try Data(manifest.utf8).write(to: URL(fileURLWithPath: "\(playground.path)/www/\(name)"))
      var options = AssetPackManager.Options()
      options.environment = [:]
      options.speaksToAgent = false
      let configuration = try ManagedConfiguration(
        appGroupID: "group.test", sites: [.init("\(server.url)/\(name)", allowsUnsigned: true)], appID: "app",
        groupFolder: self.folder.path.appending("group"))
      let manager = try AssetPackManager(configuration: configuration, options: options)
      try await manager.ensureLocalAvailability(of: manager.assetPack(withID: "Tutorial"))
      #expect(try text(manager, "a.txt") == "one")
    }
  }
#endif
