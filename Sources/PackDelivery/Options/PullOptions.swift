import PackFormats
public import PackStore

extension Store {
  /// How versions are pulled.
  public struct PullOptions: Sendable {
    /// The key that must have signed the site. A place that is pinned to another one stays so. By default the one that
    /// was pinned at first contact; without any, the one that is found is pinned.
    public var trustedKey: SitePublicKey?

    /// Takes over packs of another origin: those that are named, or the one of an archive. Their history goes then.
    public var adopts = false

    /// Takes a version that is lower than the one that was accepted last: of packs that are named, or the one of an
    /// archive.
    public var allowsDowngrade = false

    /// Which channel of the site is followed from now on; nil: the one that was followed there last, or `live`. With
    /// another one than before, versions may be lower than what is there; ask for all packs then.
    public var channel: SiteChannel?

    /// The version of the app that will read the packs; nil: versions for any app are taken.
    public var appVersion: AppVersion?

    /// Those of other apps that read the same packs: a version has to be for them, too.
    package var otherAppVersions: [AppVersion] = []

    /// The platform that packs must be for; nil: any. By default the one that this program was built for.
    public var platform: Platform? = .current

    /// By which versions are chosen that are for a share of devices; nil: the store's own, drawn when it is first needed.
    public var device: DeviceID?

    /// How old the site's root may be; by default as old as it is, unless it has expired.
    public var maximumAge: Duration?

    /// Takes a site that is not signed, from a folder or archive only.
    public var allowsUnsigned = false

    /// Takes a delta that the site has where that is shorter than the frames that are missing; one of up to 64 KiB
    /// without asking. It costs more work here.
    public var usesDeltas = true

    /// Brings back what is gone of packs that ``Store/purge(bytes:)`` took, too. By default these are left alone unless they are
    /// named. What vanished by another hand comes back in any case. Also reads what is there of purgeable packs, and brings back what
    /// is damaged: lengths alone do not say that.
    public var refetches = false

    /// As ``Transaction/Options/cacheFolder``.
    public var cacheFolder: CacheFolder?

    /// A version of the only pack that is named, whatever the site offers first.
    package struct WantedVersion: Sendable {
      package let number: UInt64
      /// Holds the pack there, as a rollback does.
      package let isHeld: Bool

      package init(number: UInt64, isHeld: Bool) {
        self.number = number
        self.isHeld = isHeld
      }
    }

    package var wantedVersion: WantedVersion?

    /// Fetches no frames: versions can be looked at, and not be read. Into a store that is thrown away.
    package var leavesOutFrames = false

    /// How fast bytes may come, in bytes per second.
    public var byteRateLimit: Int?

    /// Holds the pull up and lets it go on.
    public var pause: PullPause?

    /// A transfer in which no byte came for this long is tried again.
    public var stallLimit: Duration = .seconds(20)

    /// How often a transfer may fail before 64 KiB of new bytes came; three times at most before the site has answered
    /// at all.
    public var attemptLimit = 8

    /// What a server, or a network in between, may cost before it is given up.
    public var limits = NetworkLimits()

    /// How many rows a version may have beyond 64 for each KiB of its distinct pages: a row is a chunk of a file or an extent of
    /// the layout. By default 4,194,304; about 64 GiB of holes in sparse files have as many. More is `tooManyRows`, also from a
    /// folder or an archive: few bytes of metadata can describe billions of rows.
    public var rowLimit: Int?

    public var durability: Durability = .durable

    /// Waits at the commit while another writer holds the lock, and while another process pulls the same version;
    /// otherwise that is `busy`.
    public var waitsForWriters = true

    /// How many versions are kept of each pack that is pulled, the current one included. By default 2.
    public var keptVersionCount: Int?

    /// As ``Transaction/Options/keepsGeneration``.
    public var keepsGeneration = false

    /// As ``Transaction/Options/collectionPercent``.
    public var collectionPercent = 25

    /// Where proxies are named: `http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`; and in `SSL_CERT_FILE` a PEM file
    /// with the certificates to trust in place of the system's. By default the process's.
    public var environment: [String: String]?

    /// A token or password that is sent to a site's own server. A name and a password in the site's URL take its place.
    /// Default: none.
    public var authorization: SiteAuthorization?

    /// In PEM: who must have vouched for a server's certificate, in place of what the environment and the system name.
    package var authority: String?

    /// A network that is played in place of the real one; nil: that.
    package var network: ShapedNetwork?

    /// Other time than the world's, for tests.
    package var clock = TransferClock.system

    /// A limit that several pulls share; in place of ``byteRateLimit``.
    package var sharedRateLimit: RateLimit?

    /// How much is asked for at a time, which most of the memory goes to.
    package var fetchLimits = FetchLimits()

    /// What a pull takes that names no packs.
    public var unnamedPacks = UnnamedPacks.all

    /// Which of a site's packs a pull takes that names none.
    public enum UnnamedPacks: Hashable, Sendable {
      case all
      /// Those that are here. ``PullResult/otherPacks`` are the others.
      case installed
      /// Those that are here; all of them where none of the site's origin is or was.
      case installedUnlessNone
    }

    /// Packs that count as held whatever the store says of them: it lies over another one for which a pull is planned.
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
