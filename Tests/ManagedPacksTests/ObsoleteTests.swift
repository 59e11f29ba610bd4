import PackStore
import Testing

@testable import ManagedPacks

/// C6: when a pack that is gone from its site is removed.
@Suite struct ObsoleteTests {
  struct Case: Sendable {
    let name: String
    let isRemoved: Bool
    var change: @Sendable (inout ObsoleteRule.Facts, inout Journal.Source?, inout SiteListing) throws -> Void
  }

  static let publisher = Store.Origin.unsigned(.standard)
  static let other = Store.Origin.unsigned(try! Store.Product("other"))

  static let cases: [Case] = [
    Case(name: "a newer root of its publisher does not list it", isRemoved: true) { _, _, _ in },
    Case(name: "listed") { _, _, listing in listing.packs.append(try entry("A")) },
    Case(name: "listed for others") { _, _, listing in listing.packs.append(SiteListing.Entry(id: "A", offer: nil)) },
    Case(name: "another pack is listed", isRemoved: true) { _, _, listing in listing.packs.append(try entry("B")) },
    Case(name: "the root that brought it") { _, _, listing in listing.root.sequence = 5 },
    Case(name: "an older root") { _, _, listing in listing.root.sequence = 4 },
    Case(name: "an older delegation") { _, _, listing in listing.root = RootNumber(serial: 0, sequence: 9) },
    Case(name: "a newer delegation", isRemoved: true) { _, _, listing in
      listing.root = RootNumber(serial: 2, sequence: 1)
    },
    Case(name: "a mirror that lags") { _, _, listing in listing.isStale = true },
    Case(name: "another publisher's root") { _, _, listing in listing.origin = Self.other },
    Case(name: "another channel's root") { _, _, listing in listing.channel = try SiteChannel("beta") },
    Case(name: "no channel") { _, _, listing in listing.channel = nil },
    Case(name: "brought from another channel") { _, source, _ in source?.channel = try SiteChannel("beta") },
    Case(name: "brought by another publisher") { _, source, _ in source?.origin = Self.other },
    Case(name: "brought by no manager") { _, source, _ in source = nil },
    Case(name: "taken over by another publisher") { facts, _, _ in facts.origin = Self.other },
    Case(name: "added here") { facts, source, listing in
      facts.origin = .local
      source?.origin = .local
      listing.origin = .local
    },
    Case(name: "of unknown origin") { facts, source, listing in
      facts.origin = .unknown
      source?.origin = .unknown
      listing.origin = .unknown
    },
    Case(name: "held") { facts, _, _ in facts.isHeld = true },
    Case(name: "pinned") { facts, _, _ in facts.isPinned = true },
  ]

  @Test(arguments: cases.indices) func rule(index: Int) throws {
    let test = Self.cases[index]
    var facts = ObsoleteRule.Facts(id: "A", origin: Self.publisher)
    var source: Journal.Source? = Journal.Source(
      origin: Self.publisher, channel: .live, root: RootNumber(serial: 1, sequence: 5))
    var listing = SiteListing(origin: Self.publisher, channel: .live, root: RootNumber(serial: 1, sequence: 6))
    try test.change(&facts, &source, &listing)
    #expect(ObsoleteRule.isObsolete(facts, source: source, listing: listing) == test.isRemoved, "\(test.name)")
  }
}

extension ObsoleteTests.Case {
  init(
    name: String,
    _ change: @escaping @Sendable (inout ObsoleteRule.Facts, inout Journal.Source?, inout SiteListing) throws -> Void
  ) {
    self.init(name: name, isRemoved: false, change: change)
  }
}
