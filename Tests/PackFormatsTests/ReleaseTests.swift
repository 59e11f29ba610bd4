import Foundation
import Testing

@testable import PackFormats
@testable import PackStore

/// Releases of several packs: the bytes of the root's extension, the devices of a share, and the packs that a release includes and
/// blocks.
@Suite struct ReleaseTests {
  private static let second: Int64 = 1_000_000_000
  private static let day = 86_400 * second
  private static let start = 1_700_000_000 * second

  private static func id(_ byte: UInt8) -> PackReleaseID {
    PackReleaseID(ID128(copying: [UInt8](repeating: byte, count: 16)))
  }

  private static let spring: PackRelease = {
    let id = PackReleaseID(ID128(copying: (0..<16).map { UInt8($0) }))
    return PackRelease(id: id, name: try? PackReleaseName("spring"))
  }()

  private static let rollout = Rollout(asOf: start, steps: [.init(time: start + day, share: 10_000)])

  private static func offer(_ number: UInt64, _ release: PackRelease? = nil, share: UInt32 = 10_000) -> SiteRoot.Offer {
    SiteRoot.Offer(
      number: number, catalog: SiteFormatSamples.catalog(UInt8(number)), manifest: SiteFormatSamples.digest(2),
      manifestByteCount: 9, share: share, release: release)
  }

  private static func root(_ packs: [PackID: [SiteRoot.Offer]]) -> SiteRoot {
    SiteRoot(
      sequence: 17, madeAt: start, expiresAfter: 100 * day, site: SiteID(SiteFormatSamples.id(1)), product: .standard,
      packs: packs.sorted { $0.key < $1.key }.map { .init(id: $0, priority: 0, offers: $1, deltas: []) })
  }

  /// The example of the format.
  private static var example: SiteRoot {
    var members = [offer(4, spring, share: 100), offer(7, spring, share: 100)]
    for index in members.indices { members[index].rollout = rollout }
    var root = root(["A": [members[0]], "B": [members[1]]])
    root.horizon = day
    return root
  }

  private func code(_ bytes: [UInt8]) -> PackStoreError.Code? {
    failure { _ = try SignedSiteRoot(decoding: bytes, file: "root") }?.code
  }

  private func decoded(_ root: SiteRoot) throws -> SiteRoot {
    try SignedSiteRoot(decoding: root.encode(signedBy: nil), file: "root").root
  }

  // MARK: - Bytes

  @Test func bytesAreThoseOfTheFormat() throws {
    let bytes = try Self.example.encode(signedBy: nil)
    let worked = """
      21 00 01 00 64 00 00 00 00 00 4f 91 94 4e 00 00 01 00 00 00 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f 06 00
      00 00 73 70 72 69 6e 67 64 00 00 00 00 00 00 00 00 00 2a 36 fe 9c 97 17 01 00 00 00 00 00 79 c7 92 eb 97 17 10 27
      00 00 02 00 00 00 01 00 00 00 41 04 00 00 00 00 00 00 00 01 00 00 00 42 07 00 00 00 00 00 00 00
      """.split(whereSeparator: \.isWhitespace).compactMap { UInt8($0, radix: 16) }
    #expect(bytes.dropLast(SiteKey.signatureByteCount).suffix(worked.count).elementsEqual(worked))
    #expect(try SignedSiteRoot(decoding: bytes, file: "root").root == Self.example)
  }

  @Test func everyStateSurvivesTheFile() throws {
    let steps = Self.rollout.steps
    let rollouts: [Rollout?] = [
      nil, Rollout(state: .halted, asOf: 5), Rollout(state: .paused, asOf: 0, steps: steps),
      Rollout(asOf: 7, steps: steps),
    ]
    for (index, rollout) in rollouts.enumerated() {
      for horizon in [nil, 5] as [Int64?] {
        var root = Self.example
        for pack in root.packs.indices {
          root.packs[pack].offers[0].rollout = rollout
          root.packs[pack].offers.append(Self.offer(2, PackRelease(id: Self.id(9))))
        }
        // A rollout outside of releases shares the horizon.
        var single = Self.offer(1, share: 1)
        single.rollout = index % 2 == 0 ? Self.rollout : nil
        root.packs.append(.init(id: "C", priority: 0, offers: [single], deltas: []))
        root.highest = SiteRoot.highest(of: root.packs)
        root.horizon = root.hasRollouts ? horizon : nil
        #expect(try decoded(root) == root)
      }
    }
    var plain = Self.root(["A": [Self.offer(1)]])
    #expect(plain.releaseBytes == nil && !plain.hasReleases)
    plain.otherExtensions = [.init(type: SiteRoot.releasesType, bytes: [])]
    #expect(throws: PackStoreError.self) { try plain.encode(signedBy: nil) }
  }

