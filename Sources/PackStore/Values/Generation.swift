extension Store {
  /// The number of a generation: the set of pack versions that a store shows at one moment.
  ///
  /// A new, empty store shows generation 1; each commit creates the next.
  public struct Generation: RawRepresentable, Hashable, Codable, Comparable, Sendable {
    public let rawValue: UInt64

    public init(rawValue: UInt64) { self.rawValue = rawValue }

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
  }
}

extension Store.Generation: CustomStringConvertible {
  public var description: String { "\(rawValue)" }
}
