/// Archives that come from a pipe, or go into one: `-` in the place of a file's name.

import PackStore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// An archive from standard input. Archives are read out of order, so it is a file meanwhile, in TMPDIR.
struct SpooledInput {
  private let folder: TemporaryFolder
  let path: String

  /// Copies standard input up to its end.
  init() throws {
    guard isatty(STDIN_FILENO) == 0 else {
      throw Failure(
        .usage, "standard input: a terminal, not an archive",
        remedy: "pipe an archive into it, as in 'cat Assets.tar | packstore ...'")
    }
    folder = try TemporaryFolder()
    path = folder.path + "/standard-input"
    do {
      try Self.copy(to: FilePath(path))
    } catch {
      folder.remove()
      throw error
    }
  }

  func remove() { folder.remove() }

  private static func copy(to path: FilePath) throws {
    let output = try NewFile(FilePlace(path))
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    while true {
      try Task.checkCancellation()
      let count = buffer.withUnsafeMutableBytes { read(STDIN_FILENO, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else {
        throw Failure(FailureCode(systemError: errno), "standard input: cannot read: \(systemErrorText())")
      }
      guard count > 0 else { return }
      try buffer.withUnsafeBytes { try output.write(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }
  }
}

/// The archive that a command makes: a file that was named, or, for `-`, one in TMPDIR that goes to standard output at the end.
/// What the command says goes to standard error then.
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

  /// Hands the file on, if that is what it is for.
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
