/// Archives that come from a pipe, or go into one: `-` in the place of a file's name.

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

/// An archive from standard input. Archives are read out of order, so it is copied to a file in TMPDIR.
struct SpooledInput {
  private let folder: TemporaryFolder
  let path: String

  /// Copies standard input up to its end.
  ///
  /// - Throws: `wrongKind` and `refused`, before anything is written, if it does not begin as an archive does; `noSpace` if it would
  ///   take the last tenth of the disk.
  init() throws {
    guard isatty(STDIN_FILENO) == 0 else {
      throw Failure(
        .usage, "standard input: a terminal, not an archive",
        remedy: "pipe an archive into it, as in 'cat Assets.tar | packstore ...'")
    }
    let start = try Self.readStart()
    // A delta has an error of its own.
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

  /// The first bytes, as many as decide what kind of archive it is.
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
    // 0: that cannot be found out, and the disk is full when it is full.
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

  /// Reads at least one byte; 0 at the end.
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

/// The archive that a command makes: a file that was named, or, for `-`, one in TMPDIR that goes to standard output at the end.
/// The command's report then goes to standard error.
struct ArchiveOutput {
  private let folder: TemporaryFolder?
  let path: String

  private var isStandardOutput: Bool { folder != nil }

  /// - Parameters:
  ///   - name: as it was given.
  ///   - force: a file of that name is replaced.
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

  /// Writes the file to standard output, if requested with `-`.
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

  /// Where the command's report goes.
  func reportOutput() -> Output { Output(isStandardOutput ? STDERR_FILENO : STDOUT_FILENO) }
}
