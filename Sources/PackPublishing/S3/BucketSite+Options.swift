import PackDelivery
public import PackStore

extension BucketSite {
  /// The options of a site in object storage.
  public struct Options: Sendable {
    /// The URL of a server other than Amazon's; `nil` for the one that the environment names.
    public var endpoint: String?

    /// The region; `nil` for the one that the environment names.
    public var region: String?

    /// Whether URLs contain the bucket in the host instead of the path; `nil` for yes with Amazon's servers, no with others.
    public var usesVirtualHost: Bool?

    /// The prefix of the publishers' private files; `nil` for the site's prefix followed by `.publisher`.
    public var ledger: S3Location?

    /// A folder that keeps the copy of the site for later calls; with `nil`, each call uses a temporary folder.
    public var workFolder: FilePath?

    /// Whether a change is repeated when another publisher was faster; if not, the change fails with `busy`.
    public var waitsForOthers = true

    /// Whether changes convert a site of the previous draft of the format, by `Site.convert`. They fetch the whole site. Other calls
    /// refuse a site of that draft.
    public var isConverting = false

    public init() {}
  }

  /// Connections to the storage. A site's metadata is many short files, so the round trips limit the time, not the bytes.
  static let connectionCount = 24
}

#if Delivery
  extension S3Storage {
    /// Opens a storage with the options of a site.
    ///
    /// - Parameter environment: the variables that name credentials, region, endpoint and proxies.
    /// - Throws: `invalidLocation`; `denied` if there are no credentials.
    static func open(
      at location: S3Location, _ options: BucketSite.Options, environment: [String: String]
    ) throws -> S3Storage {
      var storageOptions = S3Storage.Options()
      storageOptions.endpoint = options.endpoint
      storageOptions.region = options.region
      storageOptions.usesVirtualHost = options.usesVirtualHost
      storageOptions.environment = environment
      storageOptions.connectionCount = BucketSite.connectionCount
      return try S3Storage(location, hidden: try options.ledger ?? location.publisherLocation(), storageOptions)
    }
  }
#endif
