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
    if site.contains("://"), !S3Location.names(site) {
      return .served(try served(site), channels: channel)
    }
    if S3Location.names(site) {
      #if Delivery
        return .bucket(
          try BucketSite(
            try S3Location(site), options: try storage.options(), environment: certificates.environment))
      #else
        throw DeliveryError(.noHTTP, "this program was built without HTTP", at: site)
      #endif
    }
    let isBesideBucket = other.map(S3Location.names) ?? false
    return .folder(try isBesideBucket ? FilePath(site) : FilePath(storage.host(of: site).location))
  }

  private func served(_ site: String) throws -> RemoteSiteLocation {
    RemoteSiteLocation(
      site, options: try storage.options(),
      authorization: try authorization.authorizations(for: [site]).authorization(for: site),
      environment: certificates.environment)
  }
}
