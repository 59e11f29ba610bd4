import Foundation
import PackAuthoring
import PackStore
import Testing

@testable import ManagedPacks

/// Assets that are read in place: mapped, or as plain files that stay.
@Suite struct ReadingInPlaceTests {
  let folder = TestFolder()
  let sites = SiteTests()

  /// Text that compresses well, and is large enough to be kept decoded.
  private static let large = String(repeating: "The quick brown fox jumps over the lazy dog. ", count: 60_000)

  private func manager(_ publisher: SiteTests.Publisher) throws -> AssetPackManager {
    try sites.manager([.init(publisher.site.string)])
  }

  /// Which file the bytes are mapped from; nil: none.
  private func mappedFile(_ data: Data) throws -> String? {
    // Once it is freed, something else may be mapped there.
    defer { withExtendedLifetime(data) {} }
    let address = data.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
    // The list is read in parts, and other tests change it at the same time: it can lack a mapping.
    for _ in 0..<100 {
      for line in try mappings().split(separator: "\n") {
        let fields = line.split(separator: " ", omittingEmptySubsequences: true)
        let ends = fields.first?.split(separator: "-").compactMap { UInt($0, radix: 16) } ?? []
        guard ends.count == 2, ends[0] <= address, address < ends[1] else { continue }
        // Memory of no file may have a name, such as [heap].
        return fields.count > 5 && !fields[5].hasPrefix("[") ? fields[5...].joined(separator: " ") : nil
      }
    }
    Issue.record("the bytes are in no mapping")
    return nil
  }

  /// The mappings of this process. The kernel returns them in pieces, and `String(contentsOfFile:)` stops after the
  /// first one.
  private func mappings() throws -> String {
    let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/self/maps"))
    return String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
  }

  /// The decoded files of the group's cache that are as long as the large asset: copies of it.
  private func decodedCopies() throws -> [String] {
    let cache = "\(sites.folder.path)/group/cache"
    let names = FileManager.default.enumerator(atPath: cache)?.compactMap { $0 as? String } ?? []
    return try names.filter { !$0.contains("/segments/") }.filter { name in
      let facts = try FileManager.default.attributesOfItem(atPath: "\(cache)/\(name)")
      return (facts[.type] as? FileAttributeType) == .typeRegular
        && (facts[.size] as? Int ?? 0) >= Self.large.utf8.count
    }
  }

  /// Uncompressed data is mapped from the store, and compressed data from the cache, which is created automatically.
  @Test func contentsAreMapped() async throws {
    let publisher = SiteTests.Publisher(folder: folder, name: "a")
    try await publisher.publish(
      ["One": ["raw.txt": Self.large, "packed.txt": Self.large + "."]],
      attributes: ["One": Attributes(mappedPaths: ["raw.txt"])])
    let manager = try manager(publisher)
    try await manager.ensureLocalAvailability(of: manager.allAssetPacks)
    let raw = try manager.contents(at: "raw.txt"), packed = try manager.contents(at: "packed.txt")
    #expect(try mappedFile(raw)?.contains("/group/store/segments/") == true)
    #expect(try mappedFile(packed)?.contains("/group/cache/") == true)
    #expect(raw == Data(Self.large.utf8) && packed == Data("\(Self.large).".utf8))
    #expect(try mappedFile(manager.contents(at: "raw.txt", options: [])) == nil)
    let copies = try decodedCopies()
    #expect(copies.count == 1)
    await (try manager.core).materializer.settle()
    #expect(try decodedCopies() == copies, "what is mapped where it lies needs no copy")
  }

