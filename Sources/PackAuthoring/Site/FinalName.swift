import PackStore

// How a file that was written under a name of its own gets the name that was asked for.

/// Fails if no file is named: with an empty name, drafts would lie in the current folder.
func requireName(_ file: FilePath) throws {
  guard !file.isEmpty else { throw PackStoreError(.invalidArgument, "the name of the file to write is empty") }
}

/// Gives a finished file its name, in place of what is there or only where nothing is.
///
/// - Throws: `exists` when something is there that is not to be replaced.
func place(_ draft: FilePlace, at file: FilePlace, replacing: Bool) throws {
  guard !replacing else { return try renameFile(draft, to: file) }
  do {
    try linkFile(draft, to: file)
  } catch let error as PackStoreError where error.systemError == .notPermitted || error.systemError == .notSupported {
    // No hard links on this disk. A file that another process makes between these two steps is replaced.
    guard !pathExists(file.path) else {
      throw PackStoreError(.exists, "exists already", about: .file(file.text), detail: .fileExists)
    }
    try renameFile(draft, to: file)
  }
}
