/// How a server names the state that a file had: with it, the file is asked for only if it changed.
package struct FileValidators: Hashable, Sendable {
  /// The `ETag`, strong or weak, with its quotes; nil: the server gave none.
  package let tag: String?

  /// The `Last-Modified`; nil: the server gave none.
  package let changedAt: String?

  package static let byteCountLimit = 1024

  /// Nil when there is neither of them, or one that cannot be sent in a field of a request.
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

/// A small file of a site, as it came.
package struct WholeFile: Hashable, Sendable {
  package var bytes: [UInt8]

  /// Nil: it cannot be asked for only if it changed.
  package var validators: FileValidators?

  /// The `Date` of the answer, as it came; nil: there was none, or a cache answered from what it had.
  package var date: String?

  package init(bytes: [UInt8], validators: FileValidators? = nil, date: String? = nil) {
    self.bytes = bytes
    self.validators = validators
    self.date = date
  }
}
