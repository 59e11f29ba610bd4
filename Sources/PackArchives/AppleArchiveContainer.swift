import PackStore

/// An Apple Archive: a header of fields for each entry, and the bytes of its larger fields after it.
struct AppleArchiveContainer: ContainerReader {
  private let input: StreamReader
  private let faults: ArchiveFaults

  /// Remaining bytes of the file's content, and of later bytes of the same entry.
  private var bodyLeft: UInt64 = 0
  private var passedOver: UInt64 = 0

  init(_ input: StreamReader, _ faults: ArchiveFaults) {
    self.input = input
    self.faults = faults
  }

  mutating func next() throws -> ContainerEntry? {
    while true {
      try input.skip(bodyLeft, "a file")
      try input.skip(passedOver, "an entry")
      (bodyLeft, passedOver) = (0, 0)
      if try input.isAtEnd() { return nil }
      let header = try AppleArchiveHeader(from: input, faults)
      try input.skip(header.beforeContent, "an entry")
      passedOver = header.afterContent
      if let entry = try entry(header) { return entry }
    }
  }

  mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    try input.read(into: buffer, ofFileWith: &bodyLeft)
  }

  /// Returns `nil` for the archived folder itself, which has no name.
  private mutating func entry(_ header: AppleArchiveHeader) throws -> ContainerEntry? {
    guard let path = header.path else { throw faults.refused("has an entry without a path") }
    guard !header.isOperation else {
      throw faults.refused(
        "is a patch or a list of files, which is not supported", remedy: "create an archive of the files")
    }
    var entry = ContainerEntry(path: path, kind: .folder, isExecutable: isExecutable(mode: header.mode))
    let names: [UInt8: String] = [
      UInt8(ascii: "B"): "a device", UInt8(ascii: "C"): "a device", UInt8(ascii: "P"): "a pipe",
      UInt8(ascii: "S"): "a socket", UInt8(ascii: "W"): "a whiteout", UInt8(ascii: "R"): "a door",
      UInt8(ascii: "T"): "a port", UInt8(ascii: "M"): "a record of metadata, which is not supported",
    ]
    switch header.type {
    case UInt8(ascii: "D")?:
      if path.isEmpty { return nil }
    case UInt8(ascii: "F")?:
      guard let content = header.content else { throw faults.refused(path, "a file without its content") }
      entry.kind = .file(byteCount: content)
      bodyLeft = content
    case UInt8(ascii: "L")?:
      guard let target = header.target else { throw faults.refused(path, "a link without a target") }
      entry.kind = .link(target: target)
    case let type?: throw faults.refused(path, names[type] ?? "of kind '\(shown([type]))', which is not supported")
    case nil: throw faults.refused(path, "without a kind")
    }
    guard header.content == nil || bodyLeft == header.content else {
      throw faults.refused(path, "which has content, but is not a file")
    }
    return entry
  }
}

/// The fields of an entry: each has a three-letter key, a letter for the encoding of the value, and the value.
private struct AppleArchiveHeader {
  var path: [UInt8]?
  var target: [UInt8]?
  var type: UInt8?
  var mode: UInt64 = 0
  /// The length of the file.
  var content: UInt64?
  /// Whether the entry is a step of an operation rather than a file.
  var isOperation = false
  /// Bytes before the file's content: values after the header are in the order of their fields.
  var beforeContent: UInt64 = 0
  var afterContent: UInt64 = 0

  init(from input: StreamReader, _ faults: ArchiveFaults) throws {
    let start = try input.bytes(6, "an entry's header")
    guard start.starts(with: "AA01".utf8) || start.starts(with: "YAA1".utf8) else {
      throw faults.damaged("an entry has an invalid header")
    }
    let count = Int(UInt16(littleEndian: start[4...]))
    guard count >= 6 else { throw faults.damaged("an entry's header is too short") }
    var fields = try input.bytes(count - 6, "an entry's header")[...]
    var keys: Set<String> = []
    while !fields.isEmpty {
      guard fields.count >= 4 else { throw faults.damaged("an entry's header is cut short") }
      let key = shown(fields.prefix(3)), form = fields[fields.startIndex + 3]
      guard keys.insert(key).inserted else { throw faults.refused("has an entry with the field '\(key)' twice") }
      fields = fields.dropFirst(4)
      guard let value = Value(form, &fields) else { throw faults.damaged("the field '\(key)' of an entry is damaged") }
      guard apply(key, value) else { throw faults.refused("has a field '\(key)' of the wrong type") }
    }
  }

  private enum Value {
    case number(UInt64), text([UInt8]), other
    /// Bytes that follow the header.
    case content(UInt64)

    init?(_ form: UInt8, _ rest: inout ArraySlice<UInt8>) {
      func take(_ count: Int) -> ArraySlice<UInt8>? {
        guard count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
      }
      func number(_ count: Int) -> UInt64? { take(count).map { UInt64(littleEndian: $0) } }
      let sizes: [UInt8: Int] = [
        UInt8(ascii: "*"): 0, UInt8(ascii: "F"): 4, UInt8(ascii: "G"): 20, UInt8(ascii: "H"): 32,
        UInt8(ascii: "I"): 48, UInt8(ascii: "J"): 64, UInt8(ascii: "S"): 8, UInt8(ascii: "T"): 12,
      ]
      let value: Value?
      switch form {
      case UInt8(ascii: "1"): value = number(1).map { .number($0) }
      case UInt8(ascii: "2"): value = number(2).map { .number($0) }
      case UInt8(ascii: "4"): value = number(4).map { .number($0) }
      case UInt8(ascii: "8"): value = number(8).map { .number($0) }
      case UInt8(ascii: "A"): value = number(2).map { .content($0) }
      case UInt8(ascii: "B"): value = number(4).map { .content($0) }
      case UInt8(ascii: "C"): value = number(8).map { .content($0) }
      case UInt8(ascii: "P"): value = number(2).flatMap { take(Int($0)) }.map { .text(Array($0)) }
      default: value = sizes[form].flatMap { take($0) }.map { _ in .other }
      }
      guard let value else { return nil }
      self = value
    }
  }

  /// Returns false if a required field has the wrong type, or more bytes than a file can have.
  private mutating func apply(_ key: String, _ value: Value) -> Bool {
    if case .content(let count) = value {
      if key == "DAT" {
        content = count
        return true
      }
      let (sum, isTooFar) = (content == nil ? beforeContent : afterContent).addingReportingOverflow(count)
      if content == nil { beforeContent = sum } else { afterContent = sum }
      return !isTooFar
    }
    switch (key, value) {
    case ("PAT", .text(let bytes)): path = bytes
    case ("LNK", .text(let bytes)): target = bytes
    case ("TYP", .number(let number)): type = UInt8(exactly: number)
    case ("MOD", .number(let number)): mode = number
    case ("YOP", .number): isOperation = true
    case ("PAT", _), ("LNK", _), ("TYP", _), ("MOD", _), ("YOP", _), ("DAT", _): return false
    default: break
    }
    return true
  }
}
