/// 16 bytes that name something: what ``SegmentID`` and ``SiteID`` are made of.
package struct ID128: Hashable, Sendable {
  package static let byteCount = 16

  package let bytes: [UInt8]

  /// Copies `bytes`, which are 16.
  package init(copying bytes: some Collection<UInt8>) {
    precondition(bytes.count == Self.byteCount)
    self.bytes = Array(bytes)
  }

  /// Reads 32 hexadecimal digits, in either case.
  package init?(hex: some StringProtocol) {
    guard let bytes = [UInt8](hex: hex, count: Self.byteCount) else { return nil }
    self.bytes = bytes
  }

  package var hex: String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}

/// The name of a segment: it is derived from the segment's table.
package struct SegmentID: Hashable, Sendable, CustomStringConvertible {
  package let id: ID128

  package init(_ id: ID128) { self.id = id }

  /// 32 hexadecimal digits, in lower case.
  package var description: String { id.hex }
}

/// Tells sites apart, and stores: drawn when the store is made.
package struct SiteID: Hashable, Sendable, CustomStringConvertible {
  package let id: ID128

  package init(_ id: ID128) { self.id = id }

  /// 32 hexadecimal digits, in lower case.
  package var description: String { id.hex }
}
