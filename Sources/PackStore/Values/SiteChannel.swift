/// The name of a channel of a site. A channel has its own root, which lists the versions that its clients see.
///
/// A name has 1 to 64 of the characters `a-z 0-9 -`.
public struct SiteChannel: Hashable, Comparable, Sendable {
  public let name: String

  /// The channel of clients that specify none.
  public static let live = Self(trusted: "live")

  /// The maximum size of a name in bytes.
  package static let byteCountLimit = 64

  /// - Throws: `invalidArgument` if `name` is not a valid channel name.
  public init(_ name: some StringProtocol) throws {
    let isLetter: (UInt8) -> Bool = { 0x61...0x7a ~= $0 || 0x30...0x39 ~= $0 || $0 == 0x2d }
    guard 1...Self.byteCountLimit ~= name.utf8.count, name.utf8.allSatisfy(isLetter) else {
      throw PackStoreError(
        .invalidArgument, "invalid name of a channel", about: .value(String(name)),
        remedy: "use 1 to 64 of the characters a-z, 0-9 and '-'")
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
