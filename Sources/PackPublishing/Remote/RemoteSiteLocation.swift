public import PackAuthoring
public import PackDelivery
public import PackFormats
public import PackStore

/// The place of a served site, for a publisher without a copy: a web server, a folder, or a bucket, which is read directly from the
/// storage.
public struct RemoteSiteLocation: Sendable {
  /// The location that the user gave, without a user's name and password.
  public let location: String

  private let site: String
  private let options: BucketSite.Options
  private let authorization: SiteAuthorization?
  private let environment: [String: String]?

  /// - Parameters:
  ///   - site: an `http:`, `https:` or `file:` URL, a folder, or `s3://bucket/prefix`.
  ///   - options: for a site in object storage.
  ///   - authorization: sent to the web server.
  ///   - environment: variables with credentials, proxies and the certificates to trust; `nil`: the process's.
  public init(
    _ site: String, options: BucketSite.Options = .init(), authorization: SiteAuthorization? = nil,
    environment: [String: String]? = nil
  ) {
    self.environment = environment
    self.site = site
    self.options = options
    self.authorization = authorization
    location = withoutSecrets(site)
  }

  /// - Throws: `invalidLocation`, `denied`, `noHTTP`.
  package func open(channels: [SiteChannel]) throws -> RemoteSiteCopy {
    RemoteSiteCopy(try source(), channels: channels)
  }

  /// Returns the versions that the roots offer, reading nothing else.
  ///
  /// - Parameters:
  ///   - channels: first the channel whose first offers are the current versions; `live` is added.
  ///   - key: a key with the same first root key as the site.
  /// - Throws: `noSite`, `untrusted`, `corrupt`; `invalidArgument` if this machine's clock differs much from the server's;
  ///   `unreachable`, `denied`, `badResponse`.
  public func knownVersions(channels: [SiteChannel], signedBy key: SiteKey) async throws -> PublishedVersionIndex? {
    let served = try open(channels: channels)
    let roots: [SiteChannel: RemoteSiteCopy.Root]
    do {
      roots = try await served.readRoots(key: key, trusted: nil)
    } catch {
      await served.close()
      throw error
    }
    await served.close()
    let others = served.channels.filter { !channels.contains($0) }
    return PublishedVersionIndex((channels + others).compactMap { roots[$0]?.signed.root })
  }

  /// Returns the channels with a root in the folder of a site or a mirror, without `live`.
  ///
  /// - Throws: `notAStore` if the folder is not a site; `ioError`.
  package static func channels(inFolder path: FilePath) throws -> [SiteChannel] {
    guard Site.exists(at: path) else {
      throw PackStoreError(.notAStore, "not a site", about: .site(path.string), detail: .noControlFile)
    }
    return try namesInFolder(path.appending(SitePath.rootFolder)).compactMap { name in
      guard case .root(let channel) = SitePath("\(SitePath.rootFolder)/\(name)") else { return nil }
      return channel
    }.sorted()
  }

  private var pullOptions: Store.PullOptions {
    Store.PullOptions(environment: environment, authorization: authorization)
  }

  private func source() throws -> any SiteSource {
    guard S3Location.names(site) else { return try makeSource(site, pullOptions) }
    #if Delivery
      let storage = try S3Storage.open(
        at: try S3Location(site), options, environment: environment ?? processEnvironment())
      return StorageSource(storage)
    #else
      throw DeliveryError(.noHTTP, "this program was built without HTTP", at: location)
    #endif
  }
}
