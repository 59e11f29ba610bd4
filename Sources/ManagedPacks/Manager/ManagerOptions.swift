extension AssetPackManager {
  /// What an app may put in the place of what a manager does by itself.
  public struct Options: Sendable {
    /// How downloads share the machine and the network.
    public var rules = DownloadRules()

    /// Filters packs that a policy would fetch; what the app asks for itself is not asked about.
    public var shouldDownload: (@Sendable (AssetPack) -> Bool)?

    /// Called when a site was pulled from for the first time whose key the configuration does not name: the key is pinned from now
    /// on. By default a warning on standard error.
    public var onFirstContact: @Sendable (_ site: String, _ key: SitePublicKey) -> Void = { site, key in
      warn(
        "the site '\(withoutSecrets(site))' is signed by the key \(key), which is trusted from now on: compare it with what its "
          + "publisher says, and name it as PackStoreTrustedKey")
    }

    /// Settings for every pull. Channel, key and version of the app are the configuration's, and the limit of rate is that of
    /// ``rules``. A token or password in `authorization` is used only if all sites of the configuration are on one server, and
    /// never for an override. The agent uses none.
    public var pullOptions = Store.PullOptions()

    /// What the store keeps decoded of large assets, in bytes; 0: nothing.
    public var cacheByteBudget = 512 << 20

    /// Where folders and languages are looked up. By default the process's.
    public var environment = ProcessInfo.processInfo.environment

    /// A store to use in place of the group's.
    public var store: Store?

    /// Which of the packs to fetch that an event calls for, asked after ``shouldDownload``.
    package var filter: (@Sendable (BAContentRequest, [AssetPack]) async -> FilterAnswer)?

    /// Told why packs are fetched for an event, or not.
    package var explain: (@Sendable (BAContentRequest, [PolicyDecision]) -> Void)?

    /// Notes the app in the group's journal: an extension that runs by itself is none.
    package var registersApp = true

    /// The journal says which downloads are paused, and what happens to them is not written there: an agent's, which would undo
    /// what an app has written meanwhile.
    package var followsJournal = false

    /// Asks the agent for a pack that it is fetching, and tells it of requests.
    package var speaksToAgent = true

    /// How long an agent may keep a lock from this app without a word.
    package var agentPatience = AgentClient.patience

    /// Who is at the other end of a socket.
    package var credentials = PeerCredentials.system

    /// Sites in place of those of the configuration.
    package var sites: [any PackSite]?

    /// Other time than the world's.
    package var clock = TransferClock.system

    /// Seconds since 1970: whether an override has ended.
    package var wallClock: @Sendable () -> Double = { Date().timeIntervalSince1970 }

    /// Which override counts.
    package enum OverrideRule: Sendable {
      /// The one of the group's folder, as of each question.
      case ofTheGroup
      /// This one, or none, whatever the folder says.
      case fixed(URLOverride?)
    }

    package var override = OverrideRule.ofTheGroup

    /// Called when an override has begun to count, has ended, or does not count. By default a warning on standard error.
    package var onOverride: @Sendable (String) -> Void = { warn($0) }

    public init() {}
  }
}
