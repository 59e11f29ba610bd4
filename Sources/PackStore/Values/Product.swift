extension Store {
  /// The name of a publisher's product. Packs of one product have one origin, regardless of the site or file they come from.
  ///
  /// 1 to 64 of the characters `a-z 0-9 - _ .`, beginning with a letter or digit.
  public struct Product: Hashable, Comparable, Sendable {
    public let name: String

    /// The product of publishers that do not name one.
    public static let standard = Self(trusted: "default")

    /// The maximum length of a name in bytes.
    package static let byteCountLimit = 64

    /// - Throws: `invalidArgument` for an invalid name.
    public init(_ name: some StringProtocol) throws {
      let isFirst: (UInt8) -> Bool = { 0x61...0x7a ~= $0 || 0x30...0x39 ~= $0 }
      let isNext: (UInt8) -> Bool = { isFirst($0) || $0 == 0x2d || $0 == 0x5f || $0 == 0x2e }
      guard let first = name.utf8.first, isFirst(first), name.utf8.allSatisfy(isNext),
        name.utf8.count <= Self.byteCountLimit
      else {
        throw PackStoreError(
          .invalidArgument, "invalid name of a product", about: .value("\(name)"),
          remedy: "use 1 to 64 of a-z, 0-9, '-', '_' and '.', beginning with a letter or digit")
      }
      self.name = String(name)
    }

    init(trusted name: String) { self.name = name }

    public static func < (a: Self, b: Self) -> Bool { a.name < b.name }
  }
}

extension Store.Product: CustomStringConvertible {
  public var description: String { name }
}

extension Store.Product: Codable {
  public init(from decoder: any Decoder) throws { self = try decoder.value { try Store.Product($0) } }
  public func encode(to encoder: any Encoder) throws { try encoder.encode(text: description) }
}
