import CPackArchives
import PackStore

/// A zip file: stored and deflated entries, of any size.
///
/// The directory at the end is authoritative. The header before each entry must agree with it, entries must not overlap, and
/// nothing may follow.
struct ZipContainer: ContainerReader {
  private let file: InputFile
  private let faults: ArchiveFaults
  private let end: ZipEnd
  private let directory: StreamReader
  private let limit: UInt64
  private let names: ZipNames
  private var entriesLeft: UInt64
  private var directoryLeft: UInt64

  /// The bytes before the directory that no entry has used yet. Overlapping entries would use more than exist.
  private var bytesLeft: UInt64
  private var body: Body?

  /// The content of the current file.
  private struct Body {
    let stream: any ByteStream
    let entry: ZipEntry
    var byteCount: UInt64 = 0
    var sum: UInt32 = 0
  }

  /// - Parameters:
  ///   - limit: the maximum unpacked size of one entry.
  ///   - names: the encoding of names that are not UTF-8.
  init(
    _ file: InputFile, limit: UInt64, names: ForeignArchive.NameEncoding? = nil, _ faults: ArchiveFaults
  ) throws {
    self.names = ZipNames(encoding: names)
    self.file = file
    self.faults = faults
    self.limit = limit
    end = try ZipEnd(of: file, faults)
    directory = StreamReader(FileStream(file, end.directory), faults)
    entriesLeft = end.entryCount
    directoryLeft = UInt64(end.directory.count)
    bytesLeft = end.directory.lowerBound
  }

  mutating func next() throws -> ContainerEntry? {
    guard entriesLeft > 0 else {
      guard directoryLeft == 0 else { throw faults.damaged("the central directory is longer than its entries") }
      return nil
    }
    entriesLeft -= 1
    let entry = try ZipEntry(from: directory, names, faults)
    guard entry.directoryByteCount <= directoryLeft else { throw faults.damaged("the central directory is cut short") }
    directoryLeft -= entry.directoryByteCount
    try entry.checkSupport(faults)
    try open(entry)
    var result = ContainerEntry(
      path: entry.path, kind: .file(byteCount: entry.byteCount), isExecutable: isExecutable(mode: entry.mode ?? 0))
    switch try entry.kind(faults) {
    case .folder:
      guard entry.byteCount == 0 else { throw faults.refused(entry.path, "a folder with content") }
      result.kind = .folder
    case .link: result.kind = .link(target: try linkTarget(entry))
    default: break
    }
    return result
  }

  mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    guard var body else { return 0 }
    let count = try body.stream.read(into: buffer)
    let bytes = UnsafeRawBufferPointer(rebasing: buffer.prefix(count))
    body.byteCount += UInt64(count)
    body.sum = pka_crc32(body.sum, bytes.assumingMemoryBound(to: UInt8.self).baseAddress, count)
    self.body = body
    guard body.byteCount <= body.entry.byteCount, count > 0 || body.byteCount == body.entry.byteCount else {
      throw faults.damaged("'\(shown(body.entry.path))' has another size than in the central directory")
    }
    guard count > 0 || body.sum == body.entry.sum else {
      throw faults.damaged("'\(shown(body.entry.path))' has a wrong checksum")
    }
    return count
  }

  /// Reads a link's target, which is its content.
  private mutating func linkTarget(_ entry: ZipEntry) throws -> [UInt8] {
    guard entry.byteCount <= UInt64(EntryPath.byteLimit) else {
      throw faults.refused(entry.path, "a link whose target is too long")
    }
    var target: [UInt8] = []
    try withUnsafeTemporaryAllocation(byteCount: EntryPath.byteLimit + 1, alignment: 1) { buffer in
      while case let count = try read(into: buffer), count > 0 { target += buffer.prefix(count) }
    }
    body = nil
    return target
  }

  /// Compares the header before an entry with the directory, and seeks to the entry's first byte.
  private mutating func open(_ entry: ZipEntry) throws {
    let headerEnd = entry.offset.addingReportingOverflow(UInt64(ZipEntry.localByteCount))
    guard !headerEnd.overflow, headerEnd.partialValue <= end.directory.lowerBound else { throw outside(entry) }
    let local = try file.bytes(at: entry.offset, upTo: ZipEntry.localByteCount)
    guard local.count == ZipEntry.localByteCount, let variable = entry.matches(local) else { throw mismatch(entry) }
    let name = try file.bytes(at: headerEnd.partialValue, upTo: entry.storedName.count)
    guard name == entry.storedName else { throw mismatch(entry) }
    let first = headerEnd.partialValue.addingReportingOverflow(variable)
    let last = first.partialValue.addingReportingOverflow(entry.storedByteCount)
    guard !first.overflow, !last.overflow, last.partialValue <= end.directory.lowerBound else { throw outside(entry) }
    let taken = last.partialValue - entry.offset
    guard taken <= bytesLeft else { throw faults.damaged("entries overlap") }
    bytesLeft -= taken
    let stored = FileStream(file, first.partialValue..<last.partialValue)
    guard entry.method == .deflated || entry.storedByteCount == entry.byteCount else { throw mismatch(entry) }
    let stream: any ByteStream =
      entry.method == .deflated
      ? try DecodedStream(.deflate, of: StreamReader(stored, faults), ByteBudget(limit: limit, faults), faults) : stored
    body = Body(stream: stream, entry: entry)
  }

  private func outside(_ entry: ZipEntry) -> PackStoreError {
    faults.damaged("'\(shown(entry.path))' is outside the file's area for entries")
  }

  private func mismatch(_ entry: ZipEntry) -> PackStoreError {
    faults.damaged("the central directory contradicts the local header of '\(shown(entry.path))'")
  }
}

