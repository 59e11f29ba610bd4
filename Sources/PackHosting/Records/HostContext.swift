#if Hosting
  import GRDB
  import SystemPackage

  /// What every command needs.
  struct HostContext: Sendable {
    let database: DatabasePool

    /// The data folder. It has `host.sqlite`, `secret`, and for each app `apps/<id>` and `uploads/<id>`.
    let folder: FilePath
    let clock: any TimeSource
    let random: any RandomSource

    /// The public base URL without a final slash, for links in webhooks.
    let origin: String

    var now: Timestamp { clock.now }
  }
#endif
