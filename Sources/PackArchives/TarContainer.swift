import PackStore

/// A tar file of any usual kind: the original format, ustar, GNU, and pax.
struct TarContainer: ContainerReader {
  static let blockByteCount = 512

  /// The maximum size of a name, or of the records of a pax header.
  private static let extensionLimit: UInt64 = 1 << 20

  private let input: StreamReader
  private let faults: ArchiveFaults

  /// Unread bytes of the body, and of the padding after it.
  private var bodyLeft: UInt64 = 0
  private var padding: UInt64 = 0
  /// The current file, if it is a sparse one.
  private var sparse: SparseFile?
  private var hasEnded = false

  init(_ input: StreamReader, _ faults: ArchiveFaults) {
    self.input = input
    self.faults = faults
  }

  /// Extension headers that precede a header and apply to it.
  private struct Extensions {
    var path: [UInt8]?
    var target: [UInt8]?
    var byteCount: UInt64?
    var sparse: TarSparse?
  }

  mutating func next() throws -> ContainerEntry? {
    guard !hasEnded else { return nil }
    try input.skip(bodyLeft, "a file")
    try input.skip(padding, "a file")
    (bodyLeft, padding) = (0, 0)
    sparse = nil
    var extensions = Extensions()
    while true {
      let block = try input.bytes(Self.blockByteCount, "the archive, which does not have its end mark,")
      guard block.contains(where: { $0 != 0 }) else {
        // One block of zeros is sufficient at the end of a file; after two, only zeros may follow.
        guard try input.isZeroToEnd() else { throw faults.damaged("other bytes follow the end mark") }
        hasEnded = true
        return nil
      }
      guard let header = ForeignTarHeader(block) else {
        throw faults.damaged("a header has a wrong checksum or number")
      }
      if try !read(header, into: &extensions) { return try entry(header, block, extensions) }
    }
  }

  mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    guard sparse != nil else { return try input.read(into: buffer, ofFileWith: &bodyLeft) }
    return try sparse?.read(into: buffer) { try input.read(into: $0, ofFileWith: &bodyLeft) } ?? 0
  }

  /// Reads an extension header that applies to the next header; returns false for the header of an entry.
  private mutating func read(_ header: ForeignTarHeader, into extensions: inout Extensions) throws -> Bool {
    switch header.type {
    case UInt8(ascii: "L"): extensions.path = try text(of: header)
    case UInt8(ascii: "K"): extensions.target = try text(of: header)
    case UInt8(ascii: "V"):
      // The label of the archive.
      try input.skip(header.byteCount, "a label")
      try input.skip(Self.padding(header.byteCount), "a label")
    case UInt8(ascii: "x"): try apply(body(of: header), to: &extensions)
    case UInt8(ascii: "g"):
      var all = Extensions()
      try apply(body(of: header), to: &all)
      guard all.path == nil, all.target == nil, all.byteCount == nil, all.sparse == nil else {
        throw faults.refused("has a global header with a name or size for all entries, which is not supported")
      }
    default: return false
    }
    return true
  }

  private func body(of header: ForeignTarHeader) throws -> [UInt8] {
    guard header.byteCount <= Self.extensionLimit else {
      throw faults.refused("has a name or header of \(header.byteCount) bytes; the limit is 1 MiB")
    }
    let bytes = try input.bytes(Int(header.byteCount), "a header")
    try input.skip(Self.padding(header.byteCount), "a header")
    return bytes
  }

  private func text(of header: ForeignTarHeader) throws -> [UInt8] { Array(try body(of: header).prefix { $0 != 0 }) }

  /// Applies records such as `30 path=Levels/1.bin`, each with its own length first and a line feed last.
  private func apply(_ records: [UInt8], to extensions: inout Extensions) throws {
    var rest = records[...]
    while !rest.isEmpty {
      let digits = rest.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
      guard let count = Int(String(decoding: digits, as: UTF8.self)), count <= rest.count, count > digits.count + 1,
        rest.dropFirst(digits.count).first == UInt8(ascii: " "), rest[rest.startIndex + count - 1] == UInt8(ascii: "\n")
      else { throw faults.damaged("a pax header is damaged") }
      let record = rest.prefix(count - 1).dropFirst(digits.count + 1)
      rest = rest.dropFirst(count)
      guard let sign = record.firstIndex(of: UInt8(ascii: "=")) else { throw faults.damaged("a pax header is damaged") }
      try apply(String(decoding: record[..<sign], as: UTF8.self), Array(record[(sign + 1)...]), to: &extensions)
    }
  }

  private func apply(_ key: String, _ value: [UInt8], to extensions: inout Extensions) throws {
    switch key {
    case "path": extensions.path = value
    case "linkpath": extensions.target = value
    case "size":
      guard let number = UInt64(String(decoding: value, as: UTF8.self)) else {
        throw faults.damaged("a pax header has an invalid size")
      }
      extensions.byteCount = number
    case _ where key.hasPrefix(TarSparse.keyPrefix): extensions.sparse = apply(key, value, to: extensions.sparse)
    default: break
    }
  }

  private func apply(_ key: String, _ value: [UInt8], to sparse: TarSparse?) -> TarSparse {
    var sparse = sparse ?? TarSparse()
    sparse.apply(key, value)
    return sparse
  }

  private mutating func entry(
    _ header: ForeignTarHeader, _ block: [UInt8], _ extensions: Extensions
  ) throws -> ContainerEntry {
    let path = extensions.sparse?.name ?? extensions.path ?? header.path
    let target = extensions.target ?? header.linkName
    let byteCount = extensions.byteCount ?? header.byteCount
    var entry = ContainerEntry(path: path, kind: .folder, isExecutable: isExecutable(mode: header.mode))
    switch header.type {
    case UInt8(ascii: "0"), UInt8(ascii: "7"), 0:
      // The original format marks folders only in this way.
      if path.last == UInt8(ascii: "/") { break }
      (bodyLeft, padding) = (byteCount, Self.padding(byteCount))
      let map = try extensions.sparse?.map(path, input, bodyLeft: &bodyLeft, faults)
      entry.kind = .file(byteCount: try map.map { try begin($0, path) } ?? byteCount)
      return entry
    case UInt8(ascii: "1"): entry.kind = .hardLink(target: target)
    case UInt8(ascii: "2"): entry.kind = .link(target: target)
    case UInt8(ascii: "3"), UInt8(ascii: "4"): throw faults.refused(path, "a device")
    case UInt8(ascii: "5"): break
    case UInt8(ascii: "6"): throw faults.refused(path, "a pipe")
    case UInt8(ascii: "D"):
      // The body lists the folder's content at the time of an incremental backup.
      (bodyLeft, padding) = (byteCount, Self.padding(byteCount))
      return entry
    case UInt8(ascii: "S"):
      let map = try TarSparse.map(path, block, input, faults)
      (bodyLeft, padding) = (byteCount, Self.padding(byteCount))
      entry.kind = .file(byteCount: try begin(map, path))
      return entry
    case UInt8(ascii: "M"):
      throw faults.refused("is one of several volumes, which are not supported", remedy: "create it again as one file")
    default: throw faults.refused(path, "of kind '\(shown([header.type]))', which is not supported")
    }
    // Most programs ignore the size of an entry that is not a file; some expect bytes to follow.
    if byteCount > 0 {
      throw faults.refused(path, "which has \(byteCount) bytes, but is not a file")
    }
    return entry
  }

  /// Begins to read a sparse file; returns its length.
  private mutating func begin(_ map: SparseMap, _ path: [UInt8]) throws -> UInt64 {
    guard map.storedByteCount == bodyLeft else { throw TarSparse.damaged(path, faults) }
    sparse = SparseFile(map)
    return map.byteCount
  }

  private static func padding(_ byteCount: UInt64) -> UInt64 {
    let rest = byteCount % UInt64(blockByteCount)
    return rest == 0 ? 0 : UInt64(blockByteCount) - rest
  }
}