  /// Only the files that the publisher of a purgeable pack marked for mapping are decoded after the download.
  @Test func whatIsToBeMappedIsDecodedAfterTheDownload() async throws {
    let publisher = SiteTests.Publisher(folder: folder, name: "a")
    try await publisher.publish(
      ["One": ["a.mesh": Self.large, "b.txt": Self.large + "."]],
      attributes: ["One": Attributes(placement: .purgeable, mappedPaths: ["*.mesh"])])
    let manager = try manager(publisher)
    try await manager.ensureLocalAvailability(of: manager.allAssetPacks)
    await (try manager.core).materializer.settle()
    #expect(try decodedCopies().count == 1)
    let data = try manager.contents(at: "a.mesh")
    #expect(try mappedFile(data)?.contains("/group/cache/") == true && data == Data(Self.large.utf8))
    #expect(try decodedCopies().count == 1, "it was there")
    _ = try manager.contents(at: "b.txt")
    #expect(try decodedCopies().count == 2)
  }

  /// C8: a URL leads to the same bytes until the process ends: across updates, removal, and purges.
  @Test func urlsStay() async throws {
    let publisher = SiteTests.Publisher(folder: folder, name: "a")
    try await publisher.publish(
      ["One": ["Films/a.txt": Self.large], "Two": ["Films/b.txt": "two"]],
      attributes: ["One": Attributes(placement: .purgeable)])
    let manager = try manager(publisher)
    try await manager.ensureLocalAvailability(of: manager.allAssetPacks)
    let file = try manager.url(for: "Films/a.txt"), films = try manager.url(for: "Films")
    func expectOld() throws {
      #expect(try String(contentsOf: file, encoding: .utf8) == Self.large)
      #expect(try FileManager.default.contentsOfDirectory(atPath: films.path).sorted() == ["a.txt", "b.txt"])
      #expect(try String(contentsOf: films.appendingPathComponent("b.txt"), encoding: .utf8) == "two")
    }
    try await publisher.publish(["One": ["Films/a.txt": "new"], "Two": ["Films/c.txt": "three"]])
    for id in ["One", "Two"] {
      let pack = try await manager.assetPack(withID: id)
      try await manager.ensureLocalAvailability(of: pack, requireLatestVersion: true)
    }
    try expectOld()
    #expect(try String(contentsOf: manager.url(for: "Films/a.txt"), encoding: .utf8) == "new")
    let updated = try manager.url(for: "Films")
    #expect(try FileManager.default.contentsOfDirectory(atPath: updated.path).sorted() == ["a.txt", "c.txt"])
    try await manager.store.purge(bytes: 1 << 30)
    for id in ["One", "Two"] { try await manager.remove(assetPackWithID: id) }
    try expectOld()
    #expect(throws: ManagedBackgroundAssetsError.fileNotFound(at: "Films")) { try manager.url(for: "Films") }
    // Another manager of the group tidies up what dead processes left, and nothing else.
    let other = try self.manager(publisher)
    try await other.ensureLocalAvailability(of: other.allAssetPacks)
    _ = try other.url(for: "Films")
    try expectOld()
  }

  /// Any app of the group can create lock files next to the folders of views: only folders that a process made are removed.
  @Test(arguments: [
    "...lock", "..lock", ".lock", "kept.lock", "view-.lock", "view-01.lock", "view--1.lock", "view-1", "view-1/.lock",
  ])
  func otherLocksRemoveNothing(name: String) throws {
    #expect(ViewFolder.folderName(ofLock: name) == nil)
    guard !name.contains("/") else { return }
    let folder = TestFolder(), views = folder.path.appending("group/views")
    try folder.write("kept", to: "group/kept")
    try folder.write("kept", to: "group/views/kept/a")
    try folder.write("", to: "group/views/\(name)")
    _ = try ViewFolder(in: views)
    #expect(pathExists(folder.path.appending("group/kept")) && pathExists(views.appending("kept/a")))
  }

  @Test func viewsOfEndedProcessesAreRemoved() throws {
    let folder = TestFolder(), views = folder.path.appending("views")
    try folder.write("old", to: "views/view-18446744073709551615/0/a")
    try folder.write("", to: "views/view-18446744073709551615.lock")
    _ = try ViewFolder(in: views)
    #expect(try namesInFolder(views).filter { $0.hasPrefix("view-18446744073709551615") } == [])
  }
}
