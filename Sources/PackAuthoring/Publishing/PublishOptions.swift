public import PackStore

extension Site {
  /// The options of a publication.
  public struct PublishOptions: Hashable, Sendable {
    /// The `Store.CompressionLevel` of data that the site lacks. Compression takes time once, and makes every download smaller.
    /// `nil` for the level in a published manifest, or ``standardLevel``. Data of archives is not compressed again.
    public var level: Int32?

    /// The expected access pattern of the assets; `nil` for the layout in a published manifest, or random.
    public var layout: Store.InstallOptions.Layout?

    /// The label of a manifest's version; `nil` for the label in the manifest. Versions of stores and archives keep their labels.
    public var label: VersionLabel?

    /// The note about a manifest's version, if ``publishesNotes`` is set; `nil` for the note in the manifest.
    public var note: VersionNote?

    /// Whether to include the note in a manifest's version, where everyone can read it. A site has no other place for it; versions
    /// of stores and archives are not changed.
    public var publishesNotes = false

    /// The default level.
    public static let standardLevel: Int32 = 12

    var encodingLevel: Int32 { level ?? Self.standardLevel }

    /// Like `Store.InstallOptions.rowLimit`, for a manifest's version.
    public var rowLimit: Int?

    /// The number of offered versions of a pack that stay on the site, including the current one. The version before the current
    /// one of each channel is among them, unless this is 1. The latest n - 1 builds that wait to be offered stay as well.
    /// `nil`: the numbers of the site's `RetentionPolicy`.
    public var keptVersionCount: Int?

    /// The number of earlier versions with deltas to the current version, the latest first. Clients with one of these versions
    /// fetch less. Building takes about a second per megabyte of new bytes, on each processor.
    public var deltaCount = 1

    /// The options for building deltas.
    public var deltaOptions = Store.DeltaOptions()

    /// The product of the site's packs, which cannot change. `nil` for the site's product, or `Store.Product.standard` for a new
    /// site. For a site that has lost its root, this and ``expiry`` are required.
    public var product: Store.Product?

    /// The channel that will offer the versions; `nil` for none, until they are promoted.
    public var channel: SiteChannel? = .live

    /// The language that clients use for packs without a language; `nil` for the site's language.
    public var primaryLanguage: LanguageTag?

    /// The time after which clients refuse the site unless it is published or refreshed again. A property of the site, renewed by
    /// each publication.
    public var expiry = Expiry.asBefore

    public enum Expiry: Hashable, Sendable {
      /// The site's setting; a new site never expires.
      case asBefore
      case never
      case after(Duration)
    }

    /// How long files that left the site can still be fetched, by clients in the middle of a download, and by mirrors that are a
    /// few days behind. Zero: they are deleted at once. `nil`: the period of the site's `RetentionPolicy`.
    public var gracePeriod: Duration?

    /// One week, for sites without a policy.
    public static let defaultGracePeriod: Duration = .seconds(7 * 86_400)

    /// The maximum number of bytes to store again to free segments that are mostly dead, in percent of a publication's new
    /// segments, from 0 to 100. Mirrors must also copy these bytes. The freed segments are deleted after the grace period.
    public var collectionPercent = 25

    /// Whether to withdraw packs that the source lacks from the channel. Other channels continue to offer them. A pack that no
    /// channel offers leaves the site, except its pinned versions.
    public var prunes = false

    /// With ``prunes``: the maximum share of the channel's packs to withdraw, in percent; more is `refused`.
    public var prunedPercentLimit = 50

    /// Whether to allow promoting a version below an offer of the channel to the same apps, which withdraws the higher version from
    /// devices.
    public var takesBack = false

    /// Segments of the site whose data new versions from a store do not reuse. A version that must stay secret for now is stored in
    /// segments that versions for the public do not need.
    package var avoidedSegments: Set<SegmentID> = []

    /// Whether a promotion sets the share of lower versions whose release is unfinished to 0, rather than to the share reached.
    public var haltsPrevious = false

    /// How long after the root's date steps of rollouts count. A limit bounds the share if a network withholds newer roots, and
    /// requires that something signs the site again in time. A channel without rollouts keeps no horizon.
    public var rolloutHorizon = RolloutHorizon.asBefore

    public enum RolloutHorizon: Hashable, Sendable {
      /// The channel's setting; a channel without rollouts has no limit.
      case asBefore
      case unlimited
      case after(Duration)
    }

    /// Whether to wait while another process publishes to the site, rather than fail with `busy`.
    public var waitsForOthers = true

    public init(
      level: Int32? = nil, layout: Store.InstallOptions.Layout? = nil, keptVersionCount: Int? = nil,
      deltaCount: Int = 1, deltaOptions: Store.DeltaOptions = Store.DeltaOptions(), product: Store.Product? = nil,
      channel: SiteChannel? = .live, primaryLanguage: LanguageTag? = nil, expiry: Expiry = Expiry.asBefore,
      gracePeriod: Duration? = nil, waitsForOthers: Bool = true
    ) {
      self.level = level
      self.layout = layout
      self.keptVersionCount = keptVersionCount
      self.deltaCount = deltaCount
      self.deltaOptions = deltaOptions
      self.product = product
      self.channel = channel
      self.primaryLanguage = primaryLanguage
      self.expiry = expiry
      self.gracePeriod = gracePeriod
      self.waitsForOthers = waitsForOthers
    }
  }
}

extension Site {
  /// A version of a pack to publish.
  public struct PublishedPack: Hashable, Sendable {
    public var pack: PackID

    /// The number of a version that the store keeps; `nil` for the current version.
    public var version: UInt64?

    public init(_ pack: PackID, version: UInt64? = nil) {
      self.pack = pack
      self.version = version
    }
  }
}

extension Site {
  /// The progress of a publication.
  public enum PublishProgress: Store.Progress {
    /// Copying a version to the site.
    case store(PackID, Store.InstallProgress)
    /// Receiving a version from an archive: the received bytes, and the total bytes that are new on the site.
    case take(PackID, byteCount: Int, totalByteCount: Int)
    /// Describing the frames of new segments: the read bytes, and the total bytes of the segments.
    case describe(byteCount: Int, totalByteCount: Int)
    /// Building a delta to a version of this pack, which the site already offers: the processed and the total bytes of the target
    /// versions of all deltas.
    case delta(PackID, byteCount: Int, totalByteCount: Int)
    /// Committing, and signing the root.
    case commit
    /// The channel is about to withdraw packs that the source lacks.
    case prune([PackID])
    /// The channel is about to offer these versions, which it does not offer yet. Reported after copying them and before signing
    /// the root, only for a channel that exists.
    case offer([PackVersion])
    /// The site offers the published versions completely. Only deltas follow, which can be interrupted.
    case signed

    /// The completed fraction of the step.
    public var fraction: Double {
      switch self {
      case .store(_, let progress): progress.fraction
      case .describe(let done, let total), .take(_, let done, let total), .delta(_, let done, let total):
        PackStore.fraction(done, of: total)
      case .commit, .prune, .offer, .signed: 1
      }
    }
  }
}
