// Paths are split by bytes, because Swift treats a slash and a following combining mark as one character.

private let slash = UInt8(ascii: "/")

extension StringProtocol {
  /// The parts between slashes, including empty ones.
  var pathParts: [String] {
    utf8.split(separator: slash, omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
  }

  var hasSlash: Bool { utf8.contains(slash) }

  /// Returns the string without the first `count` bytes, which must be whole characters.
  func dropFirst(byteCount count: Int) -> String { String(decoding: utf8.dropFirst(count), as: UTF8.self) }
}

/// Whether a path is absolute, also in the form of Windows.
func isAbsolutePath(_ path: String) -> Bool {
  let bytes = Array(path.utf8.prefix(3))
  let isSlash: (UInt8) -> Bool = { $0 == slash || $0 == UInt8(ascii: "\\") }
  guard let first = bytes.first, !isSlash(first) else { return !bytes.isEmpty }
  return bytes.count == 3 && Unicode.Scalar(first).properties.isAlphabetic && bytes[1] == UInt8(ascii: ":")
    && isSlash(bytes[2])
}
