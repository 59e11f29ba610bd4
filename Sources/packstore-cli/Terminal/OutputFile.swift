import ArgumentParser
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

/// Checks a command's output file before the command starts work. Only a regular file is replaced, and only with `force`; a device
/// never is.
///
/// - Returns: the path to write to; if `name` is a link to an existing file, the path of that file.
func outputFile(_ name: String, force: Bool) throws -> String {
  guard !name.isEmpty else { throw ValidationError("-o needs the name of a file") }
  guard name != "-" else {
    throw Failure(
      .usage, "this command does not write to standard output", remedy: "name a file; write './-' for a file named '-'")
  }
  var info = stat()
  guard stat(name, &info) == 0 else {
    guard lstat(name, &info) != 0 else {
      throw Failure(
        .wrongKind, "'\(escaped(name))': a link to a missing file", remedy: "name another file", path: name)
    }
    try requireWritable(FilePath(name).removingLastComponent())
    return name
  }
  guard info.st_mode & S_IFMT == S_IFREG else {
    throw Failure(
      .wrongKind, "'\(escaped(name))': not a regular file, so it cannot be replaced", remedy: "name another file",
      path: name)
  }
  guard force else { throw existsAlready(name) }
  guard let resolved = realpath(name, nil) else { return name }
  defer { free(resolved) }
  let file = String(cString: resolved)
  try requireWritable(FilePath(file).removingLastComponent())
  return file
}

/// Fails if this user cannot create files in a folder. Accepts a missing folder: the later system call reports it.
private func requireWritable(_ folder: FilePath) throws {
  let folder = folder.isEmpty ? "." : folder.string
  guard access(folder, W_OK | X_OK) != 0, errno != ENOENT, errno != ENOTDIR else { return }
  throw Failure(
    FailureCode(systemError: errno), "'\(escaped(folder))': cannot write into the folder: \(systemErrorText())",
    remedy: "name a file in a folder that this user may write to", path: folder)
}

/// Whether both names refer to the same file.
func isSameFile(_ one: String, _ other: String) -> Bool {
  var first = stat(), second = stat()
  return stat(one, &first) == 0 && stat(other, &second) == 0 && first.st_dev == second.st_dev
    && first.st_ino == second.st_ino
}

/// Returns the error for an output file that exists.
func existsAlready(_ name: String) -> Failure {
  Failure(
    .exists, "'\(escaped(name))': exists already", remedy: "name another file, or replace it with --force", path: name)
}
