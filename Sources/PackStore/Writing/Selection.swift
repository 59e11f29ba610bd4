extension Store {
  /// What to install of a folder, and under which paths.
  public struct Selection: Hashable, Sendable {
    /// The folder in which the sources lie.
    public var folder: FilePath

    /// In any order; each path once. Nothing lies below a file or a link.
    public var entries: [Entry]

    public init(from folder: FilePath, _ entries: [Entry]) {
      self.folder = folder
      self.entries = entries
    }

    /// Something of the folder.
    public struct Entry: Hashable, Sendable {
      /// In the pack.
      public var path: String

      /// Below the folder: a file, a link, or a folder, which becomes an empty one whatever it holds. No part of the path
      /// on the way is a link, unless links are followed.
      public var source: String

      public init(path: String, source: String) {
        self.path = path
        self.source = source
      }
    }
  }
}

extension Store.Selection {
  /// The entries as the core takes them.
  ///
  /// - Throws: `invalidArgument` when there is none or there are too many, and for a path that a C string cannot hold.
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
