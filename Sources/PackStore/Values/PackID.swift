/// The name of a pack: 1 to 128 ASCII letters, digits, `-`, `_` and `.`, of which the first is neither `-` nor `.`.
public struct PackID: Hashable, Sendable {
  public let name: String

  /// Checks a name that comes from outside the source: a file, a user, a network.
  ///
  /// Without a label of its own it could not be called with a literal: `PackID("Level 1")` is the literal itself, as in
  /// `let pack: PackID = "Level 1"`.
  ///
  /// - Throws: `invalidArgument` for anything else than what ``PackID`` describes.
  public init(validating name: String) throws {
    guard Self.isValid(name) else {
      var error = PackStoreError(.invalidArgument, "invalid name of a pack", about: .value(name))
      error.specificRemedy = "use 1 to 128 letters, digits, '-', '_' and '.', beginning with a letter, a digit or '_'"
      throw error
    }
    self.name = name
  }

  /// A name that the core vouches for.
  init(trusted name: UnsafePointer<CChar>) { self.name = String(cString: name) }

  private static func isValid(_ name: String) -> Bool {
    guard let first = name.utf8.first, first != UInt8(ascii: "-"), first != UInt8(ascii: ".") else { return false }
    return name.utf8.count <= 128 && name.utf8.allSatisfy(isAllowed)
  }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch Unicode.Scalar(byte) {
    case "a"..."z", "A"..."Z", "0"..."9", "-", "_", ".": true
    default: false
    }
  }
}

extension PackID: ExpressibleByStringLiteral {
  /// A name written in the source. A literal that is no valid name stops the program: a mistake in the source shows at
  /// its first run. No other string gets here, as nothing but a literal is a `StaticString`; see ``init(validating:)``.
  public init(stringLiteral literal: StaticString) {
    name = literal.description
    precondition(Self.isValid(name), "invalid name of a pack: '\(name)'")
  }
}

extension PackID: Comparable {
  public static func < (left: Self, right: Self) -> Bool { left.name < right.name }
}

extension PackID: CustomStringConvertible {
  public var description: String { name }
}

extension PackID: Codable {
  public init(from decoder: any Decoder) throws { self = try decoder.value { try PackID(validating: $0) } }
  public func encode(to encoder: any Encoder) throws { try encoder.encode(text: description) }
}
