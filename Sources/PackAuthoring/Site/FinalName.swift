import PackStore

// Functions that rename a file with a temporary name to the requested name.

/// Fails if the name is empty, because drafts would be created in the current folder.
func requireName(_ file: FilePath) throws {
  guard !file.isEmpty else { throw PackStoreError(.invalidArgument, "the name of the file to write is empty") }
}

/// Renames a finished file, and replaces an existing file if allowed.
///
/// - Throws: `exists` for a file that must not be replaced.
package func place(_ draft: FilePlace, at file: FilePlace, replacing: Bool) throws {
  guard !replacing else { return try renameFile(draft, to: file) }
  do {
    try linkFile(draft, to: file)
  } catch let error as PackStoreError where error.systemError == .notPermitted || error.systemError == .notSupported {
    // The file system does not support hard links. A file that another process creates between these two steps is replaced.
    guard !pathExists(file.path) else {
      throw PackStoreError(.exists, "exists already", about: .file(file.text), detail: .fileExists)
    }
    try renameFile(draft, to: file)
  }
}
