/// Puts together the bytes of a file whose integers are little-endian.
package struct ByteWriter {
  package private(set) var bytes: [UInt8] = []

  package init() {}

  package mutating func append(_ integer: some FixedWidthInteger) {
    withUnsafeBytes(of: integer.littleEndian) { bytes.append(contentsOf: $0) }
  }

  package mutating func append(_ more: some Sequence<UInt8>) { bytes.append(contentsOf: more) }
}
