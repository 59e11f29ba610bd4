import ArgumentParser
import PackAuthoring
import PackStore

/// Options for the scope of a release key.
struct DelegationTermsOptions: ParsableArguments {
  @OptionGroup var product: ProductOption

  @Option(
    name: .customLong("channel"),
    help: .init("Channel that the key may sign; repeatable (default: unchanged, or all).", valueName: "name"),
    transform: parseChannel)
  var channels: [SiteChannel] = []

  @Flag(help: "Allow the key to sign all channels.")
  var allChannels = false

  @Option(help: .init("Validity of the key from now.", valueName: "days"))
  var days = 400

  @Flag(help: "Make the key valid without end.")
  var noEnd = false

  @Flag(help: "Revoke all earlier authorizations for the product, because a release key was stolen.")
  var revoke = false

  func validate() throws {
    guard (1...36_500).contains(days) else { throw ValidationError("--days must be from 1 to 36500") }
    guard channels.isEmpty || !allChannels else {
      throw ValidationError("--channel and --all-channels exclude each other")
    }
  }

  var options: SiteKey.DelegationOptions {
    .init(
      product: product.product, channels: allChannels ? [] : channels.isEmpty ? nil : channels,
      validity: noEnd ? nil : .seconds(days * 86_400), revokesEarlier: revoke)
  }
}
