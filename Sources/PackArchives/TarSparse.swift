import PackStore

/// The map of a sparse file in its four forms: GNU's own header, and versions 0.0, 0.1 and 1.0 of the pax headers.
///
/// The GNU tar manual describes them in the chapter "Storing Sparse Files".
struct TarSparse {
  /// Headers of pax, by their keys.
  private var values: [String: [UInt8]] = [:]
  /// Version 0.0: offset and length of each piece in turn.
  private var numbers: [UInt64] = []
  private var isDamaged = false

  static let keyPrefix = "GNU.sparse."

  /// The name of the file: the entry has another one, for programs without support for such files.
  var name: [UInt8]? { values["name"] }

  /// Applies a header whose key begins with ``keyPrefix``.
  mutating func apply(_ key: String, _ value: [UInt8]) {
    let key = String(key.dropFirst(Self.keyPrefix.count))
    guard key == "offset" || key == "numbytes" else {
      values[key] = value
      return
    }
    // Each offset is before its length.
    guard let number = Self.number(value), numbers.count % 2 == (key == "offset" ? 0 : 1) else {
      isDamaged = true
      return
    }
    numbers.append(number)
  }

  /// Whether the map is at the beginning of the file's body: version 1.0.
  private var hasMapInBody: Bool { values["major"].flatMap(Self.number) == 1 }

  /// Reads the map.
  ///
  /// - Parameter bodyLeft: the bytes of the body; the map's bytes are subtracted.
  /// - Throws: `corrupt`; `refused` for an unknown version.
  func map(_ path: [UInt8], _ input: StreamReader, bodyLeft: inout UInt64, _ faults: ArchiveFaults) throws -> SparseMap
  {
    let version = [values["major"], values["minor"]].map { $0.map(Self.number) ?? 0 }
    guard version == [0, 0] || version == [0, 1] || version == [1, 0] else {
      throw faults.refused(
        path, "a sparse file of an unknown version",
        remedy: "create it again without --sparse (bsdtar: --no-read-sparse)"
      )
    }
    guard !isDamaged, let byteCount = (values["realsize"] ?? values["size"]).flatMap(Self.number) else {
      throw Self.damaged(path, faults)
    }
    let numbers: [UInt64]
    if hasMapInBody {
      numbers = try Self.numbers(path, input, &bodyLeft, faults)
    } else if let map = values["map"] {
      let texts = map.isEmpty ? [] : map.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
      numbers = try texts.map { text in
        guard let number = Self.number(text) else { throw Self.damaged(path, faults) }
        return number
      }
    } else {
      numbers = self.numbers
    }
    guard let map = SparseMap(numbers: numbers, byteCount: byteCount) else { throw Self.damaged(path, faults) }
    return map
  }

  static func damaged(_ path: [UInt8], _ faults: ArchiveFaults) -> PackStoreError {
    faults.damaged("the map of the sparse file '\(shown(path))' is damaged")
  }

  /// Version 1.0: decimal numbers, each with a line feed: the number of pieces, then offset and length of each. Zeros fill the last
  /// block.
  private static func numbers(
    _ path: [UInt8], _ input: StreamReader, _ bodyLeft: inout UInt64, _ faults: ArchiveFaults
  ) throws -> [UInt64] {
    var block: ArraySlice<UInt8> = []
    func line(_ bodyLeft: inout UInt64) throws -> UInt64 {
      var digits: [UInt8] = []
      while digits.count <= 20 {
        if block.isEmpty {
          guard bodyLeft >= UInt64(TarContainer.blockByteCount) else { throw damaged(path, faults) }
          block = try input.bytes(TarContainer.blockByteCount, "a sparse file")[...]
          bodyLeft -= UInt64(TarContainer.blockByteCount)
        }
        let byte = block.removeFirst()
        if byte == UInt8(ascii: "\n") { break }
        digits.append(byte)
      }
      guard let number = number(digits) else { throw damaged(path, faults) }
      return number
    }
    let count = try line(&bodyLeft)
    guard count <= UInt64(SparseMap.pieceLimit) else { throw tooMany(path, faults) }
    return try (0..<(2 * count)).map { _ in try line(&bodyLeft) }
  }

  /// GNU's own header has four pieces, followed by blocks of 21 more.
  static func map(
    _ path: [UInt8], _ header: [UInt8], _ input: StreamReader, _ faults: ArchiveFaults
  ) throws -> SparseMap {
    var numbers: [UInt64] = []
    func take(_ bytes: ArraySlice<UInt8>) throws {
      for start in stride(from: bytes.startIndex, to: bytes.endIndex, by: 12) where bytes[start] != 0 {
        guard let number = ForeignTarHeader.number(bytes[start..<(start + 12)]) else { throw damaged(path, faults) }
        numbers.append(number)
      }
      guard numbers.count <= 2 * SparseMap.pieceLimit else { throw tooMany(path, faults) }
    }
    try take(header[386..<482])
    var isContinued = header[482] != 0
    while isContinued {
      let block = try input.bytes(TarContainer.blockByteCount, "a sparse file")
      try take(block[..<504])
      isContinued = block[504] != 0
    }
    guard let byteCount = ForeignTarHeader.number(header[483..<495]),
      let map = SparseMap(numbers: numbers, byteCount: byteCount)
    else { throw damaged(path, faults) }
    return map
  }

  private static func tooMany(_ path: [UInt8], _ faults: ArchiveFaults) -> PackStoreError {
    faults.refused(
      path, "a sparse file of more than \(SparseMap.pieceLimit) pieces",
      remedy: "create it again without --sparse (bsdtar: --no-read-sparse)")
  }

  private static func number(_ digits: some Collection<UInt8>) -> UInt64? {
    digits.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
      ? UInt64(String(decoding: Array(digits), as: UTF8.self)) : nil
  }
}
