extension Store.Cache {
  /// The user's folder for files that may be deleted at any moment: `name` in `Library/Caches` on Apple systems; on others in
  /// `XDG_CACHE_HOME`, or in `~/.cache` if that variable is unset or relative.
  ///
  /// - Parameters:
  ///   - name: the name of the folder, preferably the app's name.
  ///   - environment: by default the process's.
  /// - Throws: `notFound` if the user has no home folder.
  public static func standardFolder(
    named name: String, environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws -> FilePath {
    #if canImport(Darwin)
      // No machine that this was developed on compiles these lines.
      guard let caches = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first else {
        throw PackStoreError(.notFound, "this user does not have a folder for caches")
      }
      return FilePath(caches.path).appending(name)
    #else
      if let caches = environment["XDG_CACHE_HOME"], caches.hasPrefix("/") { return FilePath(caches).appending(name) }
      guard let home = environment["HOME"], home.hasPrefix("/") else {
        var error = PackStoreError(.notFound, "neither XDG_CACHE_HOME nor HOME names a folder for caches")
        error.specificRemedy = "set XDG_CACHE_HOME, or name a folder"
        throw error
      }
      return FilePath(home).appending([".cache", FilePath.Component(name)].compactMap { $0 })
    #endif
  }
}

extension Store.CacheFolder {
  /// Excludes the folder from backups, if the system supports it. Called when a folder is chosen; a failure is ignored.
  func markForSystem() {
    #if canImport(Darwin)
      // No machine that this was developed on compiles these lines.
      var url = URL(fileURLWithPath: path.string, isDirectory: true)
      try? FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
      var values = URLResourceValues()
      values.isExcludedFromBackup = true
      try? url.setResourceValues(values)
    #endif
  }
}
