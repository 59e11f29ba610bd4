#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

// Creates, moves, lists and removes names of files and folders. These calls never follow links: they change the name itself, not
// the target of a link.

/// Whether `path` exists; follows links.
package func pathExists(_ path: FilePath) -> Bool { path.withPlatformString { access($0, F_OK) } == 0 }

/// Whether `path` is a folder; follows links.
package func isFolder(_ path: FilePath) -> Bool {
  var status = stat()
  return path.withPlatformString { stat($0, &status) } == 0 && status.st_mode & S_IFMT == S_IFDIR
}

/// Returns a path to the same file without symbolic links; `path` itself if the file does not exist.
package func resolvingLinks(_ path: FilePath) -> FilePath {
  guard let resolved = path.withPlatformString({ realpath($0, nil) }) else { return path }
  defer { free(resolved) }
  return FilePath(platformString: resolved)
}

/// Returns the inode of a folder, which identifies it in its file system, even after a move.
package func inode(ofFolder path: FilePath) throws -> UInt64 {
  var status = stat()
  try systemCall("cannot read", path.string) { path.withPlatformString { stat($0, &status) } }
  return UInt64(status.st_ino)
}

/// Moves a file to its final name in the same folder or another, and replaces an existing file.
package func renameFile(_ from: FilePlace, to place: FilePlace) throws {
  try from.withParent { fromFolder, fromName in
    try place.withParent { folder, name in
      try systemCall("cannot rename", place.text) { systemRename(fromName, fromFolder, name, folder) }
    }
  }
}

/// Gives a file a second name, which must be free.
///
/// - Throws: `exists`.
package func linkFile(_ from: FilePlace, to place: FilePlace) throws {
  try from.withParent { fromFolder, fromName in
    try place.withParent { folder, name in
      try systemCall("cannot create", place.text) { linkat(fromFolder, fromName, folder, name, 0) }
    }
  }
}

/// Deletes a file, if it exists.
///
/// - Throws: `wrongKind` for a folder.
package func removeFile(_ place: FilePlace) throws {
  do {
    try place.withParent { folder, name in
      do {
        try systemCall("cannot remove", place.text) { unlinkat(folder, name, 0) }
      } catch let error as PackStoreError where error.systemError == .notPermitted && isFolder(name, in: folder) {
        throw PackStoreError("cannot remove", place.text, .isDirectory)  // the error that Linux reports by itself
      }
    }
  } catch let error as PackStoreError where error.systemError == .noSuchFileOrDirectory {
  }
}

/// Whether the name is a folder in another one; a link to a folder is not.
func isFolder(_ name: UnsafePointer<CChar>, in folder: CInt) -> Bool {
  var status = stat()
  return fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && status.st_mode & S_IFMT == S_IFDIR
}

/// Returns a new path next to a file, for a draft of it. Its name begins with the file's name, which is shortened if necessary.
///
/// - Parameter ending: the end of the name.
package func draftPath(nextTo file: FilePath, ending: String = "") -> FilePath {
  let suffix = ".\(UInt64.random(in: 0 ... .max))\(ending)"
  var name = (file.lastComponent?.string ?? "").unicodeScalars
  while name.reduce(0, { $0 + UTF8.width($1) }) + suffix.utf8.count > nameByteLimit { name.removeLast() }
  return file.removingLastComponent().appending(String(name) + suffix)
}

/// The maximum length of a name, in bytes.
private let nameByteLimit = 255

/// Replaces a small file durably: writes the bytes to a draft below the same folder first.
package func replaceFile(
  _ name: String, in folder: FilePath, by bytes: [UInt8], draft: String
) throws {
  let file = try NewFile(FilePlace(draft, in: folder))
  try file.write(bytes)
  try file.sync()
  try renameFile(file.place, to: FilePlace(name, in: folder))
  try syncFolder(folder)
}

// MARK: - Folders

/// Creates a folder and its parents, if missing; returns whether it did.
@discardableResult
package func makeFolder(_ path: FilePath, isSecret: Bool = false) throws -> Bool {
  guard !pathExists(path) else { return false }
  let parent = path.removingLastComponent()
  if !parent.isEmpty, parent != path { try makeFolder(parent, isSecret: isSecret) }
  do {
    try systemCall("cannot create", path.string) { path.withPlatformString { mkdir($0, isSecret ? 0o700 : 0o777) } }
    return true
  } catch let error as PackStoreError where error.code == .exists {
    return false  // another process created it first
  }
}

