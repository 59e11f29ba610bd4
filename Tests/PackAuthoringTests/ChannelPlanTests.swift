import PackStore
import Testing

@testable import PackAuthoring

/// The effect of offering and withdrawing on the offers of a channel.
@Suite struct ChannelPlanTests {
  private func range(_ text: String) -> AppVersionRange { try! AppVersionRange(text) }

  /// `3: 5% 2.0..<3` for each offer, in order.
  private func text(_ plan: ChannelPlan) -> [String] {
    plan.offers(of: "P").map { offer in
      "\(offer.number): \((try? DeviceShare(tenThousandths: offer.share))?.description ?? "?")"
        + (offer.appVersions.map { " \($0)" } ?? "")
    }
  }

  private func plan(
    _ steps: [(UInt64, UInt32, AppVersionRange?)], platforms: [UInt64: Set<Platform>] = [:]
  ) -> ChannelPlan {
    var plan = ChannelPlan()
    for (number, share, range) in steps {
      plan.offer(.init(number: number, share: share, appVersions: range), of: "P") { platforms[$0] ?? [] }
    }
    return plan
  }

  @Test func aVersionForAllTakesThePlaceOfTheOthers() {
    #expect(text(plan([(1, 10_000, nil), (2, 10_000, nil)])) == ["2: 100%"])
    #expect(text(plan([(2, 10_000, nil), (1, 10_000, nil)])) == ["1: 100%"], "a withdrawal")
    #expect(text(plan([(1, 10_000, nil), (1, 10_000, nil)])) == ["1: 100%"])
  }

  @Test func aRangeLeavesTheOtherAppsWhatTheyHave() {
    #expect(text(plan([(1, 10_000, nil), (2, 10_000, range("2.0..<3"))])) == ["2: 100% 2.0..<3", "1: 100%"])
    let ranges = plan([(1, 10_000, range("2.1..<2.5")), (2, 10_000, range("..<1")), (3, 10_000, range("2.0..<3"))])
    #expect(text(ranges) == ["3: 100% 2.0..<3", "2: 100% ..<1"], "2.1..<2.5 is covered")
    #expect(
      text(plan([(1, 10_000, range("2.0...")), (2, 10_000, range("2.0..<3"))])) == [
        "2: 100% 2.0..<3", "1: 100% 2.0...",
      ])
    #expect(text(plan([(1, 10_000, range("..<3")), (2, 10_000, range("0..<3"))])) == ["2: 100% 0..<3"])
    #expect(text(plan([(1, 10_000, range("2...")), (2, 10_000, range("1..."))])) == ["2: 100% 1..."])
  }

  @Test func platformsCount() {
    let steps: [(UInt64, UInt32, AppVersionRange?)] = [(1, 10_000, nil), (2, 10_000, nil)]
    #expect(text(plan(steps, platforms: [2: [.iOS]])) == ["2: 100%", "1: 100%"])
    #expect(text(plan(steps, platforms: [1: [.iOS], 2: [.iOS, .macOS]])) == ["2: 100%"])
    #expect(text(plan(steps, platforms: [1: [.iOS, .tvOS], 2: [.iOS]])) == ["2: 100%", "1: 100%"])
    #expect(text(plan(steps, platforms: [1: [.iOS]])) == ["2: 100%"])
  }

  /// A release in phases: a share that rises, halts, goes on, and is complete; or is taken back.
  @Test func shares() {
    var plan = plan([(1, 10_000, nil), (2, 500, nil)])
    #expect(text(plan) == ["2: 5%", "1: 100%"])
    for (share, expected) in [(2_000, "20%"), (0, "0%"), (2_025, "20.25%")] as [(UInt32, String)] {
      plan.offer(.init(number: 2, share: share), of: "P") { _ in [] }
      #expect(text(plan) == ["2: \(expected)", "1: 100%"])
    }
    plan.offer(.init(number: 3, share: 100), of: "P") { _ in [] }
    plan.offer(.init(number: 2, share: 6_000), of: "P") { _ in [] }
    #expect(text(plan) == ["3: 1%", "2: 60%", "1: 100%"], "each stays where it is")
    var done = plan
    done.offer(.init(number: 2), of: "P") { _ in [] }
    #expect(text(done) == ["2: 100%"])
    plan.withdraw(3, of: "P")
    #expect(text(plan) == ["2: 60%", "1: 100%"])
    plan.withdraw("P")
    #expect(plan.packs.isEmpty && !plan.offers(1, of: "P"))
  }
}

@Suite struct DeviceShareTests {
  @Test(
    arguments: [
      ("0%", 0), ("5%", 500), ("0.25%", 25), ("0.5%", 50), ("100%", 10_000), ("99.99%", 9_999), ("0.05%", 5),
    ] as [(String, UInt32)])
  func isReadAsItIsWritten(_ text: String, _ share: UInt32) throws {
    #expect(try DeviceShare(text).tenThousandths == share)
    #expect(try DeviceShare(tenThousandths: share).description == text)
  }

  @Test(arguments: ["", "%", "5", "5 %", "-1%", "+5%", "100.01%", "101%", "0.001%", ".5%", "5.%", "1e1%", "٥%", "5%%"])
  func nothingElseIsOne(_ text: String) {
    #expect(throws: PackStoreError.self) { try DeviceShare(text) }
    #expect(throws: PackStoreError.self) { try DeviceShare(tenThousandths: 10_001) }
  }
}