/// A header of 512 bytes with a valid checksum.
struct ForeignTarHeader {
  let path: [UInt8]
  let linkName: [UInt8]
  let mode: UInt64
  let byteCount: UInt64
  let type: UInt8

  init?(_ block: [UInt8]) {
    guard block.count == 512, let sum = Self.number(block[148..<156]), Self.sums(block).contains(sum),
      let byteCount = Self.number(block[124..<136])
    else { return nil }
    self.byteCount = byteCount
    mode = Self.number(block[100..<108]) ?? 0
    type = block[156]
    linkName = Self.text(block[157..<257])
    let name = Self.text(block[0..<100])
    // GNU's own format has times in place of the prefix.
    let prefix = block[257..<263].elementsEqual("ustar\0".utf8) ? Self.text(block[345..<500]) : []
    path = prefix.isEmpty ? name : prefix + [UInt8(ascii: "/")] + name
  }

  /// Whether the header contains the magic value, which only the original format lacks.
  static func hasMagic(_ block: [UInt8]) -> Bool { block.dropFirst(257).starts(with: "ustar".utf8) }

  private static func text(_ field: ArraySlice<UInt8>) -> [UInt8] { Array(field.prefix { $0 != 0 }) }

  /// Computes the checksum with its own field counted as spaces. Some old programs used signed bytes.
  private static func sums(_ block: [UInt8]) -> [UInt64] {
    var unsigned: Int64 = 0
    var signed: Int64 = 0
    for (place, byte) in block.enumerated() {
      let byte = 148..<156 ~= place ? UInt8(ascii: " ") : byte
      unsigned += Int64(byte)
      signed += Int64(Int8(bitPattern: byte))
    }
    return [UInt64(unsigned)] + (signed >= 0 ? [UInt64(signed)] : [])
  }

  /// Parses octal digits among spaces and zero bytes, 0 if there are no digits; or a binary number, whose first bit is set.
  static func number(_ field: ArraySlice<UInt8>) -> UInt64? {
    if let first = field.first, first & 0x80 != 0 {
      guard first == 0x80, field.dropFirst().dropLast(8).allSatisfy({ $0 == 0 }) else { return nil }
      return UInt64(bigEndian: field.dropFirst().suffix(8))
    }
    let text = field.drop { $0 == UInt8(ascii: " ") }
    let digits = text.prefix { UInt8(ascii: "0")...UInt8(ascii: "7") ~= $0 }
    guard text.dropFirst(digits.count).allSatisfy({ $0 == 0 || $0 == UInt8(ascii: " ") }) else { return nil }
    return digits.reduce(0) { $0 << 3 | UInt64($1 - UInt8(ascii: "0")) }  // at most 12 digits: 36 bits
  }
}
