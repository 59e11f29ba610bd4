import ArgumentParser
import PackDelivery
import PackPublishing
import PackStore

/// The place of a site that a command inspects: a folder, a bucket, or a web server.
struct SitePlaceOptions: ParsableArguments {
  @Option(
    help: .init(
      "For a web server, which does not list its channels: a channel in addition to live; repeatable.",
      valueName: "name"), transform: parseChannel)
  var channel: [SiteChannel] = []

  @OptionGroup var certificates: CertificateOption
  @OptionGroup(title: "Authorization") var authorization: AuthorizationOptions
  @OptionGroup var storage: StorageOptions

  /// - Parameter other: another place of the same command: the options of object storage may belong to it.
  func place(of site: String, beside other: String? = nil) throws -> SiteStatusReader.Place {
    try storage.place(
      of: site, channels: channel, authorization, environment: certificates.environment, beside: other)
  }
}

extension StorageOptions {
  /// Returns the place of a site to inspect.
  ///
  /// - Parameters:
  ///   - channels: for a web server, the channels in addition to live.
  ///   - environment: variables with credentials, proxies and the certificates to trust.
  ///   - other: another place of the same command: the options of object storage may belong to it.
  func place(
    of site: String, channels: [SiteChannel], _ authorization: AuthorizationOptions,
    environment: [String: String] = processEnvironment(), waits: Bool = true, beside other: String? = nil
  ) throws -> SiteStatusReader.Place {
    guard S3Location.names(site) else {
      guard site.contains("://") else {
        let isBesideBucket = other.map(S3Location.names) ?? false
        return .folder(try isBesideBucket ? FilePath(site) : FilePath(host(of: site).location))
      }
      let location = RemoteSiteLocation(
        site, options: try options(),
        authorization: try authorization.authorizations(for: [site]).authorization(for: site),
        environment: environment)
      return .served(location, channels: channels)
    }
    #if Delivery
      return .bucket(
        try BucketSite(try S3Location(site), options: try options(waits: waits), environment: environment))
    #else
      throw DeliveryError(.noHTTP, "this program was built without HTTP", at: site)
    #endif
  }
}
