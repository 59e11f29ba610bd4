extension Store {
  /// Files of a folder to install, and their paths in the pack.
  public struct Selection: Hashable, Sendable {
    /// The folder with the sources.
    public var folder: FilePath

    /// The entries, in any order, with unique paths. No entry may be below a file or a link.
    public var entries: [Entry]

    public init(from folder: FilePath, _ entries: [Entry]) {
      self.folder = folder
      self.entries = entries
    }

    /// A file, link or folder to install.
    public struct Entry: Hashable, Sendable {
      /// The path in the pack.
      public var path: String

      /// The path in the folder: a file, a link, or a folder, whose contents are ignored. No parent folder may be a link, unless
      /// links are followed.
      public var source: String

      public init(path: String, source: String) {
        self.path = path
        self.source = source
      }
    }
  }
}

extension Store.Selection {
  /// Returns the entries in the core's order.
  ///
  /// - Throws: `invalidArgument` without entries or with too many, or if a path contains a NUL.
  func coreEntries() throws -> [Entry] {
    guard !entries.isEmpty else {
      throw PackStoreError(.invalidArgument, "nothing is selected", about: .folder(folder.string))
    }
    guard UInt32(exactly: entries.count) != nil else {
      throw PackStoreError(
        .invalidArgument, "more than 4,294,967,295 paths are selected", about: .folder(folder.string), detail: .limit)
    }
    for entry in entries where entry.path.utf8.contains(0) || entry.source.utf8.contains(0) {
      throw PackStoreError(.invalidArgument, "contains a NUL", about: .path(entry.path))
    }
    return entries.sorted { ExactText($0.path) < ExactText($1.path) }
  }
}
