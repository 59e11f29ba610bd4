import Foundation
import PackAuthoring
import PackStore
import Testing

@testable import ManagedPacks

/// Durable packs whose files another program deleted or cut short: a manager reported that they were up to date.
@Suite struct LostPackTests {
  let folder = TestFolder()
  let sites = SiteTests()

  enum Harm: CaseIterable { case folderIsGone, filesAreGone, filesAreCut }

  private var segments: String { "\(sites.folder.path)/group/store/segments" }

  private func hurt(_ harm: Harm) throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: segments)
    #expect(!names.isEmpty)
    if harm == .folderIsGone { return try FileManager.default.removeItem(atPath: segments) }
    for name in names {
      if harm == .filesAreGone { try FileManager.default.removeItem(atPath: "\(segments)/\(name)") }
      if harm == .filesAreCut { try Data().write(to: URL(fileURLWithPath: "\(segments)/\(name)")) }
    }
  }

  @Test(arguments: Harm.allCases, [false, true]) func comesAgain(harm: Harm, inTheSameProcess: Bool) async throws {
    let publisher = SiteTests.Publisher(folder: folder, name: "a")
    try await publisher.publish(["One": ["a.txt": String(repeating: "one", count: 10_000)]])
    var manager = try sites.manager([.init(publisher.site.string)])
    let pack = try await manager.assetPack(withID: "One")
    try await manager.ensureLocalAvailability(of: pack)
    #expect(manager.assetPackIsAvailableLocally(withID: "One"))
    try hurt(harm)
    if !inTheSameProcess { manager = try sites.manager([.init(publisher.site.string)]) }
    #expect(await manager.localStatus(ofAssetPackWithID: "One").isEmpty)
    #expect(!manager.assetPackIsAvailableLocally(withID: "One"))
    #expect(try await manager.status(relativeTo: pack) == .downloadAvailable)
    try await manager.ensureLocalAvailability(of: pack)
    #expect(await manager.localStatus(ofAssetPackWithID: "One") == .downloaded)
    #expect(manager.assetPackIsAvailableLocally(withID: "One"))
    let after = try sites.manager([.init(publisher.site.string)])
    #expect(try after.contents(at: "a.txt", options: []).count == 30_000)
    #expect(try after.store.read { try $0.verify(deep: true).isSound })
  }
}
