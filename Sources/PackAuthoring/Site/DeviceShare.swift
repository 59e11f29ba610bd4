import PackFormats
import PackStore

/// A share of all devices, in hundredths of a percent.
public struct DeviceShare: Hashable, Sendable {
  /// The share, from 0 to 10,000.
  public let tenThousandths: UInt32

  /// Every device.
  public static let all = Self(trusted: OfferTerms.everyDevice)

  /// No device. Devices that already have the version keep it.
  public static let none = Self(trusted: 0)

  private init(trusted tenThousandths: UInt32) { self.tenThousandths = tenThousandths }

  /// - Throws: `invalidArgument` above 10,000.
  public init(tenThousandths: UInt32) throws {
    guard tenThousandths <= OfferTerms.everyDevice else {
      throw PackStoreError(
        .invalidArgument, "invalid share of 10,000 devices; use 0 to 10,000", about: .value("\(tenThousandths)"))
    }
    self.tenThousandths = tenThousandths
  }

  /// Parses a percentage, such as `5%` or `0.25%`.
  ///
  /// - Throws: `invalidArgument` for other texts, more than 100 %, or more than two decimals.
  public init(_ text: some StringProtocol) throws {
    guard let value = Self.value(of: text), value <= OfferTerms.everyDevice else {
      throw PackStoreError(
        .invalidArgument, "invalid share of devices; use a percentage such as 5%, 0.25% or 100%",
        about: .value("\(text.prefix(20))"))
    }
    tenThousandths = value
  }

  private static func value(of text: some StringProtocol) -> UInt32? {
    guard text.hasSuffix("%") else { return nil }
    let parts = text.dropLast().split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    func digits(_ part: Substring.SubSequence, _ counts: ClosedRange<Int>) -> UInt32? {
      counts ~= part.utf8.count && part.utf8.allSatisfy { 0x30...0x39 ~= $0 } ? UInt32(part) : nil
    }
    guard let whole = digits(Substring(parts[0]), 1...3) else { return nil }
    guard parts.count > 1 else { return whole * 100 }
    let fraction = Substring(parts[1])
    guard let hundredths = digits(fraction, 1...2) else { return nil }
    return whole * 100 + hundredths * (fraction.utf8.count == 1 ? 10 : 1)
  }
}

extension DeviceShare: CustomStringConvertible {
  /// A text such as `5%` or `0.25%`.
  public var description: String {
    let (whole, hundredths) = (tenThousandths / 100, tenThousandths % 100)
    guard hundredths > 0 else { return "\(whole)%" }
    return hundredths % 10 == 0
      ? "\(whole).\(hundredths / 10)%" : "\(whole).\(hundredths < 10 ? "0" : "")\(hundredths)%"
  }
}

extension DeviceShare: Codable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    do { self = try DeviceShare(text) } catch {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(error)")
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
