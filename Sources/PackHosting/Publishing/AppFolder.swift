#if Hosting
  import SystemPackage

  /// The folder of one app. Nothing in it is shared with another app.
  struct AppFolder: Sendable {
    let path: FilePath

    init(_ app: AppID, in folder: FilePath) { path = folder.appending("apps").appending(app.rawValue) }

    /// The site that web servers serve.
    var site: FilePath { path.appending("site") }

    /// The key that waits for a delegation. It signs nothing that clients accept.
    var pendingKey: FilePath { path.appending("pending.key") }

    /// The release key with its delegation.
    var releaseKey: FilePath { path.appending("release.key") }
  }
#endif
