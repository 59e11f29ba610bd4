// Paths are taken apart by their bytes. Among Swift's characters, a slash and a combining mark behind it are one.

private let slash = UInt8(ascii: "/")

extension StringProtocol {
  /// What stands between slashes, also where that is nothing.
  var pathParts: [String] {
    utf8.split(separator: slash, omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
  }

  var hasSlash: Bool { utf8.contains(slash) }

  /// Without the first `count` bytes, which are whole characters.
  func dropFirst(byteCount count: Int) -> String { String(decoding: utf8.dropFirst(count), as: UTF8.self) }
}

/// Also as Windows has it.
func isAbsolutePath(_ path: String) -> Bool {
  let bytes = Array(path.utf8.prefix(3))
  let isSlash: (UInt8) -> Bool = { $0 == slash || $0 == UInt8(ascii: "\\") }
  guard let first = bytes.first, !isSlash(first) else { return !bytes.isEmpty }
  return bytes.count == 3 && Unicode.Scalar(first).properties.isAlphabetic && bytes[1] == UInt8(ascii: ":")
    && isSlash(bytes[2])
}
