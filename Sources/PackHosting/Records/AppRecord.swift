#if Hosting
  import GRDB

  /// An app: one site, one store, one release key.
  struct AppRecord: Codable, FetchableRecord, PersistableRecord, Sendable {
    static let databaseTableName = "app"

    let id: AppID
    let teamID: Identifier<TeamRecord>
    var name: String

    /// Unique in the host. It is also the product of the app's site.
    let bundleID: String
    var sku: String
    var primaryLocale: String

    /// Names of channels; they end in 128 random bits. Only testers know them.
    var internalChannel: String
    var externalChannel: String

    /// Different people who must approve a submission: 0, 1 or 2 for `store`; 0 or 1 for `external`.
    var storeApprovals: Int
    var externalApprovals: Int

    /// Bytes as Apple counts them.
    var byteLimit: Int64
    var packLimit: Int
    let createdDate: Timestamp
  }

  /// An app version, which can be reviewed and released with packs.
  struct AppVersionRecord: Codable, FetchableRecord, PersistableRecord, Sendable {
    static let databaseTableName = "appVersion"

    let id: Identifier<AppVersionRecord>
    let appID: AppID
    var platform: ApplePlatform
    var versionString: String
    var state: AppVersionStates.State
    var releaseType: ReleaseType
    var earliestReleaseDate: Timestamp?
    let createdDate: Timestamp
  }
#endif
