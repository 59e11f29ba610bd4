#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A file that no other user can change or replace: the file and all folders of its path belong to this user or root, and no one
/// else may write to them. In a folder with the sticky bit, users can change only their own files.
package struct OwnedFile: Sendable {
  /// The checked path, without links and relative parts.
  package let path: FilePath

  /// - Parameter isProgram: whether the file must be executable.
  /// - Throws: ``ManagedPacksError`` `agent`.
  package init(_ path: FilePath, isProgram: Bool = false) throws {
    guard let resolved = resolvedPath(path) else {
      throw Self.error(path, "cannot be found", "check that it exists and that this user can read it")
    }
    self.path = resolved
    var current = resolved
    while true {
      try Self.check(current, isLast: current == resolved, isProgram: isProgram)
      let parent = current.removingLastComponent()
      guard parent != current, !parent.isEmpty else { break }
      current = parent
    }
  }

  private static func check(_ path: FilePath, isLast: Bool, isProgram: Bool) throws {
    var status = stat()
    guard path.withPlatformString({ lstat($0, &status) }) == 0 else {
      throw error(path, "cannot be examined", "let this user read it")
    }
    let kind = status.st_mode & S_IFMT
    guard kind == (isLast ? S_IFREG : S_IFDIR) else { throw error(path, "is not a regular file", "use a regular file") }
    guard status.st_uid == geteuid() || status.st_uid == 0 else {
      throw error(path, "belongs to another user", "install it as this user, or as root")
    }
    let isSticky = !isLast && status.st_mode & S_ISVTX != 0
    guard status.st_mode & 0o022 == 0 || isSticky else {
      throw error(path, "is writable by other users", "check its contents, then run 'chmod go-w' on it")
    }
    guard !isLast || !isProgram || path.withPlatformString({ access($0, X_OK) }) == 0 else {
      throw error(path, "is not executable", "if it is a program, run 'chmod u+x' on it")
    }
  }

  private static func error(_ path: FilePath, _ fault: String, _ remedy: String) -> ManagedPacksError {
    ManagedPacksError(.agent, "'\(path)' \(fault)", remedy: remedy)
  }
}

/// Returns an absolute path without links; `nil` if nothing exists at the path.
func resolvedPath(_ path: FilePath) -> FilePath? {
  guard let text = path.withPlatformString({ realpath($0, nil) }) else { return nil }
  defer { free(text) }
  return FilePath(platformString: text)
}
