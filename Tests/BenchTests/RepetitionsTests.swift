import Testing

@testable import packstore_bench

@Suite struct RepetitionsTests {
  @Test func everybodyTakesTurnsAndAnotherOneBeginsEachTime() {
    let order = Order()
    var comparison = Comparison(title: "t", explanation: "", quantity: .duration)
    comparison.take(["a", "b", "c"].map { turn($0, order) }, Repetitions(count: 3, secondLimit: .infinity))
    #expect(order.names == ["a", "b", "c", "b", "c", "a", "c", "a", "b"])
    #expect(comparison.entries.map(\.name) == ["a", "b", "c"])
    #expect(comparison.entries.allSatisfy { $0.samples.count == 3 })
  }

  @Test func whenTheTimeIsUpThereAreThreeSamplesStill() {
    var comparison = Comparison(title: "t", explanation: "", quantity: .duration)
    comparison.take([turn("a", Order())], Repetitions(count: 100, secondLimit: 0))
    #expect(comparison.entries[0].samples.count == 3)
  }

  @Test func whoFailsIsLeftOutWithTheReasonAndOthersGoOn() {
    var comparison = Comparison(title: "t", explanation: "", quantity: .duration)
    let unavailable = Turn(name: "missing") { throw Unavailable("not installed") }
    let wrong = Turn(name: "wrong", check: { throw WrongBytes(path: "a/b") }) { sample(1) }
    comparison.take([unavailable, wrong, turn("a", Order())], Repetitions(count: 2, secondLimit: .infinity))
    #expect(comparison.entries.map(\.name) == ["a"])
    #expect(
      Set(comparison.absences) == [
        .init(name: "missing", reason: "not installed"), .init(name: "wrong", reason: "failed: WRONG BYTES for 'a/b'"),
      ])
  }

  @Test func checksComeBeforeAnythingIsTimed() {
    let order = Order()
    let turns = ["a", "b"].map { name in
      Turn(name: name, check: { order.names.append("check \(name)") }, measure: turn(name, order).measure)
    }
    var comparison = Comparison(title: "t", explanation: "", quantity: .duration)
    comparison.take(turns, Repetitions(count: 1, secondLimit: 60))
    #expect(order.names == ["check a", "check b", "a", "b"])
  }

  @Test func ratioIsToTheLimit() {
    var comparison = Comparison(title: "t", explanation: "", quantity: .duration)
    comparison.entries = [
      .init("a", isLimit: false, [sample(3)]), .init("machine", isLimit: true, [sample(2)]),
    ]
    #expect(comparison.ratio(of: comparison.entries[0]) == nil)
    comparison.limit = "machine"
    #expect(comparison.ratio(of: comparison.entries[0]) == 1.5)
  }

  private func turn(_ name: String, _ order: Order) -> Turn {
    Turn(name: name) {
      order.names.append(name)
      return sample(1)
    }
  }
}

private final class Order {
  var names: [String] = []
}

private func sample(_ seconds: Double) -> Sample { Sample(Timing(wall: seconds, cpu: 0)) }
