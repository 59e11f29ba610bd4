import PackStore

/// Takes the bytes of a file from outside apart, from front to back. Integers are little-endian; whatever is not there,
/// or is not what the format says, is `corrupt`, with the file and the place.
package struct ByteReader {
  private let bytes: ArraySlice<UInt8>

  /// What errors name.
  package let file: String

  /// How many bytes were taken.
  package private(set) var offset = 0

  package init(_ bytes: ArraySlice<UInt8>, file: String) {
    self.bytes = bytes
    self.file = file
  }

  /// How many bytes are left.
  package var remaining: Int { bytes.count - offset }

  package mutating func take(_ count: Int) throws -> ArraySlice<UInt8> {
    guard count >= 0, count <= remaining else { throw corrupt("the file ends too early") }
    let begin = bytes.startIndex + offset
    offset += count
    return bytes[begin..<begin + count]
  }

  package mutating func integer<Integer: FixedWidthInteger>(
    _ type: Integer.Type = Integer.self
  ) throws -> Integer {
    // From the most significant byte on, so that widths of any kind need no memory of a certain alignment.
    try take(Integer.bitWidth / 8).reversed().reduce(0) { $0 << 8 | Integer(truncatingIfNeeded: $1) }
  }

  package mutating func digest() throws -> Digest256 {
    try take(Digest256.byteCount).withUnsafeBytes { Digest256(copying: $0) }
  }

  /// The SHA-256 of attributes, or zeros for none.
  package mutating func attributes() throws -> Digest256? {
    let digest = try digest()
    return digest == .zero ? nil : digest
  }

  package mutating func id128() throws -> ID128 { ID128(copying: try take(ID128.byteCount)) }

  /// A number of things of which each takes `byteCount` bytes or more: no more than there is room for, nor than
  /// `limit`.
  package mutating func count(
    limit: Int, byteCount: Int, _ reason: String
  ) throws -> Int {
    let begin = offset
    let count = Int(try integer(UInt32.self))
    guard count <= limit, count <= remaining / byteCount else { throw corrupt(reason, at: begin) }
    return count
  }

  /// The name of a pack: its length, then its bytes.
  package mutating func packID() throws -> PackID {
    let begin = offset
    let byteCount = Int(try integer(UInt32.self))
    guard byteCount <= remaining else { throw corrupt("no pack can have the name", at: begin) }
    let name = String(decoding: try take(byteCount), as: UTF8.self)
    do { return try PackID(validating: name) } catch { throw corrupt("no pack can have the name", at: begin) }
  }

  /// The name of a product: its length, then its bytes.
  package mutating func product() throws -> Store.Product {
    try text(limit: Store.Product.byteCountLimit, "no product can have the name") { try? Store.Product($0) }
  }

  /// The name of a channel: its length, then its bytes.
  package mutating func channel() throws -> SiteChannel {
    try text(limit: SiteChannel.byteCountLimit, "no channel can have the name") { try? SiteChannel($0) }
  }

  /// What a short text says: its length, then its bytes.
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

  /// The first 12 bytes of a file: what it is, and its format.
  package mutating func header(_ magic: StaticString) throws {
    let expected = magic.withUTF8Buffer(Array.init)
    guard remaining >= expected.count, try take(expected.count).elementsEqual(expected) else {
      throw corrupt("the file is something else", at: 0)
    }
    try SiteFormat.check(try integer(UInt32.self), file: file)
  }

  package mutating func reserved() throws {
    let begin = offset
    guard try integer(UInt32.self) == 0 else { throw corrupt("a reserved field is in use", at: begin) }
  }

  package func end() throws {
    guard remaining == 0 else { throw corrupt("the file goes on too long") }
  }

  /// The error for bytes at `offset`, by default those that come next.
  package func corrupt(_ reason: String, at offset: Int? = nil) -> PackStoreError {
    var error = PackStoreError(.corrupt, reason, file: file)
    error.offset = UInt64(offset ?? self.offset)
    error.specificRemedy = "fetch it again; if it stays so, its publisher has to publish it again"
    return error
  }
}
