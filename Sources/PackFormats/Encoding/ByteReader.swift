import PackStore

/// Decodes an untrusted file from front to back. Integers are little-endian. Missing bytes and violations of the format throw
/// `corrupt` with the file name and the offset.
package struct ByteReader {
  private let bytes: ArraySlice<UInt8>

  /// The file name for errors.
  package let file: String

  /// The number of decoded bytes.
  package private(set) var offset = 0

  package init(_ bytes: ArraySlice<UInt8>, file: String) {
    self.bytes = bytes
    self.file = file
  }

  /// The number of bytes after ``offset``.
  package var remaining: Int { bytes.count - offset }

  package mutating func take(_ count: Int) throws -> ArraySlice<UInt8> {
    guard count >= 0, count <= remaining else { throw corrupt("unexpected end of file") }
    let begin = bytes.startIndex + offset
    offset += count
    return bytes[begin..<begin + count]
  }

  package mutating func integer<Integer: FixedWidthInteger>(
    _ type: Integer.Type = Integer.self
  ) throws -> Integer {
    // Byte by byte from the most significant one: any width works, at any alignment.
    try take(Integer.bitWidth / 8).reversed().reduce(0) { $0 << 8 | Integer(truncatingIfNeeded: $1) }
  }

  package mutating func digest() throws -> Digest256 {
    try take(Digest256.byteCount).withUnsafeBytes { Digest256(copying: $0) }
  }

  /// Reads the SHA-256 of attributes; `nil` if it is all zeros.
  package mutating func attributes() throws -> Digest256? {
    let digest = try digest()
    return digest == .zero ? nil : digest
  }

  package mutating func id128() throws -> ID128 { ID128(copying: try take(ID128.byteCount)) }

  /// Reads a number of elements that each have at least `byteCount` bytes.
  ///
  /// - Throws: `corrupt` with `reason` if the number exceeds `limit`, or if the remaining bytes are too few for it.
  package mutating func count(
    limit: Int, byteCount: Int, _ reason: String
  ) throws -> Int {
    let begin = offset
    let count = Int(try integer(UInt32.self))
    guard count <= limit, count <= remaining / byteCount else { throw corrupt(reason, at: begin) }
    return count
  }

  /// Reads the name of a pack: its length, then its bytes.
  package mutating func packID() throws -> PackID {
    let begin = offset
    let byteCount = Int(try integer(UInt32.self))
    guard byteCount <= remaining else { throw corrupt("invalid pack name", at: begin) }
    let name = String(decoding: try take(byteCount), as: UTF8.self)
    do { return try PackID(validating: name) } catch { throw corrupt("invalid pack name", at: begin) }
  }

  /// Reads the name of a product: its length, then its bytes.
  package mutating func product() throws -> Store.Product {
    try text(limit: Store.Product.byteCountLimit, "invalid product name") { try? Store.Product($0) }
  }

  /// Reads the name of a channel: its length, then its bytes.
  package mutating func channel() throws -> SiteChannel {
    try text(limit: SiteChannel.byteCountLimit, "invalid channel name") { try? SiteChannel($0) }
  }

  /// Reads a short text (its length, then its bytes) and converts it with `read`.
  ///
  /// - Throws: `corrupt` with `reason` if the text has more than `limit` bytes, or if `read` returns `nil`.
  package mutating func text<Value>(
    limit: Int, _ reason: String, _ read: (String) -> Value?
  ) throws -> Value {
    let begin = offset
    let byteCount = Int(try integer(UInt32.self))
    guard byteCount <= limit, let value = read(String(decoding: try take(byteCount), as: UTF8.self)) else {
      throw corrupt(reason, at: begin)
    }
    return value
  }

  /// Reads and checks the first 12 bytes of a file: its magic bytes and its format version.
  ///
  /// - Parameter other: another format that the caller reads.
  /// - Returns: whether the file has that other format.
  @discardableResult
  package mutating func header(_ magic: StaticString, or other: UInt32? = nil) throws -> Bool {
    let expected = magic.withUTF8Buffer(Array.init)
    guard remaining >= expected.count, try take(expected.count).elementsEqual(expected) else {
      throw corrupt("unexpected file type", at: 0)
    }
    let format: UInt32 = try integer()
    if format == other { return true }
    try SiteFormat.check(format, file: file)
    return false
  }

  package mutating func reserved() throws {
    let begin = offset
    guard try integer(UInt32.self) == 0 else { throw corrupt("reserved field is not zero", at: begin) }
  }

  package func end() throws {
    guard remaining == 0 else { throw corrupt("unexpected trailing bytes") }
  }

  /// Returns the error for the bytes at `offset` (default: the next bytes).
  package func corrupt(_ reason: String, at offset: Int? = nil) -> PackStoreError {
    var error = PackStoreError(.corrupt, reason, file: file)
    error.offset = UInt64(offset ?? self.offset)
    error.specificRemedy = "download it again; if the error persists, its publisher must publish it again"
    return error
  }
}
