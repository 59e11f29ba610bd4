#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

import Synchronization

// The output of an extraction: files relative to a folder's descriptor, and never through a link.

/// The descriptor of an output folder.
struct OutputFolder: ~Copyable, Sendable {
  let descriptor: CInt

  /// Opens the folder at `path`, which may contain links, because the caller chose it. Creates the folder and its parents if
  /// necessary.
  init(making path: FilePath) throws {
    try makeFolder(path)
    descriptor = try openFolder(path)
  }

  deinit { close(descriptor) }
}

/// A file being written, possibly by several threads. It ends with ``finish(in:)`` or ``discard(in:)``.
final class OutputFile: Sendable {
  private let descriptor: CInt
  private let path: ExtractPath

  /// The temporary name until the file is complete, if it replaces another file.
  private let draft: String?

  /// The size of a file with holes in place of zeros; `nil` for a file without holes.
  private let sparseByteCount: UInt64?

  /// Whether zeros were skipped, so that the end of the file may be missing.
  private let hasHoles = Atomic(false)

  /// Creates the file `path`, whose name is relative to `folder`. An existing file is replaced, if allowed, by ``finish(in:)``, and
  /// a link is never followed.
  ///
  /// - Parameters:
  ///   - twins: the paths of the extraction: none replaces another.
  ///   - sparseByteCount: the size of the whole file, which gets holes in place of long runs of zeros; by default no holes.
  init(
    _ path: ExtractPath, in folder: CInt, executable: Bool, replacing: Bool, twins: TwinNames? = nil,
    sparseByteCount: UInt64? = nil
  ) throws {
    let mode: mode_t = executable ? 0o755 : 0o644
    (descriptor, draft) = try create(path, in: folder, replacing: replacing, twins) { name in
      try openNewFile(name, in: folder, mode: mode, path: path.text)
    }
    self.path = path
    self.sparseByteCount = sparseByteCount
  }

  deinit { close(descriptor) }

  /// Renames the complete file to its final name, and replaces an existing file.
  func finish(in folder: CInt) throws {
    try completeSize()
    if let draft { try renameDraft(draft, to: path, in: folder) }
  }

  /// Adds the hole at the end of the file, if there is one.
  func completeSize() throws {
    if let sparseByteCount, hasHoles.load(ordering: .acquiring) { try extend(to: sparseByteCount) }
  }

  /// Deletes an incomplete file. An existing file stays.
  func discard(in folder: CInt) {
    if let draft {
      unlinkat(folder, draft, 0)
    } else {
      _ = path.withName { unlinkat(folder, $0, 0) }
    }
  }

  /// Writes a range that was not written before.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws {
    guard sparseByteCount != nil else { return try writeAll(bytes, to: descriptor, at: offset, path: path.text) }
    let data = ZeroBlocks.data(of: bytes, at: offset)
    if data.lazy.map(\.count).reduce(0, +) < bytes.count { hasHoles.store(true, ordering: .releasing) }
    for range in data {
      try writeAll(
        UnsafeRawBufferPointer(rebasing: bytes[range]), to: descriptor, at: offset + UInt64(range.lowerBound),
        path: path.text)
    }
  }

  /// Extends the file to its full length, if it ends with a hole.
  private func extend(to byteCount: UInt64) throws {
    guard let size = off_t(exactly: byteCount) else {
      throw PackStoreError("cannot write", path.text, .fileTooLarge)
    }
    try systemCall("cannot write", path.text) { ftruncate(descriptor, size) }
  }
}

/// Creates a symbolic link whose name is relative to `folder`. Its target is any bytes except NUL, as stored.
func makeLink(
  _ path: ExtractPath, to target: UnsafeRawBufferPointer, in folder: CInt, replacing: Bool, twins: TwinNames? = nil
) throws {
  let text = target.map(CChar.init(bitPattern:)) + [0]
  let (_, draft) = try create(path, in: folder, replacing: replacing, twins) { name in
    try systemCall("cannot create", path.text) {
      text.withUnsafeBufferPointer { symlinkat($0.baseAddress!, folder, name) }
    }
  }
  guard let draft else { return }
  do {
    try renameDraft(draft, to: path, in: folder)
  } catch {
    unlinkat(folder, draft, 0)
    throw error
  }
}

/// Creates a folder if the name is free, and returns whether it did.
func makeFolder(_ name: UnsafePointer<CChar>, in folder: CInt, path: @autoclosure () -> String) throws -> Bool {
  let isNew = mkdirat(folder, name, 0o777) == 0
  guard isNew || errno == EEXIST else { throw PackStoreError("cannot create", path(), Errno(rawValue: errno)) }
  return isNew
}

func processorCount() -> Int { max(sysconf(CInt(_SC_NPROCESSORS_ONLN)), 1) }

/// Calls `make`, which throws `exists` if the name is taken. To replace a file, creates the new one under a temporary name, which
/// is returned, so that the old file stays until the new one is complete.
private func create<Result>(
  _ path: ExtractPath, in folder: CInt, replacing: Bool, _ twins: TwinNames?,
  _ make: (UnsafePointer<CChar>) throws -> Result
) throws -> (Result, draft: String?) {
  do {
    return (try path.withName(make), nil)
  } catch let error as PackStoreError where error.code == .exists {
    try twins?.check(path.relative, in: folder)
    guard replacing else { throw error }
    try refuseFolder(path, in: folder)
    let draft = ".packstore-\(UInt64.random(in: 0 ... .max))"
    return (try draft.withCString(make), draft)
  }
}

/// Refuses at once, before the bytes are written, to replace a folder by a file.
private func refuseFolder(_ path: ExtractPath, in folder: CInt) throws {
  guard path.withName({ !isFolder($0, in: folder) }) else {
    throw PackStoreError("cannot replace", path.text, .isDirectory)
  }
}

private func renameDraft(_ draft: String, to path: ExtractPath, in folder: CInt) throws {
  try systemCall("cannot replace", path.text) {
    draft.withCString { draft in path.withName { systemRename(draft, folder, $0, folder) } }
  }
}
