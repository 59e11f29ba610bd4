/// Functions for folders outside stores.

import PackStore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  // In whole-module builds, the compiler attributes `stat` to CoreFoundation, so its members need this import.
  import CoreFoundation
  import Glibc
#endif

/// Fails unless `path` is a readable folder or a link to one.
func requireFolder(_ path: String) throws {
  var info = stat()
  guard stat(path, &info) == 0 else {
    let number = errno
    throw Failure(
      FailureCode(systemError: number), "'\(escaped(path))': cannot read the folder: \(systemErrorText(number))",
      path: path)
  }
  guard info.st_mode & S_IFMT == S_IFDIR else {
    throw Failure(
      .wrongKind, "'\(escaped(path))': not a folder", remedy: "name the folder that contains it", path: path)
  }
  guard access(path, R_OK | X_OK) == 0 else {
    throw Failure(
      FailureCode(systemError: errno), "'\(escaped(path))': cannot read the folder: \(systemErrorText())",
      remedy: "let this user read it", path: path)
  }
}

/// Fails if nothing exists at `path`.
func requireSource(_ path: String) throws {
  var info = stat()
  guard stat(path, &info) == 0 else {
    let number = errno
    throw Failure(
      FailureCode(systemError: number), "'\(escaped(path))': cannot read the archive: \(systemErrorText(number))",
      path: path)
  }
}

/// Fails if `folder` is the store or is inside it: files written there would mix with the store's own files.
func requireOutside(_ folder: String, of store: String) throws {
  // If the folder does not exist yet, its nearest existing parent decides.
  var existing = FilePath(folder)
  while realPath(existing.string) == nil, !existing.removingLastComponent().isEmpty { existing.removeLastComponent() }
  let place = realPath(existing.string) ?? realPath(".")
  guard let resolvedStore = realPath(store), let resolved = place else { return }
  if (resolved + "/").utf8.starts(with: (resolvedStore + "/").utf8) {
    throw Failure(
      .invalidArgument, "'\(escaped(folder))': inside the store", remedy: "name another folder", path: folder)
  }
}

/// Whether opening `path` would create a store: `path` does not exist, or it is an empty folder.
func isVacant(_ path: String) -> Bool {
  guard pathExists(FilePath(path)) else { return !path.isEmpty }
  guard isFolder(FilePath(path)) else { return false }
  return (try? namesInFolder(FilePath(path)).isEmpty) ?? false
}

/// Opens a store for a command that creates a missing store.
///
/// If the command fails, the new store is deleted, so that no empty store remains. A folder that existed before is not deleted.
func withStore<Result>(
  _ named: StoreArgument, options: Store.Options, _ body: (Store) async throws -> Result
) async throws -> Result {
  let path = FilePath(named.store)
  let isNew = !pathExists(path)
  do {
    return try await body(named.open(options))
  } catch {
    if isNew { Store.removeUnused(at: path) }
    throw error
  }
}

private func realPath(_ path: String) -> String? {
  guard let resolved = realpath(path, nil) else { return nil }
  defer { free(resolved) }
  return String(cString: resolved)
}

/// Returns the error to throw. If it is a refusal, prints the files of the folder or archive that cannot be stored.
func explainRefusal(
  _ error: PackStoreError, of name: String, _ kind: SourceOptions.Source = .folder, portable: Bool = false, quiet: Bool
) -> any Error {
  // A refused list of patterns has no notices.
  guard error.code == .refused, !error.notices.isEmpty else { return error }
  for notice in error.notices {
    let isRefusal = !notice.kind.isWarning && (notice.kind != .twin || portable)
    if isRefusal {
      complain(escapedText(notice.description))
    } else if !quiet {
      warn(.init(notice.kind), escapedText(notice.description))
    }
  }
  let kinds = Set(error.notices.map(\.kind))
  let unsafe = kinds.contains(.linkOut) ? ", or follow such links with --unsafe-links" : ""
  let isRefusedAccess = error.notices.contains { [.permissionDenied, .notPermitted].contains($0.systemError) }
  let change =
    switch kinds {
    case [.unreadable] where isRefusedAccess: "let this user read the listed files, or remove them"
    case [.unreadable]: "check the disk for errors, or remove the listed files"
    case [.secret]: "move the key out of it, or skip it with --exclude"
    default: "rename or remove the listed files"
    }
  var failure = Failure(
    .refused, "'\(escaped(name))': the \(kind) contains files that cannot be stored", remedy: change + unsafe,
    path: name)
  failure.facts.notices = error.notices
  return failure
}

/// A new empty folder for temporary files. Its creator calls ``remove()``.
struct TemporaryFolder {
  let path: String

  /// Creates a folder in TMPDIR, or in `/tmp` if TMPDIR is not set or empty.
  init() throws { try self.init(in: Self.standardParent) }

  /// Creates a folder on a disk with at least `room` free bytes.
  ///
  /// It tries TMPDIR first, then `/tmp`, `/var/tmp` and `/dev/shm`. If all have less space, it uses TMPDIR.
  init(room: UInt64) throws {
    let others = ["/tmp", "/var/tmp", "/dev/shm"].filter { access($0, W_OK | X_OK) == 0 && freeByteCount($0) >= room }
    let standard = Self.standardParent
    try self.init(in: freeByteCount(standard) >= room ? standard : others.first ?? standard)
  }

  private static var standardParent: String {
    guard let value = getenv("TMPDIR"), value.pointee != 0 else { return "/tmp" }
    return String(cString: value)
  }

  private init(in parent: String) throws {
    do {
      path = try makeTemporaryFolder(in: FilePath(parent)).string
    } catch let error as PackStoreError {
      let cause = error.systemError?.description ?? error.reason
      throw Failure(
        FailureCode(error.code), "'\(escaped(parent))': cannot create a folder: \(cause)",
        remedy: "set TMPDIR to a folder with free space", path: parent)
    }
  }

  func remove() { removeTree(FilePath(path)) }
}
