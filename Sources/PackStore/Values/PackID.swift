/// The name of a pack: 1 to 128 ASCII letters, digits, `-`, `_` and `.`, not beginning with `-` or `.`.
public struct PackID: Hashable, Sendable {
  public let name: String

  /// Checks a name from outside the source code: from a file, a user, or a network.
  ///
  /// The argument label prevents a call with a literal: `PackID("Level 1")` would be the literal itself, as in `let pack: PackID =
  /// "Level 1"`.
  ///
  /// - Throws: `invalidArgument` for an invalid name.
  public init(validating name: String) throws {
    guard Self.isValid(name) else {
      var error = PackStoreError(.invalidArgument, "invalid name of a pack", about: .value(name))
      error.specificRemedy = "use 1 to 128 letters, digits, '-', '_' and '.', beginning with a letter, a digit or '_'"
      throw error
    }
    self.name = name
  }

  /// Creates an id from a name that the core has already checked.
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
  /// A name in the source code. An invalid literal stops the program, so that the mistake shows at the first run. Other strings
  /// cannot be passed here, because only a literal is a `StaticString`; for them see ``init(validating:)``.
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
