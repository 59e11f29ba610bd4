/// A server's identifiers for the state of a file, with which the file is requested only if it changed.
package struct FileValidators: Hashable, Sendable {
  /// The `ETag`, strong or weak, with its quotes; `nil` if the server sent none.
  package let tag: String?

  /// The `Last-Modified`; `nil` if the server sent none.
  package let changedAt: String?

  package static let byteCountLimit = 1024

  /// `nil` if both are missing, or one cannot be sent in a header field.
  package init?(tag: String?, changedAt: String?) {
    guard tag != nil || changedAt != nil, tag.map(Self.isTag) ?? true, changedAt.map(Self.isTime) ?? true else {
      return nil
    }
    self.tag = tag
    self.changedAt = changedAt
  }

  package static func isTag(_ text: String) -> Bool {
    let bytes = text.utf8.dropFirst(text.hasPrefix("W/") ? 2 : 0)
    return bytes.count >= 2 && text.utf8.count <= byteCountLimit && bytes.first == UInt8(ascii: "\"")
      && bytes.last == UInt8(ascii: "\"")
      && bytes.dropFirst().dropLast().allSatisfy { (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "\"") }
  }

  private static func isTime(_ text: String) -> Bool {
    1...64 ~= text.utf8.count && text.utf8.allSatisfy { (0x20...0x7e).contains($0) }
  }
}

/// A small file of a site, as received.
package struct WholeFile: Hashable, Sendable {
  package var bytes: [UInt8]

  /// `nil`: it cannot be requested conditionally.
  package var validators: FileValidators?

  /// The `Date` of the answer; `nil` if it had none, or a cache sent a stored answer.
  package var date: String?

  /// The `Date` of the answer in nanoseconds since 1970, also if a cache stored the answer; `nil` if it had none.
  package var answeredAt: Int64?

  package init(
    bytes: [UInt8], validators: FileValidators? = nil, date: String? = nil, answeredAt: Int64? = nil
  ) {
    self.bytes = bytes
    self.validators = validators
    self.date = date
    self.answeredAt = answeredAt
  }
}
