import CPackArchives
import PackArchives
public import PackStore

/// Writes an Apple Archive: equal entries give equal bytes, on any machine, for any user and at any time.
///
/// Entries keep the order in which they are added. Owner and group are 0, the mode is 0644 or 0755, and the time is the one passed
/// in. `Docs/ForeignArchives.md` describes the format; the output has not been tested with Apple's tools.
public final class AppleArchiveWriter {
  /// The encoding of content.
  public enum Coding: Sendable {
    /// Without compression.
    case stored
    /// With deflate, if it makes a block shorter.
    case deflate
  }

  /// The same size as in Apple's `ba-package`.
  static let blockByteCount = 1 << 20

  private let file: FilePlace
  /// The file to write; `nil` for a dry run.
  private let output: NewFile?
  private let coding: Coding
  private let modifiedAt: UInt64
  private var block: [UInt8] = []
  private var byteCount: UInt64 = 0
  private var hasFinished = false

  /// Begins an archive in a draft next to `path`; ``finish(replacing:)`` renames it.
  ///
  /// - Parameters:
  ///   - path: the path of the archive.
  ///   - coding: the encoding of blocks.
  ///   - modifiedAt: the time of all entries, in seconds since 1970.
  ///   - isDryRun: whether to measure the archive without writing it.
  public init(
    _ path: FilePath, coding: Coding = .deflate, modifiedAt: UInt64 = 0, isDryRun: Bool = false
  ) throws {
    try requireName(path)
    file = FilePlace(path)
    output = isDryRun ? nil : try NewFile(FilePlace(draftPath(nextTo: path, ending: ".partial")))
    self.coding = coding
    self.modifiedAt = modifiedAt
    block.reserveCapacity(Self.blockByteCount)
    // Stored blocks are equal in all kinds of archives. An archive with only such blocks is marked as LZFSE, as by Apple's tools.
    try write(Array((coding == .deflate ? "pbzz" : "pbze").utf8) + bigEndian(UInt64(Self.blockByteCount)))
  }

  deinit { if let output, !hasFinished { try? removeFile(output.place) } }

  public func addFolder(_ path: String) throws { try add(fields("D", path, mode: 0o755)) }

  /// Adds a symbolic link, without checking its target.
  public func addLink(_ path: String, to target: String) throws { try addLink(path, to: Array(target.utf8)) }

  /// Adds a symbolic link whose target may not be UTF-8.
  func addLink(_ path: String, to target: [UInt8]) throws {
    guard (1...EntryPath.byteLimit).contains(target.count) else {
      throw PackStoreError(
        .invalidArgument, "the link's target does not have 1 to \(EntryPath.byteLimit) bytes", about: .path(path))
    }
    try add(fields("L", path, mode: 0o755) + text("LNK", target))
  }

  /// Adds the content of a file.
  ///
  /// - Throws: `sourceChanged` if the file shrinks during the call.
  public func addFile(_ path: String, isExecutable: Bool = false, from source: FilePath) throws {
    let source = try InputFile(source)
    let byteCount = try source.byteCount
    try beginFile(path, isExecutable: isExecutable, byteCount: byteCount)
    var done: UInt64 = 0
    while done < byteCount {
      try Task.checkCancellation()
      let bytes = try source.bytes(at: done, upTo: Int(min(byteCount - done, UInt64(Self.blockByteCount))))
      guard !bytes.isEmpty else { throw PackStoreError(.sourceChanged, "truncated while it was read", file: path) }
      try append(bytes)
      done += UInt64(bytes.count)
    }
  }

  /// Adds bytes as a file.
  public func addFile(_ path: String, bytes: [UInt8]) throws {
    try beginFile(path, isExecutable: false, byteCount: UInt64(bytes.count))
    try append(bytes)
  }

  /// Begins a file with `byteCount` bytes of content, which ``append(_:)`` adds.
  func beginFile(_ path: String, isExecutable: Bool, byteCount: UInt64) throws {
    try add(fields("F", path, mode: isExecutable ? 0o755 : 0o644) + content(byteCount))
  }

  /// Ends the archive, makes it durable and renames it.
  ///
  /// - Parameter replacing: whether to replace an existing file.
  /// - Returns: the length of the archive in bytes.
  /// - Throws: `exists` for a file that must not be replaced.
  @discardableResult
  public func finish(replacing: Bool = false) throws -> UInt64 {
    try writeBlock()
    hasFinished = output == nil
    guard let output else { return byteCount }
    try output.sync()
    try place(output.place, at: file, replacing: replacing)
    if !replacing { try removeFile(output.place) }
    hasFinished = true
    try syncFolder(file.folder)
    return byteCount
  }

  // MARK: - Fields

  private func fields(_ kind: Character, _ path: String, mode: UInt16) throws -> [UInt8] {
    _ = try EntryPath(Array(path.utf8), ArchiveFaults(file: file.text))
    let name = text("PAT", Array(path.utf8))
    return Array("TYP1".utf8) + [kind.asciiValue!] + name + Array("UID1".utf8) + [0] + Array("GID1".utf8) + [0]
      + Array("MOD2".utf8) + littleEndian(mode) + Array("FLG1".utf8) + [0] + Array("MTMT".utf8)
      + littleEndian(modifiedAt) + littleEndian(UInt32(0))
  }

  /// - Precondition: the value has less than 64 KiB, like all checked paths.
  private func text(_ key: String, _ value: [UInt8]) -> [UInt8] {
    Array(key.utf8) + Array("P".utf8) + littleEndian(UInt16(value.count)) + value
  }

  private func content(_ byteCount: UInt64) -> [UInt8] {
    if let short = UInt16(exactly: byteCount) { return Array("DATA".utf8) + littleEndian(short) }
    if let long = UInt32(exactly: byteCount) { return Array("DATB".utf8) + littleEndian(long) }
    return Array("DATC".utf8) + littleEndian(byteCount)
  }

  private func littleEndian(_ number: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: number.littleEndian, Array.init)
  }

  private func bigEndian(_ number: UInt64) -> [UInt8] { withUnsafeBytes(of: number.bigEndian, Array.init) }

  private func add(_ fields: [UInt8]) throws {
    // Two texts of at most 4,095 bytes each and fixed fields fit into the 16 bits.
    try append(Array("AA01".utf8) + littleEndian(UInt16(fields.count + 6)) + fields)
  }

  // MARK: - Blocks

  func append(_ bytes: [UInt8]) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      let part = rest.prefix(Self.blockByteCount - block.count)
      block += part
      rest = rest.dropFirst(part.count)
      if block.count == Self.blockByteCount { try writeBlock() }
    }
  }

  private func writeBlock() throws {
    guard !block.isEmpty else { return }
    let stored = encoded(block)
    try write(bigEndian(UInt64(block.count)) + bigEndian(UInt64(stored.count)) + stored)
    block.removeAll(keepingCapacity: true)
  }

  private func encoded(_ block: [UInt8]) -> [UInt8] {
    guard coding == .deflate else { return block }
    let encoded = [UInt8](unsafeUninitializedCapacity: block.count) { target, count in
      count = pka_deflate_encode(block, block.count, target.baseAddress!)
    }
    return encoded.isEmpty ? block : encoded
  }

  private func write(_ bytes: [UInt8]) throws {
    try output?.write(bytes)
    byteCount += UInt64(bytes.count)
  }
}
