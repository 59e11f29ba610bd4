/// Puts together the bytes of a file whose integers are little-endian.
package struct ByteWriter {
  package private(set) var bytes: [UInt8] = []

  package init() {}

  package mutating func append(_ integer: some FixedWidthInteger) {
    withUnsafeBytes(of: integer.littleEndian) { bytes.append(contentsOf: $0) }
  }

  /// The SHA-256 of attributes, or zeros for none.
  package mutating func append(attributes digest: Digest256?) { append((digest ?? .zero).bytes) }

  package mutating func append(_ more: some Sequence<UInt8>) { bytes.append(contentsOf: more) }
}
