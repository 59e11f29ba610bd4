import Foundation

/// An open folder. The paths of assets are relative to it.
///
/// Several threads may use a folder, but only one thread at a time may call `makeParents`.
final class FileFolder: @unchecked Sendable {
  let descriptor: CInt
  private var madeFolders: Set<Substring> = []

  init(_ path: String) throws {
    descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw SystemError("open", path) }
  }

  deinit { Glibc.close(descriptor) }

  func open(_ path: AssetPath) throws -> CInt {
    let file = openat(descriptor, path.utf8, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw SystemError("open", path.string) }
    return file
  }

  /// Creates the folders above a path.
  func makeParents(of path: String) throws {
    for slash in path.indices where path[slash] == "/" {
      let folder = path[..<slash]
      guard madeFolders.insert(folder).inserted else { continue }
      guard mkdirat(descriptor, String(folder), 0o755) == 0 || errno == EEXIST else {
        throw SystemError("mkdir", String(folder))
      }
    }
  }

  func make(_ path: AssetPath) throws -> CInt {
    let file = openat(descriptor, path.utf8, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode_t(0o644))
    guard file >= 0 else { throw SystemError("create", path.string) }
    return file
  }

  func copy(_ path: AssetPath, to target: FileFolder, through buffer: UnsafeMutableRawBufferPointer) throws {
    let from = try open(path)
    defer { Glibc.close(from) }
    let to = try target.make(path)
    defer { Glibc.close(to) }
    while true {
      let count = try checked(Glibc.read(from, buffer.baseAddress, buffer.count), "read", path)
      if count == 0 { return }
      try writeFully(UnsafeRawBufferPointer(rebasing: buffer[..<count]), to: to, path)
    }
  }

  /// Calls `body` with each direct entry of a folder: the address of its name, and its status.
  func forEachEntry(in path: AssetPath, _ body: (UnsafePointer<CChar>, stat) throws -> Void) throws {
    let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC
    let folder = path.utf8Count == 0 ? openat(descriptor, ".", flags) : openat(descriptor, path.utf8, flags)
    guard folder >= 0, let stream = fdopendir(folder) else { throw SystemError("open", path.string) }
    defer { closedir(stream) }
    while let entry = readdir(stream) {
      // An entry is not copied as a value: its length depends on its name, not on its declared type.
      guard let field = UnsafePointer(entry).pointer(to: \.d_name) else { continue }
      let name = UnsafeRawPointer(field).assumingMemoryBound(to: CChar.self)
      if name[0] == dot, name[1] == 0 || (name[1] == dot && name[2] == 0) { continue }
      var status = stat()
      guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { throw SystemError("stat", path.string) }
      try body(name, status)
    }
  }
}

extension FileFolder {
  /// Returns the number of names in a folder, without reading their status.
  func nameCount(in path: AssetPath) throws -> Int {
    let folder = openat(descriptor, path.utf8, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0, let stream = fdopendir(folder) else { throw SystemError("open", path.string) }
    defer { closedir(stream) }
    var count = 0
    while readdir(stream) != nil { count += 1 }
    return count - 2
  }
}

private let dot = CChar(bitPattern: UInt8(ascii: "."))

/// A mapped plain file, unmapped when the object is deallocated.
final class MappedFile {
  private let bytes: UnsafeRawBufferPointer

  init(_ path: AssetPath, in folder: FileFolder) throws {
    let file = try folder.open(path)
    defer { Glibc.close(file) }
    var status = stat()
    guard fstat(file, &status) == 0 else { throw SystemError("stat", path.string) }
    let length = Int(status.st_size)
    guard length > 0 else {
      bytes = UnsafeRawBufferPointer(start: nil, count: 0)
      return
    }
    guard let start = mmap(nil, length, PROT_READ, MAP_SHARED, file, 0), start != MAP_FAILED else {
      throw SystemError("map", path.string)
    }
    bytes = UnsafeRawBufferPointer(start: start, count: length)
  }

  func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    try withExtendedLifetime(self) { try body(bytes) }
  }

  deinit {
    if let start = bytes.baseAddress { munmap(UnsafeMutableRawPointer(mutating: start), bytes.count) }
  }
}

/// The error of a failed system call.
struct SystemError: Error, CustomStringConvertible {
  let description: String

  init(_ call: String, _ path: String) { description = "\(call) '\(path)': \(String(cString: strerror(errno)))" }
}

/// Returns the result of a system call; throws if it is -1.
func checked(_ result: Int, _ call: String, _ path: AssetPath) throws -> Int {
  guard result >= 0 else { throw SystemError(call, path.string) }
  return result
}

/// Fills `memory` with the file's bytes from `offset` on.
func readFully(_ file: CInt, at offset: Int, into memory: UnsafeMutableRawBufferPointer, _ path: AssetPath) throws {
  var done = 0
  while done < memory.count {
    let count = try checked(
      pread(file, memory.baseAddress! + done, memory.count - done, off_t(offset + done)), "read", path)
    guard count > 0 else { throw Unavailable("'\(path.string)': shorter than before") }
    done += count
  }
}

func writeFully(_ bytes: UnsafeRawBufferPointer, to file: CInt, _ path: AssetPath) throws {
  var done = 0
  while done < bytes.count {
    done += try checked(write(file, bytes.baseAddress! + done, bytes.count - done), "write", path)
  }
}
