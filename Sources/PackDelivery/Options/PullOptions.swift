import PackFormats
public import PackStore

extension Store {
  /// How to pull versions.
  public struct PullOptions: Sendable {
    /// The root key that must have signed the site. A place pinned to another key stays pinned. By default the key pinned at first
    /// contact; if none is pinned, the key found is pinned.
    public var trustedKey: SitePublicKey?

    /// Whether to take over packs of another origin: the named packs, or the pack of an archive. This deletes their history.
    public var adopts = false

    /// Whether to accept a version below the last accepted one, for named packs or the pack of an archive.
    public var allowsDowngrade = false

    /// The channel to follow from now on; `nil`: the channel followed there last, or `live`. With a different channel, versions may
    /// be lower than the installed ones; then all packs must be pulled.
    public var channel: SiteChannel?

    /// The version of the app that reads the packs; `nil`: versions for any app version are accepted.
    public var appVersion: AppVersion?

    /// Versions of other apps that read the same packs: a pack version must be for these too.
    package var otherAppVersions: [AppVersion] = []

    /// The platform that packs must be for; `nil`: any. By default the platform that this program was built for.
    public var platform: Platform? = .current

    /// The device id that decides about versions for a share of devices; `nil`: the store's own, generated when first needed.
    public var device: DeviceID?

    /// The maximum age of the site's root; by default unlimited, unless it has expired.
    public var maximumAge: Duration?

    /// Whether to accept an unsigned site, from a folder or archive only.
    public var allowsUnsigned = false

    /// Whether to fetch a delta of the site if it is shorter than the missing frames; a delta of up to 64 KiB without comparing.
    /// Deltas need more processor time.
    public var usesDeltas = true

    /// Whether to also restore packs whose data ``Store/purge(bytes:)`` deleted. By default these are skipped unless they are
    /// named. Data deleted by other programs is always restored. Also reads existing data of purgeable packs and restores damaged
    /// data, which lengths alone do not reveal.
    public var refetches = false

    /// As ``Transaction/Options/cacheFolder``.
    public var cacheFolder: CacheFolder?

    /// A specific version of the only named pack, regardless of the site's first offer.
    package struct WantedVersion: Sendable {
      package let number: UInt64
      /// Whether to hold the pack there, like a rollback.
      package let isHeld: Bool

      package init(number: UInt64, isHeld: Bool) {
        self.number = number
        self.isHeld = isHeld
      }
    }

    package var wantedVersion: WantedVersion?

    /// The product of packs that no key has signed, in place of the product that an unsigned root names.
    package var unsignedProduct: Product?

    /// Called before a server is contacted, also after a redirection; an error ends the pull. `nil`: all servers are permitted.
    package var permitsHost: (@Sendable (String) throws -> Void)?

    /// Whether to fetch no frames: versions can be inspected, but not read. For temporary stores.
    package var leavesOutFrames = false

    /// The maximum rate in bytes per second.
    public var byteRateLimit: Int?

    /// Pauses and resumes the pull.
    public var pause: PullPause?

    /// A transfer without a byte for this long is tried again.
    public var stallLimit: Duration = .seconds(20)

    /// The number of failures of a transfer before 64 KiB of new bytes arrive; at most three before the site has answered for the
    /// first time.
    public var attemptLimit = 8

    /// Limits for the server and the network, after which the pull fails.
    public var limits = NetworkLimits()

    /// The number of rows that a version may have in addition to 64 for each KiB of its distinct pages. A row is a chunk of a file
    /// or an extent of the layout. By default 4,194,304, the number in about 64 GiB of holes in sparse files. More rows are
    /// `tooManyRows`, also from a folder or archive, because a few bytes of metadata can describe billions of rows.
    public var rowLimit: Int?

    public var durability: Durability = .durable

    /// Whether to wait at the commit while another writer holds the lock, and while another process pulls the same version, rather
    /// than fail with `busy`.
    public var waitsForWriters = true

    /// The number of versions to keep of each pulled pack, including the current one. By default 2.
    public var keptVersionCount: Int?

    /// As ``Transaction/Options/keepsGeneration``.
    public var keepsGeneration = false

    /// As ``Transaction/Options/collectionPercent``.
    public var collectionPercent = 25

    /// Environment variables with proxies (`http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`), and with a PEM file of
    /// certificates to trust instead of the system's (`SSL_CERT_FILE`). By default the process's environment.
    public var environment: [String: String]?

    /// A token or password for the site's own server. A name and a password in the site's URL override it. By default none.
    public var authorization: SiteAuthorization?

    /// PEM certificates that must have signed a server's certificate, instead of those of the environment and the system.
    package var authority: String?

    /// A simulated network in place of the real one; `nil`: the real one.
    package var network: ShapedNetwork?

    /// A simulated clock, for tests.
    package var clock = TransferClock.system

    /// Returns the time of day in nanoseconds since 1970; `nil` selects the system's clock.
    package var wallClock: (@Sendable () -> Int64)?

    /// A rate limit shared by several pulls, in place of ``byteRateLimit``.
    package var sharedRateLimit: RateLimit?

    /// The sizes of requests, which determine most of the memory use.
    package var fetchLimits = FetchLimits()

    /// The packs to pull if none are named.
    public var unnamedPacks = UnnamedPacks.all

    /// The packs of a site to pull if none are named.
    public enum UnnamedPacks: Hashable, Sendable {
      case all
      /// Installed packs. ``PullResult/otherPacks`` lists the others.
      case installed
      /// Installed packs; all packs if the store has and had none of the site's origin.
      case installedUnlessNone
    }

    /// Returns the segments of another store of this user that contain a version; `nil` if none does. They are linked into the store
    /// after a check by SHA-256, and their chunks are not fetched.
    package var findShared: (@Sendable (PackID, CatalogID) -> SharedContent?)?

    /// Packs that the client will request: a pull of a release includes them, so that they do not become visible later than the other
    /// packs of the release.
    package var wantedPacks: Set<PackID> = []

    /// Packs that count as held regardless of the store: for planning a pull into a store on top of this one.
    package var heldPacks: Set<PackID> = []

    public init(
      trustedKey: SitePublicKey? = nil, adopts: Bool = false, allowsDowngrade: Bool = false,
      channel: SiteChannel? = nil, appVersion: AppVersion? = nil, platform: Platform? = .current,
      device: DeviceID? = nil, maximumAge: Duration? = nil, allowsUnsigned: Bool = false, usesDeltas: Bool = true,
      byteRateLimit: Int? = nil,
      pause: PullPause? = nil, stallLimit: Duration = .seconds(20), attemptLimit: Int = 8,
      limits: NetworkLimits = NetworkLimits(), durability: Durability = .durable, waitsForWriters: Bool = true,
      keptVersionCount: Int? = nil, environment: [String: String]? = nil, authorization: SiteAuthorization? = nil
    ) {
      self.trustedKey = trustedKey
      self.adopts = adopts
      self.allowsDowngrade = allowsDowngrade
      self.channel = channel
      self.appVersion = appVersion
      self.platform = platform
      self.device = device
      self.maximumAge = maximumAge
      self.allowsUnsigned = allowsUnsigned
      self.usesDeltas = usesDeltas
      self.byteRateLimit = byteRateLimit
      self.pause = pause
      self.stallLimit = stallLimit
      self.attemptLimit = attemptLimit
      self.limits = limits
      self.durability = durability
      self.waitsForWriters = waitsForWriters
      self.keptVersionCount = keptVersionCount
      self.environment = environment
      self.authorization = authorization
    }
  }
}
