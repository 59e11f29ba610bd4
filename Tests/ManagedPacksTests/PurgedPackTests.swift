import Foundation
import PackAuthoring
import PackStore
import Testing

@testable import ManagedPacks

/// Purgeable packs: their state after a purge, and how they are fetched again.
@Suite struct PurgedPackTests {
  let folder = TestFolder()
  let sites = SiteTests()

  /// Incompressible bytes, so that the length of a file identifies it.
  private static func noise(_ seed: UInt64, _ count: Int = 400_000) -> String {
    var state = seed
    return String(
      (0..<count).map { _ in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Character(Unicode.Scalar(UInt8(0x21 + (state >> 33) % 0x5e)))
      })
  }

  private let publisher: SiteTests.Publisher
  private let files = ["a.bin": Self.noise(1), "b.bin": Self.noise(2)]

  init() { publisher = SiteTests.Publisher(folder: folder, name: "a") }

  private func publish() async throws {
    let purgeable = try Attributes(placement: .purgeable)
    try await publisher.publish(["Extra": files, "Base": ["base.txt": "base"]], attributes: ["Extra": purgeable])
  }

  private func manager() throws -> AssetPackManager { try sites.manager([.init(publisher.site.string)]) }

  private var cache: String { "\(sites.folder.path)/group/cache" }

  private func cacheFiles() throws -> [String] {
    let names = FileManager.default.enumerator(atPath: cache)?.compactMap { $0 as? String } ?? []
    return names.filter { $0.contains("/segments/") }.map { "\(cache)/\($0)" }
  }

  private func cut(_ file: String, to share: Double) throws {
    let handle = try #require(FileHandle(forWritingAtPath: file))
    let size = try handle.seekToEnd()
    try handle.truncate(atOffset: UInt64(Double(size) * share))
    try handle.close()
  }

  /// Fetches all packs, and returns when their store is closed: a purge spares open files.
  private func fetchAll() async throws {
    weak var store: Store?
    do {
      let manager = try manager()
      try await manager.ensureLocalAvailability(of: manager.allAssetPacks)
      try await expectWhole(manager)
      store = try manager.store
    }
    while store != nil { await Task.yield() }
  }

  private func expectWhole(_ manager: AssetPackManager) async throws {
    #expect(manager.assetPackIsAvailableLocally(withID: "Extra"))
    #expect(await manager.localStatus(ofAssetPackWithID: "Extra") == .downloaded)
    for (path, text) in files {
      #expect(try manager.contents(at: FilePath(path), options: []) == Data(text.utf8))
    }
  }

  enum Harm: CaseIterable { case folderIsGone, fileIsGone, fileIsCut, fileIsEmpty, purge }

  private func hurt(_ harm: Harm, _ manager: AssetPackManager) async throws {
    let files = try cacheFiles()
    #expect(!files.isEmpty)
    switch harm {
    case .folderIsGone: try FileManager.default.removeItem(atPath: cache)
    case .fileIsGone: for file in files { try FileManager.default.removeItem(atPath: file) }
    case .fileIsCut: for file in files { try cut(file, to: 0.5) }
    case .fileIsEmpty: for file in files { try cut(file, to: 0) }
    case .purge: try await manager.store.purge(bytes: 1 << 30)
    }
  }

  /// Whatever took the bytes: the pack counts as not here, the next ensure fetches it again, and the other packs are as they were.
  @Test(arguments: Harm.allCases) func comesAgain(harm: Harm) async throws {
    try await publish()
    try await fetchAll()
    // A process that has none of the files open.
    let manager = try manager()
    let pack = try await manager.assetPack(withID: "Extra")
    #expect(try await manager.status(relativeTo: pack).rawValue == 69)
    try await hurt(harm, manager)
    #expect(await manager.localStatus(ofAssetPackWithID: "Extra").isEmpty)
    #expect(!manager.assetPackIsAvailableLocally(withID: "Extra") || [.fileIsCut, .fileIsEmpty].contains(harm))
    #expect(try await manager.status(relativeTo: pack) == .downloadAvailable)
    #expect(manager.assetPackIsAvailableLocally(withID: "Base"))
    #expect(try manager.contents(at: "base.txt") == Data("base".utf8))
    try await manager.ensureLocalAvailability(of: pack)
    try await expectWhole(manager)
    #expect(try await manager.status(relativeTo: pack).rawValue == 69)
  }

