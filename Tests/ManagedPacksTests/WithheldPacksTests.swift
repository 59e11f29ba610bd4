import PackDelivery
import PackStore
import Synchronization
import Testing

@testable import ManagedPacks

/// Why the newest versions of packs are not installed.
@Suite struct WithheldPacksTests {
  private typealias Withheld = AssetPackManager.WithheldPack

  private func withheld(_ entry: SiteListing.Entry, _ version: UInt64, _ reason: WithheldReason) -> SiteListing.Entry {
    var entry = entry
    entry.withheld = WithheldVersion(version, reason)
    return entry
  }

  @Test func reasonsOfTheSiteAreReported() async throws {
    var hidden = withheld(try entry("C"), 4, .appVersion)
    hidden.offer = nil
    let setup = try ManagedSetup([try entry("A"), withheld(try entry("B"), 2, .schedule), hidden])
    let manager = try setup.manager()
    #expect(
      try await manager.withheldPacks
        == ["B": Withheld(version: 2, reason: .schedule), "C": Withheld(version: 4, reason: .appVersion)])
  }

  @Test func blockingPackOfAReleaseIsReported() async throws {
    var blocked = try entry("A")
    blocked.withheld = WithheldVersion(2, .releaseIncomplete, blockingPack: "B")
    let manager = try ManagedSetup([blocked, try entry("B")]).manager()
    #expect(
      try await manager.withheldPacks == ["A": Withheld(version: 2, reason: .releaseIncomplete, blockingPack: "B")])
  }

  @Test func missingSpaceIsReported() async throws {
    let setup = try ManagedSetup([try entry("A", size: 1_000)])
    let manager = try setup.manager { options in
      options.rules.reservedByteCount = 0
      options.rules.freeByteCount = { _ in 999 }
    }
    #expect(try await manager.withheldPacks == ["A": Withheld(version: 1, reason: .noSpace)])
    let roomy = try ManagedSetup([try entry("A", size: 1_000)]).manager { options in
      options.rules.reservedByteCount = 0
      options.rules.freeByteCount = { _ in 1_000 }
    }
    #expect(try await roomy.withheldPacks.isEmpty)
  }

  @Test func sitesThatCannotBeUsedAreReasonsForInstalledPacks() async throws {
    let setup = try ManagedSetup([try entry("A")])
    let manager = try setup.manager()
    try await manager.ensureLocalAvailability(of: manager.assetPack(withID: "A"))
    for (code, reason) in [
      (DeliveryError.Code.expired, .expired), (.tooOld, .expired), (.otherKey, .keyNotTrusted),
      (.badSignature, .keyNotTrusted),
      (.notSigned, .keyNotTrusted), (.forkedRoot, .keyNotTrusted),
    ] as [(DeliveryError.Code, WithheldReason)] {
      setup.site.state.withLock { $0.listingError = DeliveryError(code, "test", at: "stub") }
      #expect(try await manager.withheldPacks == ["A": Withheld(version: nil, reason: reason)])
    }
    setup.site.state.withLock { $0.listingError = DeliveryError(.unreachable, "test", at: "stub") }
    await #expect(throws: DeliveryError.self) { try await manager.withheldPacks }
  }
}
