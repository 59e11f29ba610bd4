import PackStore

/// The path of an entry in the store's form: relative, `/`-separated, UTF-8.
package struct EntryPath: Hashable {
  /// The store's limit, in bytes.
  package static let byteLimit = 4095
  static let partLimit = 255
  static let depthLimit = 2000

  /// The bytes, without a trailing slash; empty for the archived folder itself.
  package let bytes: [UInt8]

  /// - Parameter raw: the path in the archive: `.` parts and a trailing slash are ignored.
  package init(_ raw: [UInt8], _ faults: ArchiveFaults) throws {
    func refuse(_ finding: String) -> PackStoreError { faults.refused(raw, finding) }
    guard String(validating: raw, as: UTF8.self) != nil else { throw refuse("whose name is not UTF-8") }
    guard !raw.contains(0) else { throw refuse("whose name has a NUL") }
    guard raw.first != UInt8(ascii: "/") else { throw refuse("whose name is absolute") }
    let text = raw.last == UInt8(ascii: "/") ? raw.dropLast() : raw[...]
    var parts = text.isEmpty ? [] : text.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    parts.removeAll { $0.elementsEqual(".".utf8) }
    for part in parts {
      guard !part.isEmpty else { throw refuse("whose name has an empty part") }
      guard !part.elementsEqual("..".utf8) else { throw refuse("whose name has a part '..'") }
      guard part.count <= Self.partLimit else {
        throw refuse("whose name has a part of more than \(Self.partLimit) bytes")
      }
    }
    guard parts.count <= Self.depthLimit else { throw refuse("which is more than \(Self.depthLimit) folders deep") }
    bytes = Array(parts.joined(separator: [UInt8(ascii: "/")]))
    guard bytes.count <= Self.byteLimit else { throw refuse("whose name has more than \(Self.byteLimit) bytes") }
  }

  var text: String { String(decoding: bytes, as: UTF8.self) }

  /// The parts of the path.
  fileprivate var names: [ArraySlice<UInt8>] {
    bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
  }
}

/// The entries so far: no two may have the same path, and none may be below an entry that is not a folder.
struct EntryTable {
  enum Kind: UInt8 {
    case folder
    /// A folder without an entry, implied by the entries in it.
    case impliedFolder
    case file, link
  }

  /// Two hashes of a path with random seeds, for which no archive can produce collisions. Storing paths would take too much memory.
  private struct Key: Hashable {
    let first: Int
    let second: Int

    /// Hashes a whole path.
    init(_ path: EntryPath) {
      var hashes = Hashes()
      for name in path.names { hashes.add(name) }
      self = hashes.key
    }

    fileprivate init(first: Int, second: Int) {
      self.first = first
      self.second = second
    }
  }

  /// The hashes of a path that grows by one name at a time. The hashes of all its parent folders take only one pass.
  private struct Hashes {
    private var first = Hasher()
    private var second = Hasher()

    init() {
      first.combine(1 as UInt8)
      second.combine(2 as UInt8)
    }

    mutating func add(_ name: ArraySlice<UInt8>) {
      name.withUnsafeBytes {
        first.combine(bytes: $0)
        second.combine(bytes: $0)
      }
      first.combine(UInt8(ascii: "/"))
      second.combine(UInt8(ascii: "/"))
    }

    var key: Key {
      let first = self.first, second = self.second
      return Key(first: first.finalize(), second: second.finalize())
    }
  }

  private struct Record {
    var kind: Kind
    /// The length of a file.
    var byteCount: UInt64 = 0
  }

  private let limit: Int
  private let faults: ArchiveFaults
  private var records: [Key: Record] = [:]

  /// Targets of links, for hard links to them, up to ``targetLimit`` bytes in total.
  private var targets: [Key: [UInt8]] = [:]
  private var targetByteCount = 0
  private static let targetLimit = 16 << 20

  init(limit: Int, _ faults: ArchiveFaults) {
    self.limit = limit
    self.faults = faults
  }

  /// Returns the length of an earlier file; `nil` if it does not exist.
  func byteCount(ofFile path: EntryPath) -> UInt64? {
    guard let record = records[Key(path)], record.kind == .file else { return nil }
    return record.byteCount
  }

  /// Returns the target of an earlier link; `nil` if it is unknown.
  func target(ofLink path: EntryPath) -> [UInt8]? { targets[Key(path)] }

  /// Whether an earlier file or link has the path.
  func hasFileOrLink(_ path: EntryPath) -> Bool {
    let kind = records[Key(path)]?.kind
    return kind == .file || kind == .link
  }

  /// Inserts a link.
  ///
  /// - Throws: `refused` if the path conflicts with another entry, or there are too many entries.
  mutating func insertLink(_ path: EntryPath, to target: [UInt8]) throws {
    try insert(path, .link)
    targetByteCount += target.count
    if targetByteCount <= Self.targetLimit { targets[Key(path)] = target }
  }

  /// - Throws: `refused` if the path conflicts with another entry, or there are too many entries.
  mutating func insert(_ path: EntryPath, _ kind: Kind, byteCount: UInt64 = 0) throws {
    var hashes = Hashes()
    let names = path.names
    for name in names.dropLast() {
      hashes.add(name)
      switch try insert(hashes.key, Record(kind: .impliedFolder)) {
      case .file?: throw faults.refused(path.bytes, "which is below a file")
      case .link?: throw faults.refused(path.bytes, "which is below a link")
      default: break
      }
    }
    if let name = names.last { hashes.add(name) }
    let key = hashes.key
    guard let before = try insert(key, Record(kind: kind, byteCount: byteCount)) else { return }
    switch (before, kind) {
    case (.folder, .folder): break
    case (.impliedFolder, .folder): records[key]?.kind = .folder
    case (.impliedFolder, _): throw faults.refused(path.bytes, "which has entries below it")
    default: throw faults.refused(path.bytes, "twice")
    }
  }

  /// Returns the kind of an existing entry, which stays.
  private mutating func insert(_ key: Key, _ record: Record) throws -> Kind? {
    if let before = records[key] { return before.kind }
    guard records.count < limit else {
      throw faults.refused("has more than \(limit) entries", remedy: "split it into several packs")
    }
    records[key] = record
    return nil
  }
}
