/// An id of 16 bytes, the content of a ``SegmentID`` and a ``SiteID``.
package struct ID128: Hashable, Sendable {
  package static let byteCount = 16

  package let bytes: [UInt8]

  /// Copies `bytes`.
  ///
  /// - Precondition: `bytes` has 16 bytes.
  package init(copying bytes: some Collection<UInt8>) {
    precondition(bytes.count == Self.byteCount)
    self.bytes = Array(bytes)
  }

  /// Parses 32 hexadecimal digits in either case; `nil` for anything else.
  package init?(hex: some StringProtocol) {
    guard let bytes = [UInt8](hex: hex, count: Self.byteCount) else { return nil }
    self.bytes = bytes
  }

  package var hex: String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}

/// The id of a segment, which is derived from the segment's table.
package struct SegmentID: Hashable, Sendable, CustomStringConvertible {
  package let id: ID128

  package init(_ id: ID128) { self.id = id }

  /// 32 hexadecimal digits, in lower case.
  package var description: String { id.hex }
}

/// The unique id of a store or a site, generated randomly when the store is created.
package struct SiteID: Hashable, Sendable, CustomStringConvertible {
  package let id: ID128

  package init(_ id: ID128) { self.id = id }

  /// 32 hexadecimal digits, in lower case.
  package var description: String { id.hex }
}
