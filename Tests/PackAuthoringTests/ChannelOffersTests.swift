import Foundation
import PackFormats
import PackStore
import Synchronization
import Testing

@testable import PackAuthoring

/// Replacing all offers of a channel by one root, and roots that a caller records before they are written.
@Suite struct ChannelOffersTests {
  let folder: TemporaryFolder
  let key = SiteKey()
  private let announced = Announced()

  private final class Announced: Sendable { let roots = Mutex<[(channel: SiteChannel, bytes: [UInt8])]>([]) }

  init() throws { folder = try TemporaryFolder() }

  /// A site with versions 1 and 2 of the packs A and B, which no channel offers.
  private func site() async throws -> Site {
    let announced = announced
    let site = try Site(at: FilePath(folder.path("site"))) { channel, bytes in
      announced.roots.withLock { $0.append((channel, bytes)) }
    }
    let store = try folder.store()
    for pack in ["A", "B"] as [PackID] {
      for number in 1...2 {
        let content = try folder.makeFolder("content", ["file": Data("\(pack) \(number)".utf8)])
        try await store.install(folder: FilePath(content), as: pack)
        try await site.publish([.init(pack)], from: store, signedBy: key, options: .init(deltaCount: 0, channel: nil))
      }
    }
    return site
  }

  private func offers(_ site: Site, _ channel: SiteChannel) throws -> [PackID: [UInt64]] {
    let found = try site.channels().first { $0.channel == channel }
    return Dictionary(uniqueKeysWithValues: (found?.packs ?? []).map { ($0.pack, $0.offers.map(\.version)) })
  }

  @Test func severalPacksChangeByOneRoot() async throws {
    let site = try await site(), beta = try SiteChannel("beta")
    announced.roots.withLock { $0 = [] }
    let first = try await site.replaceOffers(of: beta, by: ["A": 1, "B": 2], signedBy: key)
    #expect(first.isNew && !first.isUnchanged)
    #expect(try offers(site, beta) == ["A": [1], "B": [2]])
    #expect(announced.roots.withLock { $0.map(\.channel) } == [beta])
    let again = try await site.replaceOffers(of: beta, by: ["A": 1, "B": 2], signedBy: key)
    #expect(again.isUnchanged && again.sequence == first.sequence)
    try await site.replaceOffers(of: beta, by: ["A": 2], signedBy: key)
    #expect(try offers(site, beta) == ["A": [2]])
    #expect(try site.store.makeSnapshot().versions(of: "B").map(\.number).sorted() == [1, 2], "versions stay")
    try await site.replaceOffers(of: beta, by: ["A": 2, "B": 1], signedBy: key)
    #expect(try offers(site, beta) == ["A": [2], "B": [1]])
    try await site.replaceOffers(of: beta, by: [:] as [PackID: UInt64], signedBy: key)
    #expect(try offers(site, beta) == [:])
  }

  @Test func stepBackNeedsAnOption() async throws {
    let site = try await site(), beta = try SiteChannel("beta")
    try await site.replaceOffers(of: beta, by: ["A": 2, "B": 1], signedBy: key)
    await #expect(throws: PackStoreError.self) {
      try await site.replaceOffers(of: beta, by: ["A": 1, "B": 2], signedBy: key)
    }
    #expect(try offers(site, beta) == ["A": [2], "B": [1]], "nothing of it was written")
    var options = Site.PublishOptions()
    options.takesBack = true
    try await site.replaceOffers(of: beta, by: ["A": 1, "B": 2], signedBy: key, options: options)
    #expect(try offers(site, beta) == ["A": [1], "B": [2]])
  }

  @Test func sharesHaveFallbacks() async throws {
    let site = try await site(), beta = try SiteChannel("beta")
    func offered() throws -> [String] {
      try site.channels().first { $0.channel == beta }?.packs.first?.offers.map { "\($0.version) \($0.share)" } ?? []
    }
    for share in ["5%", "50%", "0%", "5%"] {
      let share = try DeviceShare(share)
      try await site.replaceOffers(of: beta, by: ["A": [.init(2, share: share), .init(1)]], signedBy: key)
      #expect(try offered() == ["2 \(share)", "1 100%"])
      let again = try await site.replaceOffers(of: beta, by: ["A": [.init(2, share: share), .init(1)]], signedBy: key)
      #expect(again.isUnchanged)
    }
    try await site.replaceOffers(of: beta, by: ["A": 2], signedBy: key)
    #expect(try offered() == ["2 100%"])
    for wrong in [[.init(1), .init(2)], [.init(2, share: .none), .init(2)]] as [[Site.PlannedOffer]] {
      await #expect(throws: PackStoreError.self) {
        try await site.replaceOffers(of: beta, by: ["A": wrong], signedBy: key)
      }
    }
    #expect(try offered() == ["2 100%"])
  }

  @Test func missingVersionsAreRefused() async throws {
    let site = try await site(), beta = try SiteChannel("beta")
    for offers in [["A": 3], ["C": 1], ["A": 1, "B": 9]] as [[PackID: UInt64]] {
      do {
        try await site.replaceOffers(of: beta, by: offers, signedBy: key)
        Issue.record("\(offers)")
      } catch let error as PackStoreError { #expect(error.code == .notFound) }
    }
    #expect(try site.rootBytes(of: beta) == nil)
  }

  @Test func announcedRootIsTheWrittenOne() async throws {
    let site = try await site(), beta = try SiteChannel("beta")
    try await site.replaceOffers(of: beta, by: ["A": 1], signedBy: key)
    let first = try #require(announced.roots.withLock { $0.last?.bytes })
    #expect(try site.rootBytes(of: beta) == first)
    try await site.replaceOffers(of: beta, by: ["A": 2], signedBy: key)
    try site.writeAnnouncedRoot(first, of: beta)
    #expect(try site.rootBytes(of: beta) == first)
    #expect(try offers(site, beta) == ["A": [1]])
    #expect(throws: PackStoreError.self) { try site.writeAnnouncedRoot(first, of: .live) }
    #expect(throws: PackStoreError.self) { try site.writeAnnouncedRoot([1, 2, 3], of: beta) }
    #expect(try site.rootBytes(of: beta) == first)
  }

  @Test func refusedRootIsNotWritten() async throws {
    _ = try await site()
    struct Refused: Error {}
    let refusing = try Site(at: FilePath(folder.path("site"))) { _, _ in throw Refused() }
    await #expect(throws: Refused.self) { try await refusing.replaceOffers(of: .live, by: ["A": 1], signedBy: key) }
    #expect(try offers(refusing, .live) == [:])
  }

  @Test func copyWithAnotherNumberIsAVersionOfItsOwn() async throws {
    let source = try folder.store(), target = try Store(at: FilePath(folder.path("target")))
    try await source.install(folder: FilePath(try folder.makeFolder("content", ["file": Data("one".utf8)])), as: "P")
    let snapshot = try source.makeSnapshot()
    for number: UInt64 in [5, 6, 9] {
      var options = Store.CopyOptions()
      options.isOwn = true
      options.number = number
      let copyOptions = options
      let copied = try await target.change { try $0.copy("P", from: snapshot, options: copyOptions).version }
      #expect(copied.number == number && copied.catalog == snapshot.pack("P")?.version.catalog)
    }
    #expect(try target.packs().map(\.version.number) == [9])
    var options = Store.CopyOptions()
    options.isOwn = true
    options.number = .max
    let tooHigh = options
    await #expect(throws: PackStoreError.self) {
      try await target.change { _ = try $0.copy("P", from: snapshot, options: tooHigh) }
    }
  }
}
