/// The unit of a comparison's figures.
struct Unit: Equatable {
  let symbol: String
  /// The number of these units per base unit of the quantity: second, byte, byte per second.
  let perOne: Double

  func text(_ value: Double) -> String { significant(value * perOne) }

  /// Returns the largest unit of time in which the shortest time is at least 1.
  static func time(shortest: Double) -> Unit {
    switch shortest {
    case ..<1e-6: return Unit(symbol: "ns", perOne: 1e9)
    case ..<1e-3: return Unit(symbol: "µs", perOne: 1e6)
    case ..<1: return Unit(symbol: "ms", perOne: 1e3)
    default: return Unit(symbol: "s", perOne: 1)
    }
  }
}

extension Comparison {
  var unit: Unit {
    switch quantity {
    case .throughput: return Unit(symbol: "GB/s", perOne: 1e-9)
    case .held:
      let largest = entries.map { statistics(of: $0).median }.max() ?? 0
      return largest < 4e6 ? Unit(symbol: "KiB", perOne: 1 / 1024) : Unit(symbol: "MB", perOne: 1e-6)
    case .timePerOperation, .duration:
      // Limits may be far shorter than any contestant's time.
      let contestants = entries.filter { !$0.isLimit }
      return .time(shortest: (contestants.isEmpty ? entries : contestants).map { statistics(of: $0).median }.min() ?? 1)
    }
  }
}
