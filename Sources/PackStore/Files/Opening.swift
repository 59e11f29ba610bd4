#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

// The one place where this package's Swift code opens files and folders; `Scripts/check-seam` reads the imports of every
// object file. The core has its own, behind `vfs.h`.
//
// A *place* is a folder and a name below it. The folder is what a person or a program named: links on the way to it are
// followed, for who named it chose them. The name is ours: no part of it may be a link, for only an intruder puts
// one there. Nothing here waits: a pipe or a device in the place of a file is refused before it is read.

/// A name below a folder, such as `versions/3f2a` below a site.
package struct FilePlace: Sendable {
  package let folder: FilePath
  package let name: FilePath

  /// - Precondition: `name` is relative and has a part at least.
  package init(_ name: String, in folder: FilePath) {
    self.folder = folder
    self.name = FilePath(name)
  }

  /// What a person named: all but its last part is the folder.
  package init(_ path: FilePath) {
    folder = path.removingLastComponent()
    name = path.lastComponent.map { FilePath(root: nil, components: $0) } ?? "."
  }

  package var path: FilePath { folder.pushing(name) }
  package var text: String { path.string }

  /// Lends the descriptor of the folder that holds the last part of the name, and that part.
  @discardableResult
  func withParent<Result>(
    _ body: (CInt, UnsafePointer<CChar>) throws -> Result
  ) throws -> Result {
    var parent = try openFolder(folder)
    defer { close(parent) }
    for part in name.removingLastComponent().components {
      let next = try openFolder(part.string, in: parent, path: text)
      close(parent)
      parent = next
    }
    let last = Array((name.lastComponent?.string ?? ".").utf8CString)
    return try last.withUnsafeBufferPointer { buffer in try body(parent, buffer.baseAddress!) }
  }
}

/// Whether a link in the place of a file is followed.
package enum LinkRule: Sendable {
  /// The file is one that a person named.
  case follow
  /// The file is one that lies in a store's or a site's folder.
  case refuse
}

