extension AssetPackManager {
  /// The settings with which an app changes a manager's behaviour.
  public struct Options: Sendable {
    /// The limits for downloads on this machine and network.
    public var rules = DownloadRules()

    /// Decides whether to download a pack that a policy requires. Not called for packs that the app requests itself.
    public var shouldDownload: (@Sendable (AssetPack) -> Bool)?

    /// Called after the first pull from a site whose key is not in the configuration: that key is pinned from now on. The default
    /// prints a warning on standard error.
    public var onFirstContact: @Sendable (_ site: String, _ key: SitePublicKey) -> Void = { site, key in
      warn(
        "the site '\(withoutSecrets(site))' is signed by the key \(key), which is trusted from now on: compare it with "
          + "the key that its publisher states, and set it as PackStoreTrustedKey")
    }

    /// Called once for two sites of the configuration that one root key signs for the same product although they are not copies of each
    /// other: packs of the same name replace each other. The default prints a warning on standard error.
    public var onSharedKey: @Sendable (_ site: String, _ other: String, _ origin: Store.Origin) -> Void = {
      warn("\(AssetPackManager.sharedKeyText($0, $1, $2))")
    }

    /// The settings of every pull. The configuration determines channel, key and version of the app; ``rules`` determines the rate
    /// limit. A token or password in `authorization` is used only if all sites of the configuration are on one server, and never
    /// for an override. The agent uses the answers of the app's extension alone.
    public var pullOptions = Store.PullOptions()

    /// The budget for decoded copies of large assets, in bytes; 0 disables the cache.
    public var cacheByteBudget = 512 << 20

    /// The environment variables for folders and languages (default: the environment of the process).
    public var environment = ProcessInfo.processInfo.environment

    /// A store to use in place of the group's store. Ignored while an override is in effect.
    public var store: Store?

    /// Selects the packs to download from the packs that an event requires. Called after ``shouldDownload``.
    package var filter: (@Sendable (BAContentRequest, [AssetPack]) async -> FilterAnswer)?

    /// Receives the reasons why an event downloads packs or not.
    package var explain: (@Sendable (BAContentRequest, [PolicyDecision]) -> Void)?

    /// Whether to register the app in the group's journal; false for an extension that runs by itself.
    package var registersApp = true

    /// Whether pauses come from the journal only and are not written to it. Set for the agent, which would otherwise undo changes
    /// that an app has made since.
    package var followsJournal = false

    /// Whether to ask the agent for packs that it is downloading, and to notify it of requests.
    package var speaksToAgent = true

    /// The time for which a silent agent may keep a lock from this app.
    package var agentPatience = AgentClient.patience

    /// Returns the identity of the peer of a socket.
    package var credentials = PeerCredentials.system

    /// Fetches the files of download manifests; `nil` for the network.
    package var transport: (any FileTransport)?

    /// Sites to use in place of the configuration's sites.
    package var sites: [any PackSite]?

    /// The clock; tests replace it.
    package var clock = TransferClock.system

    /// Returns the time in seconds since 1970; determines whether an override has ended.
    package var wallClock: @Sendable () -> Double = { Date().timeIntervalSince1970 }

    /// The choice of the override to apply.
    package enum OverrideRule: Sendable {
      /// The override in the group's folder, read before each contact with the sites.
      case ofTheGroup
      /// This override, or none, regardless of the folder.
      case fixed(URLOverride?)
    }

    package var override = OverrideRule.ofTheGroup

    /// Called when an override begins, ends or is rejected. The default prints a warning on standard error.
    package var onOverride: @Sendable (String) -> Void = { warn($0) }

    public init() {}
  }
}
