import PackStore
import Synchronization
import Testing

@testable import ManagedPacks

/// C2: the bits of a status, by the installed and the offered version.
@Suite struct StatusTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var local: UInt64?
    var offered: UInt64?
    var isListed = true
    var isHeld = false
    var isDownloading = false
    var otherOrigin = false
    var relativeTo: UInt64?
    let bits: Int
    var testDescription: String { "\(local ?? 0) \(offered ?? 0) listed \(isListed) held \(isHeld) \(relativeTo ?? 0)" }

    var state: PackState {
      var state = PackState()
      state.local = local
      state.localOrigin = .local
      state.offered = offered
      state.offeredOrigin = otherOrigin ? .unknown : .local
      state.isListed = isListed
      state.isHeld = isHeld
      state.isDownloading = isDownloading
      return state
    }
  }

  @Test(arguments: [
    Case(local: nil, offered: nil, isListed: false, bits: 0),
    Case(local: nil, offered: nil, bits: 0),
    Case(local: nil, offered: 1, bits: 1),
    Case(local: nil, offered: 1, isDownloading: true, bits: 33),
    Case(local: nil, offered: nil, isListed: false, isDownloading: true, bits: 32),
    Case(local: 1, offered: 1, bits: 69),
    Case(local: 1, offered: 1, isHeld: true, bits: 69),
    Case(local: 1, offered: 2, bits: 75),
    Case(local: 1, offered: 2, isDownloading: true, bits: 107),
    Case(local: 1, offered: 2, isHeld: true, bits: 73),
    Case(local: 2, offered: 1, bits: 73),
    Case(local: 1, offered: nil, isListed: false, bits: 80),
    Case(local: 1, offered: nil, isListed: false, isHeld: true, bits: 80),
    Case(local: 1, offered: nil, isListed: true, bits: 68),
    Case(local: 1, offered: 1, otherOrigin: true, bits: 73),
    Case(local: 1, offered: 2, otherOrigin: true, bits: 73),
    Case(local: (1 << 53) - 1, offered: (1 << 53) - 1, bits: 69),
  ])
  func ofAPack(_ test: Case) { #expect(test.state.status.rawValue == test.bits) }

  @Test(arguments: [
    // The version that is here is the one of the instance; the site may have moved on.
    Case(local: 1, offered: 1, relativeTo: 1, bits: 69),
    Case(local: 1, offered: 2, relativeTo: 1, bits: 69),
    // The instance is newer than the installed version, and equals the offered one.
    Case(local: 1, offered: 2, relativeTo: 2, bits: 75),
    // The site has a newer version: the instance is not an update any more.
    Case(local: 1, offered: 3, relativeTo: 2, bits: 73),
    // The instance is older than the installed version.
    Case(local: 3, offered: 3, relativeTo: 2, bits: 73),
    Case(local: nil, offered: 2, relativeTo: 2, bits: 1),
    Case(local: 1, offered: nil, isListed: false, relativeTo: 1, bits: 80),
  ])
  func relativeToAnInstance(_ test: Case) {
    #expect(test.state.status(relativeTo: test.relativeTo, of: test.state.offeredOrigin).rawValue == test.bits)
  }

  /// The numbers are Apple's.
  @Test func bits() {
    let all: [AssetPack.Status] = [
      .downloadAvailable, .updateAvailable, .upToDate, .outOfDate, .obsolete, .downloading, .downloaded,
    ]
    #expect(all.map(\.rawValue) == [1, 2, 4, 8, 16, 32, 64])
    #expect(
      "\(AssetPack.Status([.downloadAvailable, .upToDate, .downloaded]))" == "downloadAvailable|upToDate|downloaded")
  }

  /// X9: the site of a pack that several sites list: the first, or the first one of the installed pack's publisher.
  @Test(arguments: [
    (origins: [0, 1], local: Int?.none, site: 0), ([1, 1], nil, 0), ([0, 1], 1, 1), ([1, 1], 1, 0), ([0, 1, 1], 1, 1),
    ([1, 0, 1], 1, 0), ([0, 0], 1, 0),
  ])
  func givingSite(origins: [Int], local: Int?, site: Int) throws {
    let known = [Store.Origin.local, .unknown]
    let answers = try origins.map { origin -> Result<SiteListing, any Error> in
      var listing = SiteListing(origin: known[origin], root: RootNumber(serial: 1, sequence: 1))
      listing.packs = [try entry("A")]
      return .success(listing)
    }
    let catalog = try PackCatalog(answers) { _ in local.map { known[$0] } }
    #expect(catalog.pack("A")?.site == site)
  }

  /// A pack's life as its app sees it.
  @Test func throughAManager() async throws {
    let setup = try ManagedSetup([try entry("A"), try entry("B")])
    let manager = try setup.manager()
    #expect(try await manager.status(ofAssetPackWithID: "A") == .downloadAvailable)
    #expect(await manager.localStatus(ofAssetPackWithID: "A") == [])
    #expect(!manager.assetPackIsAvailableLocally(withID: "A"))
    let pack = try await manager.assetPack(withID: "A")
    try await manager.ensureLocalAvailability(of: pack)
    #expect(manager.assetPackIsAvailableLocally(withID: "A"))
    #expect(try await manager.status(ofAssetPackWithID: "A").rawValue == 69)
    #expect(try await manager.status(relativeTo: pack).rawValue == 69)
    setup.site.state.withLock { $0.listing.packs[0].offer?.version = 2 }
    #expect(try await manager.status(ofAssetPackWithID: "A").rawValue == 75)
    #expect(await manager.localStatus(ofAssetPackWithID: "A") == [.downloaded, .outOfDate])
    setup.site.state.withLock { _ = $0.listing.packs.removeFirst() }
    #expect(try await manager.status(ofAssetPackWithID: "A") == [.obsolete, .downloaded])
    await #expect(throws: ManagedBackgroundAssetsError.assetPackNotFound(withID: "C")) {
      try await manager.status(ofAssetPackWithID: "C")
    }
    setup.site.state.withLock { $0.listingError = DeliveryError(.unreachable, "no network") }
    #expect(await manager.localStatus(ofAssetPackWithID: "A") == [.downloaded, .obsolete])
    await #expect(throws: DeliveryError.self) { try await manager.status(ofAssetPackWithID: "A") }
  }
}
