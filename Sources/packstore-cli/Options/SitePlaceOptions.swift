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

  @OptionGroup(title: "Authorization") var authorization: AuthorizationOptions
  @OptionGroup var storage: StorageOptions

  func place(of site: String) throws -> SiteStatusReader.Place {
    if site.contains("://"), !S3Location.names(site) {
      let authorization = try authorization.authorizations(for: [site]).authorization(for: site)
      return .served(
        RemoteSiteLocation(site, options: try storage.options(), authorization: authorization), channels: channel)
    }
    switch try storage.host(of: site) {
    #if Delivery
      case let bucket as BucketSite: return .bucket(bucket)
    #endif
    default: return .folder(FilePath(site))
    }
  }
}
