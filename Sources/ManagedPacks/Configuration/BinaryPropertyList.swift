/// Reads the binary form of property lists, `bplist00`.
///
/// Foundation's readers trap on some damaged lists, and do not terminate on some whose containers contain themselves. This reader
/// visits a bounded number of objects, counting each reference, to a bounded depth.
///
///     "bplist00"   objects   table of their offsets   trailer of 32 bytes:
///     0-5 unused   6 bytes of an offset   7 bytes of an object number   8-15 number of objects   16-23 top object
///     24-31 offset of the table; all numbers are big-endian
///
/// An object begins with its kind (high half of a byte) and its length (low half; 15 if an integer with the length follows).
struct BinaryPropertyList {
  private let bytes: [UInt8]
  private let offsetSize: Int
  private let numberSize: Int
  private let count: Int
  private let table: Int
  private var objectsLeft: Int

  private static let depthLimit = 16
  private static let trailerSize = 32

  /// Returns whether the bytes begin with the magic number of the binary form.
  static func isOne(_ data: Data) -> Bool { data.starts(with: Array("bplist00".utf8)) }

  /// Returns the top object, composed of `String`, `Bool`, `Int`, `[Any]` and `[String: Any]`; an object of another kind is an
  /// empty `Data`.
  ///
  /// - Parameter limit: the largest number of objects.
  /// - Returns: `nil` for an invalid list.
  static func value(of data: Data, limit: Int) -> Any? {
    guard isOne(data), var list = Self(Array(data), limit: limit), let top = list.number(at: list.bytes.count - 16, 8)
    else { return nil }
    return list.object(top, depth: 0)
  }

  private init?(_ bytes: [UInt8], limit: Int) {
    guard bytes.count >= 8 + Self.trailerSize else { return nil }
    self.bytes = bytes
    objectsLeft = limit
    let trailer = bytes.count - Self.trailerSize
    offsetSize = Int(bytes[trailer + 6])
    numberSize = Int(bytes[trailer + 7])
    guard (1...8).contains(offsetSize), (1...8).contains(numberSize),
      let count = Self.number(bytes, trailer + 8, 8), let table = Self.number(bytes, trailer + 24, 8),
      table >= 8, table <= trailer, count <= (trailer - table) / offsetSize
    else { return nil }
    self.count = count
    self.table = table
  }

  /// Returns a big-endian number within the bytes; `nil` if it is out of range or too large.
  private static func number(_ bytes: [UInt8], _ offset: Int, _ size: Int) -> Int? {
    guard offset >= 0, size <= bytes.count, offset <= bytes.count - size else { return nil }
    return Int(exactly: bytes[offset..<offset + size].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
  }

  private func number(at offset: Int, _ size: Int) -> Int? { Self.number(bytes, offset, size) }

  private mutating func object(_ index: Int, depth: Int) -> Any? {
    guard index < count, depth < Self.depthLimit, objectsLeft > 0,
      let offset = number(at: table + index * offsetSize, offsetSize), offset >= 8, offset < table
    else { return nil }
    objectsLeft -= 1
    let kind = bytes[offset] >> 4, low = Int(bytes[offset] & 15)
    switch kind {
    case 0x0 where low == 8 || low == 9: return low == 9
    case 0x1 where low <= 3: return integer(at: offset + 1, 1 << low)
    case 0x5, 0x6, 0xa, 0xd: break
    default: return Data()
    }
    guard let (length, begin) = length(low, offset) else { return nil }
    switch kind {
    case 0x5: return range(begin, length, of: 1).map { String(decoding: bytes[$0], as: UTF8.self) }
    case 0x6: return text(begin, length)
    case 0xa: return array(begin, length, depth)
    default: return dictionary(begin, length, depth)
    }
  }

  /// Returns the number of parts of an object, and the offset of the first.
  private func length(_ low: Int, _ offset: Int) -> (length: Int, begin: Int)? {
    guard low == 15 else { return (low, offset + 1) }
    guard offset + 1 < table, bytes[offset + 1] >> 4 == 1, bytes[offset + 1] & 15 <= 3 else { return nil }
    let size = 1 << Int(bytes[offset + 1] & 15)
    return number(at: offset + 2, size).map { ($0, offset + 2 + size) }
  }

  /// Returns the range of the parts of an object; `nil` if it does not end before the table.
  private func range(_ begin: Int, _ length: Int, of size: Int) -> Range<Int>? {
    guard begin <= table, length <= (table - begin) / size else { return nil }
    return begin..<begin + length * size
  }

  /// Signed if it has eight bytes.
  private func integer(at offset: Int, _ size: Int) -> Int? {
    guard let range = range(offset, size, of: 1) else { return nil }
    let value = bytes[range].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return size == 8 ? Int(Int64(bitPattern: value)) : Int(value)
  }

  private func text(_ begin: Int, _ length: Int) -> String? {
    guard let range = range(begin, length, of: 2) else { return nil }
    let units = stride(from: range.lowerBound, to: range.upperBound, by: 2).map {
      UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
    }
    return String(decoding: units, as: UTF16.self)
  }

  private mutating func array(_ begin: Int, _ length: Int, _ depth: Int) -> [Any]? {
    guard length <= objectsLeft, let range = range(begin, length, of: numberSize) else { return nil }
    var items: [Any] = []
    for place in stride(from: range.lowerBound, to: range.upperBound, by: numberSize) {
      guard let number = number(at: place, numberSize), let item = object(number, depth: depth + 1) else { return nil }
      items.append(item)
    }
    return items
  }

  /// Keys first, then values.
  private mutating func dictionary(_ begin: Int, _ length: Int, _ depth: Int) -> [String: Any]? {
    guard length <= objectsLeft, let all = array(begin, 2 * length, depth) else { return nil }
    var values: [String: Any] = [:]
    for (key, value) in zip(all.prefix(length), all.suffix(length)) {
      guard let key = key as? String, values.updateValue(value, forKey: key) == nil else { return nil }
    }
    return values
  }
}
