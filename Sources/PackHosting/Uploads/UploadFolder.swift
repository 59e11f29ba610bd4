#if Hosting
  import PackStore
  import SystemPackage

  /// The folder of one upload file: its part files.
  struct UploadFolder: Sendable {
    let path: FilePath

    init(_ file: Identifier<UploadFileRecord>, in folder: FilePath) {
      path = folder.appending("uploads").appending(file.rawValue)
    }

    func place(_ name: String) -> FilePlace { FilePlace(name, in: path) }

    func file(_ name: String) -> FilePath { path.appending(name) }

    func make() throws { _ = try makeFolder(path, isSecret: true) }

    func remove() { removeTree(path) }

    /// Syncs the names of part files, whose contents were synced when each was received.
    func sync() throws { try syncFolder(path) }

    /// Removes files that no part refers to: of PUTs that a crash ended.
    func removeAll(but names: Set<String>) throws {
      for name in try namesInFolder(path) where !names.contains(name) { try removeFile(place(name)) }
    }
  }
#endif
