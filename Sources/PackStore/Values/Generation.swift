extension Store {
  /// The number of a generation: which pack versions a store shows at one moment.
  ///
  /// An empty new store shows generation 1; each commit makes the next.
  public struct Generation: RawRepresentable, Hashable, Codable, Comparable, Sendable {
    public let rawValue: UInt64

    public init(rawValue: UInt64) { self.rawValue = rawValue }

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
  }
}

extension Store.Generation: CustomStringConvertible {
  public var description: String { "\(rawValue)" }
}
