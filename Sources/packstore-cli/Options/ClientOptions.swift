import ArgumentParser
import PackDelivery
import PackFormats
import PackStore

/// Options of a client that downloads from a site: the trusted key, the channel and the device.
struct ClientOptions: ParsableArguments {
  @Option(
    help: .trustedKey, transform: parsePublicKey)
  var trust: SitePublicKey?

  @Option(
    help: .init("Channel of the site (default: the followed one, or live).", valueName: "name"),
    transform: parseChannel)
  var channel: SiteChannel?

  @OptionGroup var device: DeviceOptions

  @Flag(help: "Accept an unsigned folder.")
  var allowUnsigned = false

  var options: Store.PullOptions {
    var options = device.options
    options.trustedKey = trust
    options.channel = channel
    options.allowsUnsigned = allowUnsigned
    return options
  }
}

/// Options for the client's device and app, and for the maximum age of a site's root.
struct DeviceOptions: ParsableArguments {
  @Option(
    help: .init("Version of the app that reads the packs (default: any).", valueName: "version"),
    transform: parseAppVersion)
  var appVersion: AppVersion?

  @Option(
    help: .init(
      "Platform that packs must support, such as macOS (default: this one; on Linux, any).", valueName: "name"),
    transform: parsePlatform)
  var platform: Platform?

  @Option(
    help: .init(
      "Device id of 32 hexadecimal digits, which decides about shares of devices (default: the store's).",
      valueName: "id"),
    transform: parseDevice)
  var device: DeviceID?

  @Option(
    help: .init("Maximum age of the site's root, such as 12h or 14d.", valueName: "age"), transform: parseDuration)
  var maxAge: Duration?

  var options: Store.PullOptions {
    .init(appVersion: appVersion, platform: platform ?? .current, device: device, maximumAge: maxAge)
  }
}

/// Reads the version of an app from the command line.
@Sendable private func parseAppVersion(_ text: String) throws -> AppVersion { try parse { try AppVersion(text) } }

@Sendable private func parsePlatform(_ name: String) throws -> Platform {
  guard let platform = Platform(rawValue: name) else {
    throw ValidationError("'\(escaped(name))' is not a platform; use iOS, macOS, tvOS or visionOS")
  }
  return platform
}

@Sendable private func parseDevice(_ text: String) throws -> DeviceID {
  guard let device = DeviceID(hex: text) else {
    throw ValidationError("'\(escaped(text))' is not a device id; use 32 hexadecimal digits")
  }
  return device
}