/// The records at the end of a zip file, and the offset of its directory.
private struct ZipEnd {
  let directory: Range<UInt64>
  let entryCount: UInt64

  private static let byteCount = 22
  private static let locatorByteCount = 20
  private static let wideByteCount = 56

  init(of file: InputFile, _ faults: ArchiveFaults) throws {
    let fileByteCount = try file.byteCount
    // A comment of up to 65,535 bytes may follow.
    let tailByteCount = min(fileByteCount, UInt64(Self.byteCount + 65_535))
    let tail = try file.bytes(at: fileByteCount - tailByteCount, upTo: Int(tailByteCount))
    guard let start = Self.place(in: tail) else {
      throw try ZipBounds(of: file)?.fault(faults) ?? faults.damaged("the end of the zip file is missing")
    }
    let record = tail[start...].prefix(Self.byteCount)
    func number(_ offset: Int, _ count: Int) -> UInt64 {
      UInt64(littleEndian: record[(start + offset)..<(start + offset + count)])
    }
    var disks = [number(4, 2), number(6, 2)]
    var counts = [number(8, 2), number(10, 2)]
    var byteCount = number(12, 4), offset = number(16, 4)
    var directoryEnd = fileByteCount - tailByteCount + UInt64(start)
    if let wide = try Self.wideRecord(before: directoryEnd, in: file, faults) {
      directoryEnd = wide.place
      func wideNumber(_ offset: Int, _ count: Int) -> UInt64 {
        UInt64(littleEndian: wide.bytes[offset..<(offset + count)])
      }
      // If the narrow record has its own number, it must be the same.
      func choose(_ narrow: UInt64, _ limit: UInt64, _ wide: UInt64) throws -> UInt64 {
        guard narrow == limit || narrow == wide else { throw faults.damaged("the two ends of the zip file disagree") }
        return wide
      }
      disks = [try choose(disks[0], 0xFFFF, wideNumber(16, 4)), try choose(disks[1], 0xFFFF, wideNumber(20, 4))]
      counts = [try choose(counts[0], 0xFFFF, wideNumber(24, 8)), try choose(counts[1], 0xFFFF, wideNumber(32, 8))]
      byteCount = try choose(byteCount, 0xFFFF_FFFF, wideNumber(40, 8))
      offset = try choose(offset, 0xFFFF_FFFF, wideNumber(48, 8))
    }
    guard disks == [0, 0], counts[0] == counts[1] else {
      throw faults.refused("is one of several parts, which are not supported", remedy: "create it again as one file")
    }
    guard offset <= directoryEnd, byteCount == directoryEnd - offset else {
      if let bounds = try ZipBounds(of: file), bounds.before > 0 { throw bounds.fault(faults) }
      throw faults.damaged("the end record gives a wrong offset of the central directory")
    }
    directory = offset..<directoryEnd
    entryCount = counts[0]
  }

