/// The id of a device, which decides whether a version that is offered to a share of all devices applies: 16 random bytes.
///
/// It has no other use. PackStore neither sends nor logs it.
public struct DeviceID: Hashable, Sendable {
  package let id: ID128

  package init(_ id: ID128) { self.id = id }

  /// Generates a random id.
  public static func random() -> DeviceID {
    var generator = SystemRandomNumberGenerator()
    return random(using: &generator)
  }

  package static func random(using generator: inout some RandomNumberGenerator) -> DeviceID {
    DeviceID(ID128(copying: (0..<ID128.byteCount).map { _ in UInt8.random(in: 0 ... .max, using: &generator) }))
  }

  /// Parses 32 hexadecimal digits in either case; `nil` for anything else.
  public init?(hex: some StringProtocol) {
    guard let id = ID128(hex: hex) else { return nil }
    self.id = id
  }
}

extension DeviceID: LosslessStringConvertible {
  public init?(_ description: String) { self.init(hex: description) }

  /// 32 hexadecimal digits, in lower case.
  public var description: String { id.hex }
}

extension DeviceID: Codable {
  public init(from decoder: any Decoder) throws { self = try decoder.value { DeviceID(hex: $0) } }
  public func encode(to encoder: any Encoder) throws { try encoder.encode(text: description) }
}