  /// The first read of a truncated file finds the damage, in the same process.
  @Test func aReadFindsWhatWasCut() async throws {
    try await publish()
    try await fetchAll()
    let manager = try manager()
    #expect(manager.assetPackIsAvailableLocally(withID: "Extra"))
    for file in try cacheFiles() { try cut(file, to: 0) }
    #expect { try manager.contents(at: "a.bin", options: []) } throws: { ($0 as? PackStoreError)?.code == .purged }
    #expect(!manager.assetPackIsAvailableLocally(withID: "Extra"))
    #expect(await manager.localStatus(ofAssetPackWithID: "Extra").isEmpty)
    try await manager.ensureLocalAvailability(of: manager.assetPack(withID: "Extra"))
    try await expectWhole(manager)
  }

  /// Nothing that is present is fetched: an update check does nothing, and without a site the error names the fault of
  /// the network.
  @Test func offline() async throws {
    try await publish()
    let manager = try manager()
    try await manager.ensureLocalAvailability(of: manager.allAssetPacks)
    let pack = try await manager.assetPack(withID: "Extra")
    try FileManager.default.removeItem(atPath: cache)
    #expect(try await manager.checkForUpdates() == ([], []))
    try FileManager.default.moveItem(atPath: publisher.site.string, toPath: "\(publisher.site).away")
    await #expect(throws: DeliveryError.self) { try await manager.ensureLocalAvailability(of: pack) }
    #expect(try manager.contents(at: "base.txt") == Data("base".utf8))
    try FileManager.default.moveItem(atPath: "\(publisher.site).away", toPath: publisher.site.string)
    try await manager.ensureLocalAvailability(of: pack)
    try await expectWhole(manager)
  }

  /// An essential pack that lost bytes keeps the app from starting until it is whole.
  @Test func anEssentialPackIsFetchedAgain() async throws {
    let policy = DownloadPolicy.essential(on: [.firstInstallation])
    let attributes = try Attributes(downloadPolicy: policy, placement: .purgeable)
    try await publisher.publish(["Extra": files], attributes: ["Extra": attributes])
    let manager = try manager()
    try await manager.ensureEssential()
    try await expectWhole(manager)
    try FileManager.default.removeItem(atPath: cache)
    try await self.manager().ensureEssential()
    try await expectWhole(manager)
    try FileManager.default.removeItem(atPath: cache)
    try FileManager.default.removeItem(atPath: publisher.site.string)
    await #expect(throws: (any Error).self) { try await self.manager().ensureEssential() }
  }

  /// A disk that is too small for a pack and the purgeable data: that data is purged, unless it would not be enough.
  @Test(arguments: [(1_000_000, true), (500_000, false)]) func makesRoom(capacity: Int, isEnough: Bool) async throws {
    try await publish()
    try await fetchAll()
    try await publisher.publish(["More": ["more.bin": Self.noise(3, 600_000)]])
    let cache = cache
    let manager = try sites.manager(
      [.init(publisher.site.string)],
      changing: {
        $0.rules.reservedByteCount = 0
        $0.rules.freeByteCount = { _ in
          let files = FileManager.default.enumerator(atPath: cache)?.compactMap { $0 as? String } ?? []
          let sizes = files.filter { $0.contains("/segments/") }.map {
            (try? FileManager.default.attributesOfItem(atPath: "\(cache)/\($0)")[.size] as? Int) ?? 0
          }
          return capacity - sizes.reduce(0, +)
        }
      })
    let more = try await manager.assetPack(withID: "More")
    if isEnough {
      try await manager.ensureLocalAvailability(of: more)
      #expect(manager.assetPackIsAvailableLocally(withID: "More"))
      #expect(!manager.assetPackIsAvailableLocally(withID: "Extra"))
    } else {
      await #expect { try await manager.ensureLocalAvailability(of: more) } throws: {
        ($0 as? ManagedPacksError)?.code == .lowSpace
      }
      try await expectWhole(manager)
    }
  }
}