  /// Returns the last record whose comment extends to the end of the file.
  private static func place(in tail: [UInt8]) -> Int? {
    var place = tail.count - byteCount
    while place >= 0 {
      if tail[place...].starts(with: [0x50, 0x4B, 5, 6]),
        Int(UInt16(littleEndian: tail[(place + 20)..<(place + 22)])) == tail.count - place - byteCount
      {
        return place
      }
      place -= 1
    }
    return nil
  }

  /// Returns the zip64 record, if any.
  private static func wideRecord(
    before end: UInt64, in file: InputFile, _ faults: ArchiveFaults
  ) throws -> (bytes: [UInt8], place: UInt64)? {
    guard end >= UInt64(locatorByteCount + wideByteCount) else { return nil }
    let locator = try file.bytes(at: end - UInt64(locatorByteCount), upTo: locatorByteCount)
    guard locator.starts(with: [0x50, 0x4B, 6, 7]) else { return nil }
    let place = UInt64(littleEndian: locator[8..<16])
    // Extra fields of the record would come between; no program writes them.
    guard UInt32(littleEndian: locator[4..<8]) == 0, UInt32(littleEndian: locator[16..<20]) <= 1,
      place == end - UInt64(locatorByteCount + wideByteCount)
    else { throw faults.damaged("the zip64 record is missing at its offset") }
    let record = try file.bytes(at: place, upTo: wideByteCount)
    guard record.count == wideByteCount, record.starts(with: [0x50, 0x4B, 6, 6]) else {
      throw faults.damaged("the zip64 record is damaged")
    }
    return (record, place)
  }
}

/// An entry of the directory.
private struct ZipEntry {
  static let localByteCount = 30
  private static let byteCount = 46

  enum Method: Equatable {
    case stored, deflated
    case other(UInt16)
  }

  /// The path in UTF-8, unless its encoding is unknown.
  let path: [UInt8]
  /// The name as stored in the archive.
  let storedName: [UInt8]
  let flags: UInt16
  let method: Method
  let sum: UInt32
  let byteCount: UInt64
  let storedByteCount: UInt64
  let offset: UInt64
  /// The Unix mode, if a Unix program made the entry.
  let mode: UInt32?
  /// The size of the entry in the directory.
  let directoryByteCount: UInt64

  init(from directory: StreamReader, _ names: ZipNames, _ faults: ArchiveFaults) throws {
    let record = try directory.bytes(Self.byteCount, "the central directory")
    func number<Number: FixedWidthInteger>(_ offset: Int, _ type: Number.Type) -> Number {
      Number(littleEndian: record[offset..<(offset + MemoryLayout<Number>.size)])
    }
    guard record.starts(with: [0x50, 0x4B, 1, 2]) else { throw faults.damaged("the central directory is damaged") }
    let lengths = [28, 30, 32].map { Int(number($0, UInt16.self)) }
    storedName = try directory.bytes(lengths[0], "the central directory")
    let extra = try directory.bytes(lengths[1], "the central directory")
    try directory.skip(UInt64(lengths[2]), "the central directory")
    directoryByteCount = UInt64(Self.byteCount + lengths.reduce(0, +))
    flags = number(8, UInt16.self)
    switch number(10, UInt16.self) {
    case 0: method = .stored
    case 8: method = .deflated
    case let code: method = .other(code)
    }
    sum = number(16, UInt32.self)
    let host = record[5]
    mode = host == 3 || host == 19 ? number(38, UInt32.self) >> 16 : nil
    let fields = try Self.fields(extra, faults)
    path = names.path(storedName, flags: flags, fields) { pka_crc32(0, $0, $0.count) }
    var wide = Self.wideNumbers(fields)
    func widen(_ narrow: UInt32) throws -> UInt64 {
      guard narrow == .max else { return UInt64(narrow) }
      guard let next = wide.first else { throw faults.damaged("an entry lacks its zip64 numbers") }
      wide = wide.dropFirst()
      return next
    }
    byteCount = try widen(number(24, UInt32.self))
    storedByteCount = try widen(number(20, UInt32.self))
    offset = try widen(number(42, UInt32.self))
    guard number(34, UInt16.self) == 0 else {
      throw faults.refused("is one of several parts, which are not supported", remedy: "create it again as one file")
    }
  }

