import Foundation
import Testing

@testable import PackFormats
@testable import PackStore

@Suite struct RolloutTests {
  private static let second: Int64 = 1_000_000_000
  private static let day = 86_400 * second
  private static let start = 1_700_000_000 * second

  /// The example of the format: version 4 of `A`, 1 %, then 2 % and 100 %.
  private static let rollout = Rollout(
    asOf: start, steps: [.init(time: start + day, share: 200), .init(time: start + 2 * day, share: 10_000)])

  private static func root(_ rollout: Rollout?, base: UInt32 = 100, horizon: Int64? = nil) -> SiteRoot {
    var offer = SiteRoot.Offer(
      number: 4, catalog: SiteFormatSamples.catalog(1), manifest: SiteFormatSamples.digest(2), manifestByteCount: 9)
    (offer.share, offer.rollout) = (base, rollout)
    var root = SiteRoot(
      sequence: 17, madeAt: start, expiresAfter: 100 * day, site: SiteID(SiteFormatSamples.id(1)), product: .standard,
      packs: [.init(id: "A", priority: 0, offers: [offer], deltas: [])])
    root.horizon = horizon
    return root
  }

  private func hexBytes(_ text: String) -> [UInt8] {
    text.split(whereSeparator: \.isWhitespace).compactMap { UInt8($0, radix: 16) }
  }

  // MARK: - Bytes

  @Test func bytesAreThoseOfTheFormat() throws {
    let root = Self.root(Self.rollout, horizon: Self.day)
    let bytes = try root.encode(signedBy: nil)
    let worked = hexBytes(
      """
      20 00 01 00 41 00 00 00 00 00 4f 91 94 4e 00 00 01 00 00 00 01 00 00 00 41 04 00 00 00 00 00 00 00 00 00 00 00
      00 00 2a 36 fe 9c 97 17 02 00 00 00 00 00 79 c7 92 eb 97 17 c8 00 00 00 00 00 c8 58 27 3a 98 17 10 27 00 00
      """)
    #expect(bytes.dropLast(SiteKey.signatureByteCount).suffix(worked.count).elementsEqual(worked))
    let read = try SignedSiteRoot(decoding: bytes, file: "root").root
    #expect(read == root && read.horizonEnd == Self.start + Self.day)
  }

  /// A root without rollouts has no extension that earlier clients refuse.
  @Test func rootsWithoutRolloutsKeepTheirBytes() throws {
    let plain = try Self.root(nil).encode(signedBy: nil),
      withHorizon = try Self.root(nil, horizon: 5).encode(signedBy: nil)
    #expect(plain == withHorizon)
    #expect(try SignedSiteRoot(decoding: plain, file: "root").root.horizon == nil)
  }

  @Test func otherExtensionsStayInOrder() throws {
    var root = Self.root(Self.rollout)
    root.otherExtensions = [.init(type: 9, bytes: [1]), .init(type: 0x30, bytes: [])]
    #expect(try SignedSiteRoot(decoding: root.encode(signedBy: nil), file: "root").root == root)
    root.otherExtensions = [.init(type: SiteRoot.rolloutsType, bytes: [])]
    #expect(throws: PackStoreError.self) { try root.encode(signedBy: nil) }
  }

  @Test func invalidRolloutsAreRefused() throws {
    typealias Step = Rollout.Step
    let valid: [(UInt32, Rollout)] = [
      (0, Rollout(asOf: 0, steps: [Step(time: 0, share: 1)])), (10_000, Rollout(state: .halted, asOf: 5)),
      (1, Rollout(state: .paused, asOf: .max, steps: [Step(time: .max, share: 10_000)])),
      (0, Rollout(asOf: 0, steps: (1...64).map { Step(time: $0, share: UInt32($0)) })),
    ]
    for (base, rollout) in valid {
      let root = Self.root(rollout, base: base)
      #expect(try SignedSiteRoot(decoding: root.encode(signedBy: nil), file: "root").root == root)
    }
    let invalid: [(UInt32, Rollout)] = [
      (0, Rollout(asOf: 0)), (0, Rollout(asOf: -1, steps: [Step(time: 0, share: 1)])),
      (1, Rollout(asOf: 0, steps: [Step(time: 0, share: 1)])),
      (0, Rollout(asOf: 0, steps: [Step(time: 0, share: 10_001)])),
      (0, Rollout(asOf: 0, steps: [Step(time: -1, share: 1)])),
      (0, Rollout(asOf: 0, steps: [Step(time: 5, share: 1), Step(time: 5, share: 2)])),
      (0, Rollout(asOf: 0, steps: [Step(time: 5, share: 2), Step(time: 6, share: 2)])),
      (0, Rollout(asOf: 0, steps: (1...65).map { Step(time: $0, share: UInt32($0)) })),
    ]
    for (base, rollout) in invalid {
      #expect(throws: PackStoreError.self) { try Self.root(rollout, base: base).encode(signedBy: nil) }
    }
    var endless = Self.root(Self.rollout)
    endless.expiresAfter = nil
    #expect(throws: PackStoreError.self) { try endless.encode(signedBy: nil) }
    endless = Self.root(Rollout(state: .halted, asOf: 0))
    endless.expiresAfter = nil
    #expect(try SignedSiteRoot(decoding: endless.encode(signedBy: nil), file: "root").root == endless)
  }

