import PackStore

/// The header of a member of a tar file, 512 bytes: the part of the ustar format that archives use.
///
/// Every member is a regular file with a name of at most 100 bytes. A size of 8 GiB or more exceeds the octal digits of its field,
/// and is stored as a binary number with the first bit set, as in GNU tar.
package struct TarHeader: Hashable, Sendable {
  package static let byteCount = 512

  package var name: String
  package var byteCount: UInt64

  /// Seconds since 1970.
  package var modifiedAt: UInt64

  package init(name: String, byteCount: UInt64, modifiedAt: UInt64) {
    self.name = name
    self.byteCount = byteCount
    self.modifiedAt = modifiedAt
  }

  /// Returns the size of a member with the zeros after it, up to the next header.
  ///
  /// - Returns: `nil` if the size overflows.
  package static func paddedByteCount(_ byteCount: UInt64) -> UInt64? {
    let (sum, isTooLarge) = byteCount.addingReportingOverflow(UInt64(Self.byteCount - 1))
    return isTooLarge ? nil : sum & ~UInt64(Self.byteCount - 1)
  }
}

/// The positions of the fields, in bytes.
private enum Field {
  static let name = 0..<100
  static let mode = 100..<108
  static let user = 108..<116
  static let group = 116..<124
  static let size = 124..<136
  static let time = 136..<148
  static let sum = 148..<156
  static let type = 156
  static let linkName = 157..<257
  static let magic = 257..<265
  static let prefix = 345..<500
  static let octalSizeLimit: UInt64 = 1 << 33

  /// "ustar", a zero, and version "00".
  static let ustar = Array("ustar\0".utf8) + Array("00".utf8)
  static let plainFile = UInt8(ascii: "0")
}

extension TarHeader {
  /// The position of "ustar", in bytes.
  static let magicOffset = Field.magic.lowerBound
}

extension TarHeader {
  package func encode() -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Self.byteCount)
    func put(_ field: Range<Int>, _ value: some Collection<UInt8>) {
      precondition(value.count <= field.count)
      bytes.replaceSubrange(field.lowerBound..<field.lowerBound + value.count, with: value)
    }
    put(Field.name, Array(name.utf8))
    put(Field.mode, Self.octal(0o644, digits: 7))
    put(Field.user, Self.octal(0, digits: 7))
    put(Field.group, Self.octal(0, digits: 7))
    put(Field.size, byteCount < Field.octalSizeLimit ? Self.octal(byteCount, digits: 11) : Self.binary(byteCount))
    put(Field.time, Self.octal(min(modifiedAt, Field.octalSizeLimit - 1), digits: 11))
    bytes[Field.type] = Field.plainFile
    put(Field.magic, Field.ustar)
    put(Field.sum, Self.octal(Self.sum(bytes[...]), digits: 6) + [0, UInt8(ascii: " ")])
    return bytes
  }

  private static func octal(_ number: UInt64, digits: Int) -> [UInt8] {
    let text = String(number, radix: 8)
    return Array((String(repeating: "0", count: digits - text.count) + text).utf8)
  }

  /// Returns 12 bytes, most significant first. The first bit is set, which marks the field as binary.
  private static func binary(_ number: UInt64) -> [UInt8] {
    [0x80, 0, 0, 0] + withUnsafeBytes(of: number.bigEndian, Array.init)
  }

  /// Returns the sum of the bytes, with spaces in place of the sum's own field.
  private static func sum(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.enumerated().reduce(0) { sum, next in
      sum + UInt64(Field.sum.contains(next.offset) ? UInt8(ascii: " ") : next.element)
    }
  }
}

extension TarHeader {
  /// Decodes an untrusted header; `nil` if the member is not a regular file, the name does not fit its field, a field has an
  /// invalid form, or the sum is wrong.
  package init?(decoding bytes: ArraySlice<UInt8>) {
    guard bytes.count == Self.byteCount else { return nil }
    func field(_ range: Range<Int>) -> ArraySlice<UInt8> {
      bytes[bytes.startIndex + range.lowerBound..<bytes.startIndex + range.upperBound]
    }
    guard let sum = Self.number(field(Field.sum)), sum == Self.sum(bytes),
      field(Field.magic).elementsEqual(Field.ustar), bytes[bytes.startIndex + Field.type] == Field.plainFile,
      field(Field.linkName).allSatisfy({ $0 == 0 }), field(Field.prefix).allSatisfy({ $0 == 0 }),
      let byteCount = Self.size(field(Field.size)), let name = Self.text(field(Field.name))
    else { return nil }
    self.init(name: name, byteCount: byteCount, modifiedAt: Self.number(field(Field.time)) ?? 0)
  }

  /// Decodes text that ends at the first zero or fills the field.
  private static func text(_ field: ArraySlice<UInt8>) -> String? {
    let text = field.prefix { $0 != 0 }
    guard !text.isEmpty, field.dropFirst(text.count).allSatisfy({ $0 == 0 }) else { return nil }
    return String(validating: text, as: UTF8.self)
  }

  /// Decodes octal digits that are followed by zeros or spaces up to the end of the field.
  private static func number(_ field: ArraySlice<UInt8>) -> UInt64? {
    let digits = field.prefix { UInt8(ascii: "0")...UInt8(ascii: "7") ~= $0 }
    guard !digits.isEmpty, field.dropFirst(digits.count).allSatisfy({ $0 == 0 || $0 == UInt8(ascii: " ") }) else {
      return nil
    }
    return digits.reduce(0) { $0 << 3 | UInt64($1 - UInt8(ascii: "0")) }  // at most 12 digits: 36 bits
  }

  private static func size(_ field: ArraySlice<UInt8>) -> UInt64? {
    guard field.first == 0x80 else { return number(field) }
    guard field.dropFirst().prefix(3).allSatisfy({ $0 == 0 }) else { return nil }
    return field.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }
}
