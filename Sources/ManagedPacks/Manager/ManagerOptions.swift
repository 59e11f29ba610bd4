extension AssetPackManager {
  /// What an app may put in the place of what a manager does by itself.
  public struct Options: Sendable {
    /// How downloads share the machine and the network.
    public var rules = DownloadRules()

    /// Filters packs that a policy would fetch; what the app asks for itself is not asked about.
    public var shouldDownload: (@Sendable (AssetPack) -> Bool)?

    /// Settings for every pull. Channel, key and version of the app are the configuration's, and the limit of rate is that of
    /// ``rules``.
    public var pullOptions = Store.PullOptions()

    /// What the store keeps decoded of large assets, in bytes; 0: nothing.
    public var cacheByteBudget = 512 << 20

    /// Where folders and languages are looked up. By default the process's.
    public var environment = ProcessInfo.processInfo.environment

    /// A store to use in place of the group's.
    public var store: Store?

    /// Sites in place of those of the configuration.
    package var sites: [any PackSite]?

    /// Other time than the world's.
    package var clock = TransferClock.system

    public init() {}
  }
}
