import PackStore

/// Encodes a file. Integers are little-endian.
package struct ByteWriter {
  package private(set) var bytes: [UInt8] = []

  package init() {}

  package mutating func append(_ integer: some FixedWidthInteger) {
    withUnsafeBytes(of: integer.littleEndian) { bytes.append(contentsOf: $0) }
  }

  /// Appends the SHA-256 of attributes; zeros if `digest` is `nil`.
  package mutating func append(attributes digest: Digest256?) { append((digest ?? .zero).bytes) }

  /// Appends the length of a text in UTF-8, then its bytes.
  package mutating func append(text: String) {
    append(UInt32(text.utf8.count))
    append(text.utf8)
  }

  package mutating func append(_ more: some Sequence<UInt8>) { bytes.append(contentsOf: more) }
}
