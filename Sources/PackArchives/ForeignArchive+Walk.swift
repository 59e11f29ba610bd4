public import PackStore

extension ForeignArchive {
  /// A file, folder or link of an archive.
  public struct Entry: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
      case file(byteCount: UInt64, isExecutable: Bool)
      case folder
      /// A symbolic link. Its target is only data: it is neither followed nor changed.
      case link(target: String)
    }

    public var path: String
    public var kind: Kind
  }

  /// The totals of an archive.
  public struct Totals: Hashable, Sendable {
    public var fileCount = 0
    public var linkCount = 0
    /// Folders with an entry of their own.
    public var folderCount = 0
    public var byteCount: UInt64 = 0
  }

  /// Reads the whole archive, and returns its totals. Content that cannot be installed is an error here too.
  @discardableResult
  public func list(_ visit: (Entry) throws -> Void) throws -> Totals {
    var walk = try ArchiveWalk(self, into: nil)
    return try walk.run(visit: visit) { _ in }
  }

  /// Unpacks the archive into an empty folder.
  ///
  /// - Parameters:
  ///   - folder: an empty folder.
  ///   - visit: called for each entry, after it was written.
  ///   - progress: called after each entry, and after every 256 KiB.
  /// - Throws: `corrupt` and `refused` for the archive, `noSpace` and `ioError` for the folder, `CancellationError`. Written files
  ///   stay.
  @discardableResult
  public func unpack(
    into folder: FilePath, visit: ((Entry) throws -> Void)? = nil, progress: ((Totals) -> Void)? = nil
  ) throws -> Totals {
    var walk = try ArchiveWalk(self, into: FolderBuilder(folder))
    return try walk.run(visit: visit ?? { _ in }, progress: progress ?? { _ in })
  }
}

/// A walk through an archive, from its first entry to its last.
private struct ArchiveWalk: ~Copyable {
  private static let bufferByteCount = 256 << 10

  private var reader: any ContainerReader
  private var budget: ByteBudget
  private let faults: ArchiveFaults
  private let folder: FolderBuilder?
  private var table: EntryTable
  private var totals = ForeignArchive.Totals()
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bufferByteCount, alignment: 16)

  init(_ archive: ForeignArchive, into folder: FolderBuilder?) throws {
    (reader, budget, faults) = try archive.open()
    table = EntryTable(limit: archive.limits.entryCount, faults)
    self.folder = folder
  }

  deinit { buffer.deallocate() }

  mutating func run(
    visit: (ForeignArchive.Entry) throws -> Void, progress: (ForeignArchive.Totals) -> Void
  ) throws -> ForeignArchive.Totals {
    while let entry = try reader.next() {
      try Task.checkCancellation()
      let path = try EntryPath(entry.path, faults)
      if path.bytes.isEmpty {
        guard entry.kind == .folder else { throw faults.refused("contains a file or link without a name") }
        continue
      }
      guard let kind = try take(entry, at: path, progress) else { continue }
      try visit(.init(path: path.text, kind: kind))
      progress(totals)
    }
    return totals
  }

  /// Returns `nil` for an entry that adds nothing.
  private mutating func take(
    _ entry: ContainerEntry, at path: EntryPath, _ progress: (ForeignArchive.Totals) -> Void
  ) throws -> ForeignArchive.Entry.Kind? {
    switch entry.kind {
    case .folder:
      try table.insert(path, .folder)
      try folder?.makeFolder(path.bytes)
      totals.folderCount += 1
      return .folder
    case .link(let target):
      guard !target.isEmpty, target.count <= EntryPath.byteLimit, !target.contains(0) else {
        throw faults.refused(path.bytes, "a link whose target is empty, too long, or has a NUL")
      }
      return try addLink(path, to: target)
    case .hardLink(let target):
      let file = try EntryPath(target, faults)
      // GNU tar and bsdtar ignore a file that links to itself.
      if file == path, table.hasFileOrLink(path) { return nil }
      if let target = table.target(ofLink: file) { return try addLink(path, to: target) }
      return .file(
        byteCount: try addName(path, of: file, isExecutable: entry.isExecutable), isExecutable: entry.isExecutable)
    case .file(let byteCount):
      try table.insert(path, .file, byteCount: byteCount)
      try copyFile(entry, at: path, byteCount, progress)
      totals.fileCount += 1
      return .file(byteCount: byteCount, isExecutable: entry.isExecutable)
    }
  }

  private mutating func addLink(_ path: EntryPath, to target: [UInt8]) throws -> ForeignArchive.Entry.Kind {
    try table.insertLink(path, to: target)
    try folder?.makeLink(path.bytes, to: target)
    totals.linkCount += 1
    return .link(target: String(decoding: target, as: UTF8.self))
  }

  /// Adds a hard link as a separate file, because a store keeps equal bytes once.
  private mutating func addName(_ path: EntryPath, of file: EntryPath, isExecutable: Bool) throws -> UInt64 {
    guard let byteCount = table.byteCount(ofFile: file) else {
      throw faults.refused(path.bytes, "a hard link to '\(shown(file.bytes))', which is not an earlier file")
    }
    try budget.take(byteCount)
    try table.insert(path, .file, byteCount: byteCount)
    try folder?.addName(path.bytes, of: file.bytes, isExecutable: isExecutable)
    totals.fileCount += 1
    totals.byteCount += byteCount
    return byteCount
  }

  private mutating func copyFile(
    _ entry: ContainerEntry, at path: EntryPath, _ byteCount: UInt64, _ progress: (ForeignArchive.Totals) -> Void
  ) throws {
    try budget.take(byteCount)
    var file = try folder?.makeFile(path.bytes, isExecutable: entry.isExecutable, byteCount: byteCount)
    while case let count = try fillBuffer(), count > 0 {
      try Task.checkCancellation()
      try file?.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      totals.byteCount += UInt64(count)
      progress(totals)
    }
    try file?.finish()
  }

  /// Fills the buffer with bytes of the present file, fewer only at its end: pieces of equal length begin at whole blocks of the file,
  /// so that no block of zeros is split.
  private mutating func fillBuffer() throws -> Int {
    var filled = 0
    while filled < buffer.count {
      let count = try reader.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]))
      if count == 0 { break }
      filled += count
    }
    return filled
  }
}