  /// Each field of the worked bytes with a value that breaks a rule; no reader accepts it.
  @Test func everyFieldIsChecked() throws {
    let bytes = try Self.root(Self.rollout, horizon: Self.day).encode(signedBy: nil)
    let begin = bytes.count - SiteKey.signatureByteCount - 73
    func code(_ changed: [UInt8]) -> PackStoreError.Code? {
      failure { _ = try SignedSiteRoot(decoding: changed, file: "root") }?.code
    }
    #expect(code(bytes.putting(UInt16(0x22), at: begin)) == .newerFormat)
    #expect(code(bytes.putting(UInt16(0), at: begin + 2)) == .corrupt, "not critical")
    #expect(code(bytes.putting(Int64(-1), at: begin + 8)) == .corrupt, "horizon")
    for count in [0, 2, UInt32.max] { #expect(code(bytes.putting(count, at: begin + 16)) == .corrupt, "rows") }
    #expect(code(bytes.putting([UInt8(ascii: "B")], at: begin + 24)) == .corrupt, "another pack")
    #expect(code(bytes.putting(UInt64(5), at: begin + 25)) == .corrupt, "another version")
    #expect(code(bytes.putting(UInt32(3), at: begin + 33)) == .corrupt, "state")
    #expect(code(bytes.putting(Int64(-1), at: begin + 37)) == .corrupt, "asOf")
    for count in [1, 3, 65, UInt32.max] { #expect(code(bytes.putting(count, at: begin + 45)) == .corrupt, "steps") }
    #expect(code(bytes.putting(Int64(-1), at: begin + 49)) == .corrupt, "time")
    #expect(code(bytes.putting(Int64.max, at: begin + 49)) == .corrupt, "order of times")
    for share in [0, 100, 10_000, UInt32.max] {
      #expect(code(bytes.putting(share, at: begin + 57)) == .corrupt, "share")
    }
    #expect(code(bytes.putting(UInt32(10_001), at: begin + 69)) == .corrupt, "last share")
  }

  // MARK: - Shares

  @Test func sharesFollowStateAndTime() {
    let start = Self.start, day = Self.day
    func share(_ state: Rollout.State, asOf: Int64 = 0, at time: Int64, until end: Int64 = .max) -> UInt32 {
      var rollout = Self.rollout
      (rollout.state, rollout.asOf) = (state, asOf)
      return rollout.share(base: 100, at: time, until: end)
    }
    for (time, expected) in [
      (Int64.min, 100), (start, 100), (start + day - 1, 100), (start + day, 200), (start + 2 * day - 1, 200),
      (start + 2 * day, 10_000), (.max, 10_000),
    ] as [(Int64, UInt32)] {
      #expect(share(.open, at: time) == expected)
      #expect(share(.open, at: time, until: start + day) == min(expected, 200), "the horizon ends before the last step")
      #expect(share(.paused, asOf: time, at: .max) == expected)
      #expect(share(.paused, asOf: .max, at: .min, until: time) == expected)
      #expect(share(.halted, asOf: time, at: time) == 0)
    }
    var root = Self.root(Self.rollout, horizon: .max)
    #expect(root.horizonEnd == .max)
    root.madeAt = -5
    root.horizon = 3
    #expect(root.horizonEnd == -2 && root.share(of: root.packs[0].offers[0], at: .max) == 100)
  }

  @Test func reasonsTellStepsFromShares() throws {
    let device = try #require(DeviceID(hex: "000102030405060708090a0b0c0d0e0f"))
    let version = OfferedVersion(pack: "A", number: 4, product: .standard, firstKey: nil)
    let number = version.draw(for: device)
    func obstacle(
      _ share: UInt32, _ last: UInt32, _ state: Rollout.State = .open, isCurrent: Bool = false, knowsDevice: Bool = true
    ) -> OfferObstacle? {
      OfferTerms(share: share, finalShare: last, state: state).obstacle(
        to: SiteClient(), version, isCurrent: isCurrent
      ) { knowsDevice ? device : nil }
    }
    #expect(obstacle(number + 1, 10_000) == nil)
    #expect(obstacle(number, 10_000) == .schedule && obstacle(number, number + 1) == .schedule)
    #expect(obstacle(number - 1, number) == .share && obstacle(1, 10_000, .paused) == .paused)
    #expect(obstacle(1, number, .paused) == .share && obstacle(0, 0) == .share)
    #expect(
      obstacle(0, 5_000, knowsDevice: false) == .schedule && obstacle(0, 5_000, .paused, knowsDevice: false) == .paused)
    #expect(obstacle(1, 5_000, knowsDevice: false) == .undrawnShare)
    #expect(obstacle(0, 10_000, .halted, knowsDevice: false) == .halted)
    for state in Rollout.State.allCases { #expect(obstacle(0, 5_000, state, isCurrent: true) == nil) }
  }
}
