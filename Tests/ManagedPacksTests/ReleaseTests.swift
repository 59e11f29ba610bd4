import PackAuthoring
import PackFormats
import PackStore
import Testing

@testable import ManagedPacks

/// Releases of several packs, as an app with a manager gets them.
@Suite struct ReleaseTests {
  private let tests = SiteTests()
  private let publisher: SiteTests.Publisher

  init() { publisher = SiteTests.Publisher(folder: tests.folder, name: "a") }

  /// Offers versions of the packs One and Two as a release.
  private func release(_ version: UInt64) async throws {
    let content = ["a.txt": "\(version)"]
    try await publisher.publish(["One": content, "Two": ["b.txt": "\(version)"]])
    try await Site(at: publisher.site).edit(
      [.init(.live, .promoteRelease(PackRelease(), ["One": version, "Two": version]))], signedBy: publisher.key)
  }

  private func versions(_ manager: AssetPackManager) throws -> [Int?] {
    ["One", "Two"].map { try? manager.localVersion(ofAssetPackWithID: $0) }
  }

  @Test func availabilityOfOnePackUpdatesItsRelease() async throws {
    try await release(1)
    let manager = try tests.manager([.init(publisher.site.string)])
    try await manager.ensureLocalAvailability(of: manager.assetPack(withID: "One"))
    #expect(try versions(manager) == [1, nil], "the app did not request the other pack")
    try await manager.ensureLocalAvailability(of: manager.assetPack(withID: "Two"))
    try await release(2)
    try await manager.ensureLocalAvailability(of: manager.assetPack(withID: "One"), requireLatestVersion: true)
    #expect(try versions(manager) == [2, 2])
    #expect(try await manager.withheldPacks.isEmpty)
  }

  @Test func heldPackIsTheReportedCause() async throws {
    try await release(1)
    let manager = try tests.manager([.init(publisher.site.string)])
    try await manager.ensureLocalAvailability(of: manager.allAssetPacks)
    try await release(2)
    try await manager.core.store.change { try $0.rollBack("Two", toVersion: 1) }
    await #expect {
      try await manager.ensureLocalAvailability(of: manager.assetPack(withID: "One"), requireLatestVersion: true)
    } throws: { "\($0)".contains("a release that needs the pack 'Two'") }
    #expect(try versions(manager) == [1, 1])
    let withheld = try await manager.withheldPacks
    #expect(withheld["One"] == .init(version: 2, reason: .releaseIncomplete, blockingPack: "Two"))
    #expect(withheld["Two"] == .init(version: 2, reason: .held))
  }
}
