/// The name of a channel of a site: which of its versions a client sees. Each channel has a root of its own.
///
/// 1 to 64 of the characters `a-z 0-9 -`.
public struct SiteChannel: Hashable, Comparable, Sendable {
  public let name: String

  /// What clients see who ask for none.
  public static let live = Self(trusted: "live")

  /// The most bytes that a name has.
  package static let byteCountLimit = 64

  /// - Throws: `invalidArgument` for what is no name of a channel.
  public init(_ name: some StringProtocol) throws {
    let isLetter: (UInt8) -> Bool = { 0x61...0x7a ~= $0 || 0x30...0x39 ~= $0 || $0 == 0x2d }
    guard 1...Self.byteCountLimit ~= name.utf8.count, name.utf8.allSatisfy(isLetter) else {
      throw PackStoreError(
        .invalidArgument, "no channel can have the name '\(name)': it has 1 to 64 of a-z, 0-9 and '-'")
    }
    self.name = String(name)
  }

  private init(trusted name: String) { self.name = name }

  public static func < (a: Self, b: Self) -> Bool { a.name < b.name }
}

extension SiteChannel: CustomStringConvertible {
  public var description: String { name }
}

extension SiteChannel: Codable {
  public init(from decoder: any Decoder) throws { self = try decoder.value { try SiteChannel($0) } }
  public func encode(to encoder: any Encoder) throws { try encoder.encode(text: description) }
}
