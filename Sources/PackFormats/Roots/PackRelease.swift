import PackStore

/// A set of pack versions that a device installs together or not at all. All its members have one share and one rollout.
public struct PackRelease: Hashable, Codable, Sendable {
  public let id: PackReleaseID

  /// The name that the publisher gave; `nil` if none.
  public let name: PackReleaseName?

  public init(id: PackReleaseID = .random(), name: PackReleaseName? = nil) {
    self.id = id
    self.name = name
  }
}

extension PackRelease: CustomStringConvertible {
  /// The name; the id of a release without a name.
  public var description: String { name?.text ?? id.description }
}

/// The id of a release: 16 bytes, random or unique to the release. It decides which devices a share of the release includes.
public struct PackReleaseID: Hashable, Comparable, Sendable {
  package let id: ID128

  package init(_ id: ID128) { self.id = id }

  /// Generates a random id.
  public static func random() -> PackReleaseID {
    PackReleaseID(ID128(copying: (0..<ID128.byteCount).map { _ in UInt8.random(in: 0 ... .max) }))
  }

  /// Returns an id that several runs of one command compute alike: the runs of a signing request sign the same bytes.
  ///
  /// - Parameters:
  ///   - time: the date of the request, in nanoseconds since 1970.
  ///   - members: the versions that form the release.
  package static func made(at time: Int64, of members: [PackID: UInt64]) -> PackReleaseID {
    var writer = ByteWriter()
    writer.append(Array("packstore release\0".utf8))
    writer.append(time)
    for (pack, number) in members.sorted(by: { $0.key < $1.key }) {
      writer.append(text: pack.name)
      writer.append(number)
    }
    return PackReleaseID(ID128(copying: Digest256(hashing: writer.bytes).bytes.prefix(ID128.byteCount)))
  }

  /// Compares the bytes.
  public static func < (left: Self, right: Self) -> Bool { left.id.bytes.lexicographicallyPrecedes(right.id.bytes) }
}

extension PackReleaseID: LosslessStringConvertible {
  /// Parses 32 hexadecimal digits in either case; `nil` for anything else.
  public init?(_ description: String) {
    guard let id = ID128(hex: description) else { return nil }
    self.id = id
  }

  /// 32 hexadecimal digits, in lower case.
  public var description: String { id.hex }
}

extension PackReleaseID: Codable {
  public init(from decoder: any Decoder) throws { self = try decoder.value { PackReleaseID($0) } }
  public func encode(to encoder: any Encoder) throws { try encoder.encode(text: description) }
}

/// The name of a release: 1 to 64 letters, digits, `.`, `_`, `+` and `-`.
public struct PackReleaseName: Hashable, Sendable {
  public let text: String

  public static let byteCountLimit = 64

  /// - Throws: `invalidArgument` for an invalid name.
  public init(_ text: some StringProtocol) throws {
    guard 1...Self.byteCountLimit ~= text.utf8.count, text.utf8.allSatisfy(Self.isAllowed) else {
      throw PackStoreError(
        .invalidArgument, "invalid name of a release", about: .value("\(text.prefix(Self.byteCountLimit))"),
        remedy: "use 1 to \(Self.byteCountLimit) letters, digits, '.', '_', '+' and '-', such as spring-2")
    }
    self.text = String(text)
  }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
    case UInt8(ascii: "0")...UInt8(ascii: "9"): true
    default: "._+-".utf8.contains(byte)
    }
  }
}

extension PackReleaseName: CustomStringConvertible {
  public var description: String { text }
}

extension PackReleaseName: Codable {
  public init(from decoder: any Decoder) throws { self = try decoder.value { try PackReleaseName($0) } }
  public func encode(to encoder: any Encoder) throws { try encoder.encode(text: text) }
}