  /// The members of a release have one name, share and rollout, and a pack has one member of a release.
  @Test func differingMembersAreNotSigned() throws {
    let changes: [(inout SiteRoot) -> Void] = [
      { $0.packs[1].offers[0].share = 101 }, { $0.packs[1].offers[0].rollout = nil },
      { $0.packs[1].offers[0].release = PackRelease(id: Self.spring.id) },
      { root in
        var second = root.packs[1].offers[0]
        second.number = 3
        root.packs[1].offers.append(second)
      },
      { $0.expiresAfter = nil },
    ]
    for (index, change) in changes.enumerated() {
      var root = Self.example
      change(&root)
      #expect(throws: PackStoreError.self, "change \(index)") { try root.encode(signedBy: nil) }
    }
  }

  /// Each field of the worked bytes with a value that breaks a rule; no reader accepts it.
  @Test func everyFieldIsChecked() throws {
    let bytes = try Self.example.encode(signedBy: nil)
    let begin = bytes.count - SiteKey.signatureByteCount - 108
    #expect(code(bytes.putting(UInt16(0x22), at: begin)) == .newerFormat)
    #expect(code(bytes.putting(UInt16(0), at: begin + 2)) == .corrupt, "not critical")
    #expect(code(bytes.putting(Int64(-1), at: begin + 8)) == .corrupt, "horizon")
    for count in [0, 2, UInt32.max] { #expect(code(bytes.putting(count, at: begin + 16)) == .corrupt, "rows") }
    for count in [0, 65, UInt32.max] { #expect(code(bytes.putting(count, at: begin + 36)) == .corrupt, "name") }
    #expect(code(bytes.putting([UInt8(ascii: " ")], at: begin + 40)) == .corrupt, "character of the name")
    for share in [10_000, 10_001, UInt32.max] {
      #expect(code(bytes.putting(share, at: begin + 46)) == .corrupt, "base share")
    }
    #expect(code(bytes.putting(UInt32(3), at: begin + 50)) == .corrupt, "state")
    #expect(code(bytes.putting(Int64(-1), at: begin + 54)) == .corrupt, "asOf")
    for count in [0, 2, 65, UInt32.max] { #expect(code(bytes.putting(count, at: begin + 62)) == .corrupt, "steps") }
    #expect(code(bytes.putting(Int64(-1), at: begin + 66)) == .corrupt, "time")
    #expect(code(bytes.putting(UInt32(100), at: begin + 74)) == .corrupt, "share of the step")
    for count in [0, 1, 3, UInt32.max] { #expect(code(bytes.putting(count, at: begin + 78)) == .corrupt, "members") }
    #expect(code(bytes.putting([UInt8(ascii: "C")], at: begin + 86)) == .corrupt, "another pack")
    #expect(code(bytes.putting([UInt8(ascii: "B")], at: begin + 86)) == .corrupt, "a pack twice")
    #expect(code(bytes.putting(UInt64(5), at: begin + 87)) == .corrupt, "another version")
  }

  /// The example without steps: asOf and horizon must be 0, because no rollout exists.
  @Test func fixedSharesHaveOneForm() throws {
    var root = Self.example
    for pack in root.packs.indices { root.packs[pack].offers[0].rollout = nil }
    root.horizon = nil
    let bytes = try root.encode(signedBy: nil), begin = bytes.count - SiteKey.signatureByteCount - 96
    #expect(try SignedSiteRoot(decoding: bytes, file: "root").root == root)
    #expect(code(bytes.putting(Int64(1), at: begin + 8)) == .corrupt, "horizon")
    #expect(code(bytes.putting(Int64(1), at: begin + 54)) == .corrupt, "asOf")
  }

  @Test func namesAreChecked() throws {
    for name in ["a", "2026", "spring-2.1_b+c", String(repeating: "x", count: 64)] {
      #expect(try PackReleaseName(name).text == name)
    }
    for name in ["", "a b", "é", "a/b", "a\n", String(repeating: "x", count: 65)] {
      #expect(throws: PackStoreError.self) { try PackReleaseName(name) }
    }
    #expect(PackReleaseID(Self.spring.id.description) == Self.spring.id && PackReleaseID("00") == nil)
  }

  // MARK: - Devices

  @Test func membersShareTheNumberOfADevice() throws {
    let device = DeviceID(ID128(copying: [UInt8](repeating: 0, count: 16)))
    let numbers = (1...4 as ClosedRange<UInt64>).map { number in
      OfferedVersion(
        pack: number % 2 == 0 ? "A" : "B", number: number, product: .standard, firstKey: nil, release: Self.spring.id
      ).draw(for: device)
    }
    #expect(numbers == [2554, 2554, 2554, 2554], "the number in the format")
    let other = OfferedVersion(pack: "A", number: 1, product: .standard, firstKey: nil, release: Self.id(9))
    #expect(other.draw(for: device) != 2554)
  }

  private func has(_ root: SiteRoot, _ installed: [PackID: UInt64]) -> Bool {
    InstalledReleases(in: root, isInstalled: { installed[$0] != nil }) { installed[$0.id] == $1.number }
      .contains(Self.spring.id)
  }

  @Test func haltedReleaseStaysWhole() throws {
    let root = Self.root([
      "A": [Self.offer(3), Self.offer(2, Self.spring), Self.offer(1)],
      "B": [Self.offer(2, Self.spring), Self.offer(1)],
      "C": [Self.offer(1)],
    ])
    #expect(has(root, ["A": 2, "B": 2]) && has(root, ["A": 2]) && has(root, ["A": 3, "B": 2, "C": 1]))
    #expect(!has(root, [:]) && !has(root, ["A": 2, "B": 1]) && !has(root, ["A": 3]) && !has(root, ["A": 9, "B": 2]))
  }

  // MARK: - Packs

  private func select(_ root: SiteRoot, _ installed: [PackID: UInt64]) -> ReleaseSelection {
    var selections: [PackID: OfferSelection] = [:]
    for entry in root.packs where installed[entry.id] != nil {
      selections[entry.id] = OfferSelection(
        of: entry, in: root, signedBy: nil, for: SiteClient(), at: 0, platforms: { _ in [] }, isCurrent: { _ in false },
        storeDevice: { nil })
    }
    return ReleaseSelection(in: root, selections) {
      installed[$0.id] == $1.number
    } applies: { _, _ in
      true
    }
  }

  @Test func oneUnablePackBlocksItsRelease() throws {
    let root = Self.root([
      "A": [Self.offer(2, Self.spring), Self.offer(1)], "B": [Self.offer(2, Self.spring), Self.offer(1)],
      "C": [Self.offer(2, Self.spring), Self.offer(1)], "D": [Self.offer(2), Self.offer(1)],
    ])
    let all: Set<PackID> = ["A", "B", "C", "D"]
    let release = select(root, ["A": 1, "B": 1, "C": 0, "D": 1])
    #expect(release.included(with: ["A"]) == ["A", "B", "C"] && release.included(with: ["D"]) == ["D"])
    #expect(release.blocked(by: ["B"], among: all) == ["A": "B", "C": "B"])
    #expect(release.blocked(by: ["C", "B"], among: all) == ["A": "B"])
    #expect(release.blocked(by: ["D"], among: all).isEmpty && release.blocked(by: [], among: all).isEmpty)
    // A pack that is neither installed nor wanted is not concerned.
    #expect(select(root, ["A": 1, "B": 1]).included(with: ["A"]) == ["A", "B"])
    // A pack that has the member does not block, and is not blocked.
    #expect(select(root, ["A": 2, "B": 1]).blocked(by: ["A"], among: all).isEmpty)
    #expect(select(root, ["A": 2, "B": 1, "C": 1]).blocked(by: ["B"], among: all) == ["C": "B"])
  }

  /// A release waits for a pack whose version follows the member, and for packs of other releases through such packs.
  @Test func packsBlockThroughOtherReleases() throws {
    let second = PackRelease(id: Self.id(9))
    let root = Self.root([
      "A": [Self.offer(3, second), Self.offer(2, Self.spring), Self.offer(1)],
      "B": [Self.offer(2, Self.spring), Self.offer(1)], "C": [Self.offer(2, second), Self.offer(1)],
    ])
    let all: Set<PackID> = ["A", "B", "C"], old = select(root, ["A": 1, "B": 1, "C": 1])
    #expect(old.included(with: ["B"]) == all && old.included(with: ["C"]) == ["A", "C"])
    #expect(old.blocked(by: ["C"], among: all) == ["A": "C", "B": "C"], "A would stay below both members")
    #expect(old.blocked(by: ["B"], among: all).isEmpty, "no selected offer is a member with B")
    #expect(select(root, ["A": 2, "B": 1, "C": 1]).blocked(by: ["C"], among: all) == ["A": "C"])
  }
}