  /// Returns the extra fields by tag: the first of each.
  private static func fields(_ extra: [UInt8], _ faults: ArchiveFaults) throws -> [UInt16: ArraySlice<UInt8>] {
    var fields: [UInt16: ArraySlice<UInt8>] = [:]
    var rest = extra[...]
    while rest.count >= 4 {
      let tag = UInt16(littleEndian: rest.prefix(2)), count = Int(UInt16(littleEndian: rest.dropFirst(2).prefix(2)))
      rest = rest.dropFirst(4)
      guard count <= rest.count else { throw faults.damaged("an entry's extra fields are cut short") }
      if fields[tag] == nil { fields[tag] = rest.prefix(count) }
      rest = rest.dropFirst(count)
    }
    return fields
  }

  /// Returns the 64-bit numbers in the zip64 field.
  private static func wideNumbers(_ fields: [UInt16: ArraySlice<UInt8>]) -> ArraySlice<UInt64> {
    guard let field = fields[1] else { return [] }
    return stride(from: field.startIndex, to: field.endIndex - 7, by: 8).map {
      UInt64(littleEndian: field[$0..<($0 + 8)])
    }[...]
  }

  func checkSupport(_ faults: ArchiveFaults) throws {
    // Bit 0: encryption; bit 6: strong encryption; bit 13: a directory that hides names.
    guard flags & 0b0010_0000_0100_0001 == 0 else {
      throw faults.refused(path, "which is encrypted", remedy: "create the archive again without a password")
    }
    guard flags & 0b10_0000 == 0 else { throw faults.refused(path, "a patch, which is not supported") }
    if case .other(let code) = method {
      let names: [UInt16: String] = [
        9: "Deflate64", 12: "bzip2", 14: "LZMA", 20: "zstd", 93: "zstd", 95: "xz", 98: "PPMd", 99: "AES encryption",
      ]
      throw faults.refused(
        path, "compressed with \(names[code] ?? "method \(code)"), which is not supported",
        remedy: "create the archive again with deflate")
    }
    guard String(validating: path, as: UTF8.self) != nil else {
      throw faults.refused(
        path, "whose name is not UTF-8", remedy: "set the encoding of names with --names, for example --names cp437")
    }
    guard !path.contains(UInt8(ascii: "\\")) else {
      throw faults.refused(
        path, "whose name has a backslash", remedy: "create the archive again with '/' between folders")
    }
  }

  func kind(_ faults: ArchiveFaults) throws -> UnixKind {
    let isFolder = path.last == UInt8(ascii: "/")
    let bits = (mode ?? 0) & UnixKind.mask
    guard bits != 0 else { return isFolder ? .folder : .file }
    switch UnixKind(rawValue: bits) {
    case .folder: return .folder
    case .file where !isFolder: return .file
    case .link where !isFolder: return .link
    case let kind?:
      throw faults.refused(path, isFolder ? "a folder by its name and \(kind.name) by its mode" : kind.name)
    case nil: throw faults.refused(path, "of an unknown kind")
    }
  }

  /// Whether the header before the entry agrees.
  ///
  /// - Returns: the length of its name and extra fields; `nil` if it does not agree.
  func matches(_ local: [UInt8]) -> UInt64? {
    func number(_ offset: Int, _ count: Int) -> UInt64 { UInt64(littleEndian: local[offset..<(offset + count)]) }
    let localMethod = number(8, 2)
    let isSameMethod =
      switch method {
      case .stored: localMethod == 0
      case .deflated: localMethod == 8
      case .other(let code): localMethod == UInt64(code)
      }
    guard local.starts(with: [0x50, 0x4B, 3, 4]), isSameMethod, (UInt16(number(6, 2)) ^ flags) & 1 == 0,
      number(26, 2) == UInt64(storedName.count)
    else { return nil }
    // With bit 3, checksum and sizes follow the entry, and may be zero before it. zip64 sizes are in an extra field.
    func agrees(_ local: UInt64, _ truth: UInt64) -> Bool {
      local == truth || (flags & 8 != 0 && local == 0) || local == 0xFFFF_FFFF
    }
    guard agrees(number(14, 4), UInt64(sum)), agrees(number(18, 4), storedByteCount), agrees(number(22, 4), byteCount)
    else { return nil }
    return number(26, 2) + number(28, 2)
  }
}