/// Makes names in a folder durable.
package func syncFolder(_ path: FilePath) throws {
  let descriptor = try openFolder(path)
  defer { close(descriptor) }
  try systemCall("cannot sync", path.string) { fsync(descriptor) }
}

/// Makes names in a folder of a site or store durable.
package func syncFolder(_ place: FilePlace) throws {
  try withFolder(place) { descriptor in
    try systemCall("cannot sync", place.text) { fsync(descriptor) }
  }
}

/// Returns the names in a folder at a path the user gave, in no particular order; empty if the folder does not exist.
package func namesInFolder(_ path: FilePath) throws -> [String] {
  do {
    let descriptor = try openFolder(path)
    defer { close(descriptor) }
    return try names(inFolder: descriptor, path: path.string)
  } catch let error as PackStoreError where error.systemError == .noSuchFileOrDirectory {
    return []
  }
}

/// Returns the names in a folder of a site or store, in no particular order; empty if the folder does not exist.
package func namesInFolder(_ place: FilePlace) throws -> [String] {
  do {
    return try withFolder(place) { descriptor in
      try names(inFolder: descriptor, path: place.text)
    }
  } catch let error as PackStoreError where error.systemError == .noSuchFileOrDirectory {
    return []
  }
}

@discardableResult
private func withFolder<Result>(
  _ place: FilePlace, _ body: (CInt) throws -> Result
) throws -> Result {
  let descriptor = try place.withParent { folder, name in
    try openFolder(name, in: folder, path: place.text)
  }
  defer { close(descriptor) }
  return try body(descriptor)
}

/// Deletes a folder that this process created, with its contents. Files that cannot be deleted stay.
///
/// A path that ends in `.` or `..` names a folder by another folder's content, so nothing is deleted.
package func removeTree(_ path: FilePath) {
  guard path.lastComponent?.kind == .regular else { return }
  let place = FilePlace(path)
  try? place.withParent { folder, name in try removeTree(name, in: folder, path: place.text) }
}

private func removeTree(
  _ name: UnsafePointer<CChar>, in folder: CInt, path: String
) throws {
  let tree = try openFolder(name, in: folder, path: path)
  defer { close(tree) }
  // Deep folders become items of the tree's own folder, so that it is emptied again.
  while try removeItems(of: tree, in: tree, depth: 1, path: path) {}
  try systemCall("cannot remove", path) { unlinkat(folder, name, AT_REMOVEDIR) }
}

/// The number of folders open at once. A tree may be deeper than the number of descriptors that a process may have.
private let removalDepthLimit = 32

/// Deletes all items of a folder. Moves folders that are too deep to the top of the tree.
///
/// - Returns: whether a folder was moved.
private func removeItems(of folder: CInt, in tree: CInt, depth: Int, path: String) throws -> Bool {
  var hasMoved = false
  for bytes in try nameBytes(inFolder: folder, path: path) {
    let name = bytes.map(CChar.init(bitPattern:)) + [0]
    if unlinkat(folder, name, 0) == 0 { continue }
    guard depth < removalDepthLimit else {
      let top = "deep-\(UInt64.random(in: 0 ... .max))"
      try systemCall("cannot rename", path) { systemRename(name, folder, top, tree) }
      hasMoved = true
      continue
    }
    let child = try openFolder(name, in: folder, path: path)
    defer { close(child) }
    if try removeItems(of: child, in: tree, depth: depth + 1, path: path) { hasMoved = true }
    try systemCall("cannot remove", path) { unlinkat(folder, name, AT_REMOVEDIR) }
  }
  return hasMoved
}

/// Deletes an empty folder.
///
/// - Throws: `ioError` if it is not empty.
package func removeEmptyFolder(_ place: FilePlace) throws {
  try place.withParent { folder, name in
    try systemCall("cannot remove", place.text) { unlinkat(folder, name, AT_REMOVEDIR) }
  }
}

/// Creates an empty folder for temporary files, which other users cannot enter. The caller deletes it.
package func makeTemporaryFolder(in parent: FilePath) throws -> FilePath {
  let path = parent.appending("packstore-\(UInt64.random(in: 0 ... .max))")
  try systemCall("cannot create", path.string) { path.withPlatformString { mkdir($0, 0o700) } }
  return path
}