/// Opens a folder that a person or a program named.
func openFolder(_ path: FilePath) throws -> CInt {
  let path = path.isEmpty ? "." : path
  return try systemCall("cannot open the folder", path.string) {
    path.withPlatformString { open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
  }
}

/// Lends the descriptor of a folder that a person or a program named.
package func withFolderDescriptor<Result>(_ path: FilePath, _ body: (CInt) throws -> Result) throws -> Result {
  let descriptor = try openFolder(path)
  defer { close(descriptor) }
  return try body(descriptor)
}

/// Opens a folder in another one. A link is refused.
func openFolder(
  _ name: UnsafePointer<CChar>, in folder: CInt, path: @autoclosure () -> String
) throws -> CInt {
  try systemCall("cannot enter the folder", path()) {
    openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
  }
}

/// A descriptor that passed a check.
private func closingIfItFails(_ descriptor: CInt, _ check: () throws -> Void) throws -> CInt {
  do {
    try check()
    return descriptor
  } catch {
    close(descriptor)
    throw error
  }
}

/// Opens a regular file for reading.
///
/// - Throws: `notFound` when there is no such file; `wrongKind` for a link that is not to be followed, and for what is
///   no regular file.
func openFile(_ place: FilePlace, _ links: LinkRule) throws -> CInt {
  let descriptor: CInt
  do {
    descriptor = try place.withParent { folder, name in
      try systemCall("cannot open", place.text) {
        // O_NONBLOCK keeps a pipe from waiting for its other end; it means nothing to regular files.
        openat(folder, name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | (links == .follow ? 0 : O_NOFOLLOW))
      }
    }
  } catch {
    throw explainOpening(error, place)
  }
  return try closingIfItFails(descriptor) { try requireRegular(descriptor, place) }
}

/// Makes a file, which has to be new, and opens it for reading and writing.
func openNewFile(_ place: FilePlace, mode: mode_t) throws -> CInt {
  try place.withParent { folder, name in
    try openNewFile(name, in: folder, mode: mode, path: place.text)
  }
}

/// Makes a file in an open folder, which has to be new.
func openNewFile(
  _ name: UnsafePointer<CChar>, in folder: CInt, mode: mode_t, path: @autoclosure () -> String
) throws -> CInt {
  try systemCall("cannot create", path()) {
    openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
  }
}

/// Opens a file that carries a lock, and makes it if need be. Who may not write to the folder cannot open it, and so
/// cannot lock it.
func openLockFile(_ place: FilePlace) throws -> CInt {
  let descriptor: CInt
  do {
    descriptor = try place.withParent { folder, name in
      try openOrMake(name, in: folder, mode: try lockMode(ofFileIn: folder, place), path: place.text)
    }
  } catch {
    throw explainOpening(error, place)
  }
  return try closingIfItFails(descriptor) {
    try requireRegular(descriptor, place)
    try tighten(descriptor, place)
  }
}

/// Opens a regular file that a person named, for writing behind its end, and makes it if need be.
func openForAppending(_ place: FilePlace) throws -> CInt {
  let flags = O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
  let descriptor: CInt
  do {
    descriptor = try place.withParent { folder, name in
      do {
        return try systemCall("cannot open", place.text) { openat(folder, name, flags) }
      } catch let error as PackStoreError where error.systemError == .noSuchFileOrDirectory {
        return try systemCall("cannot create", place.text) { openat(folder, name, flags | O_CREAT | O_EXCL, 0o666) }
      }
    }
  } catch {
    throw explainOpening(error, place)
  }
  return try closingIfItFails(descriptor) { try requireRegular(descriptor, place) }
}

/// Opens a file for reading and writing, or makes it. Never both in one call: in a folder that many users share, Linux
/// refuses `O_CREAT` for another user's file, whatever its mode (`fs.protected_regular`).
private func openOrMake(
  _ name: UnsafePointer<CChar>, in folder: CInt, mode: mode_t, path: @autoclosure () -> String
) throws -> CInt {
  var roundCount = 0
  while true {
    do {
      return try systemCall("cannot open", path()) {
        openat(folder, name, O_RDWR | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC)
      }
    } catch let error as PackStoreError where error.systemError == .noSuchFileOrDirectory {
      do {
        return try openNewFile(name, in: folder, mode: mode, path: path())
      } catch let error as PackStoreError where error.code == .exists && roundCount < openRoundLimit {
        roundCount += 1  // another process was faster
      }
    }
  }
}

/// A file that comes and goes more often while it is opened is no lock.
private let openRoundLimit = 100

/// Reading and writing for those that may write to the folder, and nothing for all others.
private func lockMode(ofFileIn folder: CInt, _ place: FilePlace) throws -> mode_t {
  let mode = try status(of: folder, place).st_mode
  return 0o600 | (mode & 0o020 != 0 ? 0o060 : 0) | (mode & 0o002 != 0 ? 0o006 : 0)
}

/// Takes reading from those that may not write: the umask may have taken writing alone, and an older file may be open
/// to all. Only its owner can; for others it is as it is.
private func tighten(_ descriptor: CInt, _ place: FilePlace) throws {
  let status = try status(of: descriptor, place)
  let parent = try place.withParent { folder, _ in try lockMode(ofFileIn: folder, place) }
  var mode = status.st_mode & 0o777 & parent
  if mode & 0o060 != 0o060 { mode &= ~0o060 }
  if mode & 0o006 != 0o006 { mode &= ~0o006 }
  if mode != status.st_mode & 0o777 { _ = fchmod(descriptor, mode) }
}

/// Lists a folder's names, in no particular order. Bytes that are not UTF-8 appear as U+FFFD.
func names(inFolder descriptor: CInt, path: @autoclosure () -> String) throws -> [String] {
  try nameBytes(inFolder: descriptor, path: path()).map { String(decoding: $0, as: UTF8.self) }
}

/// Lists a folder's names as they are, in no particular order.
func nameBytes(inFolder descriptor: CInt, path: @autoclosure () -> String) throws -> [[UInt8]] {
  // Opened once more, for its own position, which `fdopendir` takes over.
  let own = try openFolder(".", in: descriptor, path: path())
  guard let folder = fdopendir(own) else {
    let error = Errno(rawValue: errno)
    close(own)
    throw PackStoreError("cannot list", path(), error)
  }
  defer { closedir(folder) }
  var names: [[UInt8]] = []
  while true {
    errno = 0
    guard let entry = readdir(folder) else { break }
    let name = nameBytes(of: entry)
    if !name.elementsEqual(".".utf8), !name.elementsEqual("..".utf8) { names.append(name) }
  }
  guard errno == 0 else { throw PackStoreError("cannot list", path(), Errno(rawValue: errno)) }
  return names
}

/// An entry is as long as its name, whatever its type declares: `d_name` as a value would be read beyond the end of what the
/// system wrote, and of the memory that it is in.
func nameBytes(of entry: UnsafePointer<dirent>) -> [UInt8] {
  guard let field = entry.pointer(to: \.d_name) else { return [] }
  let name = UnsafeRawPointer(field)
  return Array(UnsafeRawBufferPointer(start: name, count: strlen(name.assumingMemoryBound(to: CChar.self))))
}

// MARK: - Kinds

func status(of descriptor: CInt, _ place: FilePlace) throws -> stat {
  var status = stat()
  try systemCall("cannot examine", place.text) { fstat(descriptor, &status) }
  return status
}

private func requireRegular(_ descriptor: CInt, _ place: FilePlace) throws {
  let kind: String
  switch try status(of: descriptor, place).st_mode & S_IFMT {
  case S_IFREG: return
  case S_IFDIR: kind = "a folder"
  case S_IFIFO: kind = "a pipe"
  case S_IFSOCK: kind = "a socket"
  default: kind = "a device"
  }
  throw PackStoreError(.wrongKind, "\(kind), not a file", file: place.text)
}

private func explainOpening(_ error: any Error, _ place: FilePlace) -> any Error {
  switch (error as? PackStoreError)?.systemError {
  case .noSuchFileOrDirectory: PackStoreError(.notFound, "does not exist", about: .file(place.text), detail: .noFile)
  case .tooManySymbolicLinkLevels:
    PackStoreError(.wrongKind, "a symbolic link, not a file", file: place.text)
  case .isDirectory: PackStoreError(.wrongKind, "a folder, not a file", file: place.text)
  case .noSuchAddressOrDevice:
    PackStoreError(.wrongKind, "a pipe, a socket or a device, not a file", file: place.text)
  default: error
  }
}
