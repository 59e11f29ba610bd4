import SystemPackage

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

// What this module asks of the system, and swift-system does not have.

/// Removes a name. Nobody can be told when that fails.
func removeFile(_ path: String) { _ = unlink(path) }

/// The bytes of a small file. Nil: there is none.
func readFile(_ path: String, upTo limit: Int) throws -> [UInt8]? {
  let descriptor: FileDescriptor
  do {
    descriptor = try FileDescriptor.open(path, .readOnly, options: [.closeOnExec])
  } catch Errno.noSuchFileOrDirectory {
    return nil
  } catch {
    throw failure("cannot open", path, error)
  }
  defer { try? descriptor.close() }
  do {
    return try [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
      let memory = UnsafeMutableRawBufferPointer(buffer)
      while case let more = try descriptor.read(into: UnsafeMutableRawBufferPointer(rebasing: memory[count...])),
        more > 0
      {
        count += more
      }
    }
  } catch {
    throw failure("cannot read", path, error)
  }
}

/// Writes a file anew and durably: under another name first, in the same file system.
func replaceFile(_ path: String, by bytes: [UInt8], via draft: String, in folder: String) throws {
  do {
    let descriptor = try FileDescriptor.open(
      draft, .writeOnly, options: [.create, .truncate, .closeOnExec],
      permissions: [.ownerReadWrite, .groupRead, .otherRead])
    try descriptor.closeAfter {
      try descriptor.writeAll(bytes)
      try call { fsync(descriptor.rawValue) }
    }
    try call { rename(draft, path) }
    let parent = try FileDescriptor.open(folder, .readOnly, options: [.directory, .closeOnExec])
    try parent.closeAfter { try call { fsync(parent.rawValue) } }
  } catch {
    throw failure("cannot write", path, error)
  }
}

/// Runs `body` while no other process does the same for this folder.
func withFolderLock<Result>(_ folder: String, _ body: () throws -> Result) throws -> Result {
  let descriptor: FileDescriptor
  do {
    descriptor = try FileDescriptor.open(folder, .readOnly, options: [.directory, .closeOnExec])
    try call { flock(descriptor.rawValue, LOCK_EX) }
  } catch {
    throw failure("cannot lock", folder, error)
  }
  defer { try? descriptor.close() }  // and with it the lock
  return try body()
}

/// The variables of this process's environment.
func processEnvironment() -> [String: String] {
  var variables: [String: String] = [:]
  var next = environ
  while let line = next.pointee {
    let text = String(cString: line)
    if let equals = text.firstIndex(of: "=") {
      variables[String(text[..<equals])] = String(text[text.index(after: equals)...])
    }
    next += 1
  }
  return variables
}

private func call(_ body: () -> CInt) throws(Errno) {
  while body() != 0 {
    guard errno == EINTR else { throw Errno(rawValue: errno) }
  }
}

private func failure(_ what: String, _ path: String, _ error: any Error) -> DeliveryError {
  DeliveryError(.ioError, "\(what) (\(error))", at: path)
}
