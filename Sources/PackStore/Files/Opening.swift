#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

// The only place where this package's Swift code opens files and folders; `Scripts/check-seam` checks the imports of every object
// file. The core has its own, behind `vfs.h`.
//
// A *place* is a folder and a name below it. A user or a program gave the folder: links in its path are followed, because that user
// chose them. The library chose the name: no part of it may be a link, because only an attacker would put one there. Opening never
// waits: a pipe or a device is refused before it is read.

/// A name below a folder, such as `versions/3f2a` below a site.
package struct FilePlace: Sendable {
  package let folder: FilePath
  package let name: FilePath

  /// - Precondition: `name` is relative and not empty.
  package init(_ name: String, in folder: FilePath) {
    self.folder = folder
    self.name = FilePath(name)
  }

  /// Splits a path the user gave: all but its last part is the folder.
  package init(_ path: FilePath) {
    folder = path.removingLastComponent()
    name = path.lastComponent.map { FilePath(root: nil, components: $0) } ?? "."
  }

  package var path: FilePath { folder.pushing(name) }
  package var text: String { path.string }

  /// Calls `body` with the descriptor of the folder that contains the last part of the name, and with that part.
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

/// Whether to follow a link in place of a file.
package enum LinkRule: Sendable {
  /// For a path the user gave.
  case follow
  /// For a file in the folder of a store or site.
  case refuse
}

/// Opens a folder at a path that a user or a program gave.
func openFolder(_ path: FilePath) throws -> CInt {
  let path = path.isEmpty ? "." : path
  return try systemCall("cannot open the folder", path.string) {
    path.withPlatformString { open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
  }
}

/// Returns the system's error if too many files are open to open `count` more; otherwise `nil`.
package func obstacle(toFiles count: Int) -> Errno? {
  var opened: [CInt] = []
  defer { for descriptor in opened { close(descriptor) } }
  while opened.count < count {
    let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
    guard descriptor < 0 else {
      opened.append(descriptor)
      continue
    }
    // Any other error, such as a missing file, has no meaning here.
    let error = Errno(rawValue: errno)
    return error == .tooManyOpenFiles || error == .tooManyOpenFilesInSystem ? error : nil
  }
  return nil
}

/// Calls `body` with the descriptor of a folder at a path that a user or a program gave.
package func withFolderDescriptor<Result>(_ path: FilePath, _ body: (CInt) throws -> Result) throws -> Result {
  let descriptor = try openFolder(path)
  defer { close(descriptor) }
  return try body(descriptor)
}

/// Opens a folder in another one. Refuses a link.
func openFolder(
  _ name: UnsafePointer<CChar>, in folder: CInt, path: @autoclosure () -> String
) throws -> CInt {
  try systemCall("cannot enter the folder", path()) {
    openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
  }
}

/// Returns the descriptor after a check, and closes it if the check fails.
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
/// - Throws: `notFound`; `wrongKind` for a link that must not be followed, and if it is not a regular file.
func openFile(_ place: FilePlace, _ links: LinkRule) throws -> CInt {
  let descriptor: CInt
  do {
    descriptor = try place.withParent { folder, name in
      try systemCall("cannot open", place.text) {
        // O_NONBLOCK prevents waiting for the other end of a pipe; it has no effect on regular files.
        openat(folder, name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | (links == .follow ? 0 : O_NOFOLLOW))
      }
    }
  } catch {
    throw explainOpening(error, place)
  }
  return try closingIfItFails(descriptor) { try requireRegular(descriptor, place) }
}

/// Creates a file, whose name must be free, and opens it for reading and writing.
func openNewFile(_ place: FilePlace, mode: mode_t) throws -> CInt {
  try place.withParent { folder, name in
    try openNewFile(name, in: folder, mode: mode, path: place.text)
  }
}

/// Creates a file in an open folder; its name must be free.
func openNewFile(
  _ name: UnsafePointer<CChar>, in folder: CInt, mode: mode_t, path: @autoclosure () -> String
) throws -> CInt {
  try systemCall("cannot create", path()) {
    openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
  }
}

/// Opens a lock file, and creates it if necessary. A user without write access to the folder cannot open it, and therefore cannot
/// lock it.
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

/// Opens a regular file at a path the user gave, for appending, and creates it if necessary.
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

/// Opens a file for reading and writing, or creates it, in separate calls: in a folder that many users share, Linux refuses
/// `O_CREAT` for another user's file, regardless of its mode (`fs.protected_regular`).
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
        roundCount += 1  // another process was first
      }
    }
  }
}

/// A file that is created and deleted more often than this while it is opened is not a lock.
private let openRoundLimit = 100

/// Returns read and write permission for users who may write to the folder, and none for others.
private func lockMode(ofFileIn folder: CInt, _ place: FilePlace) throws -> mode_t {
  let mode = try status(of: folder, place).st_mode
  return 0o600 | (mode & 0o020 != 0 ? 0o060 : 0) | (mode & 0o002 != 0 ? 0o006 : 0)
}

/// Removes read permission from users without write permission: the umask may have removed only write permission, and an older file
/// may be open to all. Only the owner can; for others the file stays as it is.
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

/// Lists a folder's names as bytes, in no particular order.
func nameBytes(inFolder descriptor: CInt, path: @autoclosure () -> String) throws -> [[UInt8]] {
  // Opened again, because `fdopendir` takes over the descriptor and its position.
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

/// Returns the name of an entry. An entry is only as long as its name, regardless of its declared type: reading `d_name` as a value
/// would read beyond the bytes that the system wrote, and possibly beyond the memory.
func nameBytes(of entry: UnsafePointer<dirent>) -> [UInt8] {
  guard let field = entry.pointer(to: \.d_name) else { return [] }
  let name = UnsafeRawPointer(field)
  return Array(UnsafeRawBufferPointer(start: name, count: strlen(name.assumingMemoryBound(to: CChar.self))))
}

// MARK: - Standard streams

/// Opens `/dev/null` in place of each closed standard stream: otherwise the next opened file gets its number, and output overwrites
/// that file. Reading and writing the stream still fails. Call it before anything else is opened.
package func reserveStandardStreams() {
  for number in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(number, F_GETFD) < 0 {
    _ = open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY)
  }
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
