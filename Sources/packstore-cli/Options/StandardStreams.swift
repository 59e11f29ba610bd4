/// Archives on standard input and standard output: `-` instead of a file's name.

import PackArchives
import PackFormats
import PackStore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// An archive from standard input. It is copied to a file in TMPDIR, because archives are not read in sequence.
struct SpooledInput {
  private let folder: TemporaryFolder
  let path: String

  /// Copies standard input up to its end.
  ///
  /// - Throws: `usage` if standard input is a terminal; `wrongKind` or `refused`, before anything is written, if it does not begin
  ///   like an archive; `noSpace` if it is longer than nine tenths of the free space.
  init() throws {
    guard isatty(STDIN_FILENO) == 0 else {
      throw Failure(
        .usage, "standard input: a terminal, not an archive",
        remedy: "pipe an archive into it, as in 'cat Assets.tar | packstore ...'")
    }
    let start = try Self.readStart()
    // The command reports a delta itself.
    if PackFileKind(start: start) == .other { try ForeignArchive.checkStart(start, name: "standard input") }
    folder = try TemporaryFolder()
    path = folder.path + "/standard-input"
    do {
      try Self.copy(after: start, to: FilePath(path))
    } catch {
      folder.remove()
      throw error
    }
  }

  func remove() { folder.remove() }

  /// Reads the first bytes, enough to identify the kind of archive.
  private static func readStart() throws -> [UInt8] {
    var start: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: ForeignArchive.startByteCount)
    while start.count < buffer.count {
      let count = try buffer.withUnsafeMutableBytes { try readSome(into: .init(rebasing: $0[start.count...])) }
      guard count > 0 else { break }
      start += buffer[start.count..<start.count + count]
    }
    return start
  }

  private static func copy(after start: [UInt8], to path: FilePath) throws {
    let output = try NewFile(FilePlace(path))
    let folder = path.removingLastComponent().string, free = freeByteCount(folder)
    // 0 means unknown: then only a failing write reports a full disk.
    var left = free > 0 ? free - free / 10 : .max
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    try output.write(start)
    while true {
      let count = try buffer.withUnsafeMutableBytes { try readSome(into: $0) }
      guard count > 0 else { return }
      guard UInt64(count) <= left else {
        throw Failure(
          .noSpace, "standard input: longer than the free space in TMPDIR",
          remedy: "set TMPDIR to a folder with more space, or save the archive and name its file", path: folder)
      }
      left -= UInt64(count)
      try buffer.withUnsafeBytes { try output.write(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }
  }

  /// Reads at least one byte, and returns the number of bytes; 0 at the end.
  private static func readSome(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    while true {
      try Task.checkCancellation()
      let count = read(STDIN_FILENO, buffer.baseAddress, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else {
        throw Failure(FailureCode(systemError: errno), "standard input: cannot read: \(systemErrorText())")
      }
      return count
    }
  }
}

/// The archive that a command writes: the file that the user named, or for `-` a file in TMPDIR.
///
/// For `-`, the file is written to standard output at the end, and the command's report to standard error.
struct ArchiveOutput {
  private let folder: TemporaryFolder?
  let path: String

  private var isStandardOutput: Bool { folder != nil }

  /// - Parameters:
  ///   - name: the name that the user gave.
  ///   - force: whether to replace an existing file.
  init(_ name: String, force: Bool) throws {
    guard name == "-" else {
      folder = nil
      path = try outputFile(name, force: force)
      return
    }
    guard isatty(STDOUT_FILENO) == 0 else {
      throw Failure(
        .usage, "standard output: a terminal, which cannot show an archive", remedy: "name a file, or redirect it")
    }
    let folder = try TemporaryFolder()
    self.folder = folder
    path = folder.path + "/archive.pack"
  }

  /// Writes the file to standard output if the name is `-`.
  func finish() throws {
    guard isStandardOutput, pathExists(FilePath(path)) else { return }
    let file = try InputFile(FilePath(path))
    let output = Output(), byteCount = try file.byteCount
    var buffer = [UInt8](repeating: 0, count: 1 << 20), offset: UInt64 = 0
    while offset < byteCount {
      let count = try buffer.withUnsafeMutableBytes { try file.read(at: offset, into: $0) }
      guard count > 0 else { break }
      try buffer.withUnsafeMutableBytes { try output.write(Slice(base: $0, bounds: 0..<count)) }
      offset += UInt64(count)
    }
  }

  func remove() { folder?.remove() }

  /// Returns the stream for the command's report.
  func reportOutput() -> Output { Output(isStandardOutput ? STDERR_FILENO : STDOUT_FILENO) }
}
