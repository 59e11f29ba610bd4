/// A version of an app, such as `2.0.1`: numbers from the most to the least significant.
///
/// 1 to 8 parts separated by dots, each of 1 to 9 digits. Missing parts count as 0: `2` and `2.0` are equal.
public struct AppVersion: Hashable, Sendable {
  /// The parts as written, without leading zeros.
  public let parts: [UInt32]

  public static let partCountLimit = 8
  static let digitCountLimit = 9

  /// The maximum length of the text in bytes.
  package static let byteCountLimit = partCountLimit * (digitCountLimit + 1) - 1

  /// - Throws: `invalidArgument` for an invalid version.
  public init(_ text: some StringProtocol) throws {
    guard let parts = Self.parts(of: text) else {
      var error = PackStoreError(.invalidArgument, "invalid version of an app", about: .value("\(text.prefix(100))"))
      error.specificRemedy = "write 1 to 8 numbers of at most 9 digits with dots between them, such as 2.0.1"
      throw error
    }
    self.parts = parts
  }

  private init(parts: [UInt32]) { self.parts = parts }

  /// The lowest version.
  static let zero = Self(parts: [0])

  private static func parts(of text: some StringProtocol) -> [UInt32]? {
    // A longer text cannot be a version, and a message should not repeat it.
    guard text.utf8.count <= partCountLimit * (digitCountLimit + 1) else { return nil }
    let parts = text.split(separator: ".", omittingEmptySubsequences: false).map { part -> UInt32? in
      let isNumber = part.utf8.count <= digitCountLimit && part.utf8.allSatisfy { 0x30...0x39 ~= $0 }
      return isNumber ? UInt32(part) : nil
    }
    return parts.count <= partCountLimit && !parts.contains(nil) ? parts.compactMap(\.self) : nil
  }

  /// The parts that are compared: without zeros at the end.
  private var significant: ArraySlice<UInt32> { parts[...((parts.lastIndex { $0 != 0 }) ?? 0)] }

  public static func == (left: Self, right: Self) -> Bool { left.significant == right.significant }

  public func hash(into hasher: inout Hasher) { hasher.combine(significant) }
}

extension AppVersion: Comparable {
  public static func < (left: Self, right: Self) -> Bool {
    left.significant.lexicographicallyPrecedes(right.significant)
  }
}

extension AppVersion: CustomStringConvertible {
  /// `2.0.1`.
  public var description: String { parts.map { String($0) }.joined(separator: ".") }
}

extension AppVersion: Codable {
  public init(from decoder: any Decoder) throws { self = try decoder.value { try AppVersion($0) } }
  public func encode(to encoder: any Encoder) throws { try encoder.encode(text: description) }
}

/// A range of app versions: from one on, below another, or both.
///
/// Written `2.0..<3`, `2.0...` or `..<3`, as in Swift.
public struct AppVersionRange: Hashable, Sendable {
  /// The first version in the range; `nil` for no lower bound.
  public let lowerBound: AppVersion?

  /// The first version above the range; `nil` for no upper bound.
  public let upperBound: AppVersion?

  /// - Throws: `invalidArgument` for an empty range.
  public init(_ range: Range<AppVersion>) throws {
    guard !range.isEmpty else {
      throw PackStoreError(.invalidArgument, "empty range of app versions", about: .value("\(range)"))
    }
    (lowerBound, upperBound) = (range.lowerBound, range.upperBound)
  }

  public init(_ range: PartialRangeFrom<AppVersion>) { (lowerBound, upperBound) = (range.lowerBound, nil) }

  /// - Throws: `invalidArgument` for an empty range.
  public init(_ range: PartialRangeUpTo<AppVersion>) throws {
    guard try range.upperBound > AppVersion("0") else {
      throw PackStoreError(.invalidArgument, "empty range of app versions", about: .value("..<\(range.upperBound)"))
    }
    (lowerBound, upperBound) = (nil, range.upperBound)
  }

  /// - Throws: `invalidArgument` for an invalid or empty range.
  public init(_ text: some StringProtocol) throws {
    let text = String(text)
    if text.hasPrefix("..<") {
      try self.init(..<AppVersion(text.dropFirst(3)))
    } else if let below = text.firstRange(of: "..<") {
      let first = try AppVersion(text[..<below.lowerBound]), upper = try AppVersion(text[below.upperBound...])
      guard first < upper else { throw Self.error("empty range of app versions", text) }
      try self.init(first..<upper)
    } else if text.hasSuffix("...") {
      self.init(try AppVersion(text.dropLast(3))...)
    } else {
      throw Self.error("invalid range of app versions", text)
    }
  }

  private static func error(_ reason: String, _ text: String) -> PackStoreError {
    PackStoreError(
      .invalidArgument, reason, about: .value("\(text.prefix(100))"),
      remedy: "write '2.0..<3', '2.0...' or '..<3', the lower version first")
  }

  /// Whether two ranges have a version in common; `nil` means all versions.
  package static func overlap(_ first: AppVersionRange?, _ second: AppVersionRange?) -> Bool {
    func isBelow(_ upper: AppVersion?, _ lower: AppVersion?) -> Bool {
      guard let upper, let lower else { return false }
      return upper <= lower
    }
    return !isBelow(first?.upperBound, second?.lowerBound) && !isBelow(second?.upperBound, first?.lowerBound)
  }

  /// Creates the range with these bounds; `nil` without bounds.
  ///
  /// - Throws: `invalidArgument` for an empty range.
  package init?(from lower: AppVersion?, upTo upper: AppVersion?) throws {
    switch (lower, upper) {
    case (nil, nil): return nil
    case (let lower?, nil): self.init(lower...)
    case (nil, let upper?): try self.init(..<upper)
    case (let lower?, let upper?):
      guard lower < upper else { throw Self.error("empty range of app versions", "\(lower)..<\(upper)") }
      try self.init(lower..<upper)
    }
  }

  /// Whether this range contains every version of the other range.
  package func contains(_ other: AppVersionRange) -> Bool {
    let beginsBefore = lowerBound.map { own in other.lowerBound.map { own <= $0 } ?? (own <= .zero) } ?? true
    let endsAfter = upperBound.map { own in other.upperBound.map { $0 <= own } ?? false } ?? true
    return beginsBefore && endsAfter
  }

  public func contains(_ version: AppVersion) -> Bool {
    (lowerBound.map { $0 <= version } ?? true) && (upperBound.map { version < $0 } ?? true)
  }
}

extension AppVersionRange: CustomStringConvertible {
  /// `2.0..<3`, `2.0...` or `..<3`.
  public var description: String {
    (lowerBound?.description ?? "") + (upperBound.map { "..<\($0)" } ?? "...")
  }
}

extension AppVersionRange: Codable {
  public init(from decoder: any Decoder) throws { self = try decoder.value { try AppVersionRange($0) } }
  public func encode(to encoder: any Encoder) throws { try encoder.encode(text: description) }
}
