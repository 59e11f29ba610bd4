public import PackStore

extension Site {
  /// How versions are published.
  public struct PublishOptions: Hashable, Sendable {
    /// The `Store.CompressionLevel` of what the site does not have yet. It is paid once, and saved with every download. Nil: what
    /// a manifest says that is published, or ``standardLevel``. What archives hold is not compressed again.
    public var level: Int32?

    /// How apps will read the assets; nil: as a manifest says that is published, or at random.
    public var layout: Store.InstallOptions.Layout?

    /// The label of a manifest's version; nil: what the manifest says. Versions of stores and archives have theirs.
    public var label: VersionLabel?

    /// What is noted of a manifest's version, where ``publishesNotes`` says so; nil: what the manifest notes.
    public var note: VersionNote?

    /// Makes the note of a manifest's version a part of it, which everybody can read. A site has no other place for it; versions of
    /// stores and archives have what they have.
    public var publishesNotes = false

    /// Where nothing says another one.
    public static let standardLevel: Int32 = 12

    var encodingLevel: Int32 { level ?? Self.standardLevel }

    /// How many versions of a pack that were offered stay on the site, the current one included. The version before the current
    /// one of each channel is one of them, unless this is 1. Of builds that wait to be offered, as many of the latest stay.
    public var keptVersionCount = 3

    /// From how many versions there are deltas to the current one, those before it first. Clients that have one of
    /// these fetch less, and the publisher pays for it once: about a second for a megabyte of new bytes, on each
    /// processor.
    public var deltaCount = 1

    /// How small deltas are.
    public var deltaOptions = Store.DeltaOptions()

    /// What the site's packs belong to; it is chosen once. Nil: what the site says, or `Store.Product.standard` for a new
    /// one. A site that has lost its root says nothing: then this and ``expiry`` are needed.
    public var product: Store.Product?

    /// The channel that is to offer the versions; nil: none does, until they are promoted.
    public var channel: SiteChannel? = .live

    /// The language of packs that name none, which clients are told; nil: what the site says.
    public var primaryLanguage: LanguageTag?

    /// After how long clients refuse the site unless it was published or refreshed again. A property of the site: each
    /// publication renews it.
    public var expiry = Expiry.asBefore

    public enum Expiry: Hashable, Sendable {
      /// What the site says; a new one never expires.
      case asBefore
      case never
      case after(Duration)
    }

    /// How long what left the site can still be fetched: by clients that are in the middle of it, and by mirrors that
    /// are a few days behind. With zero it is removed at once.
    public var gracePeriod: Duration = defaultGracePeriod

    /// A week.
    public static let defaultGracePeriod: Duration = .seconds(7 * 86_400)

    /// How much may be stored once more to free segments that are mostly dead, in percent of the segments that a publication
    /// makes, 0 to 100. It is new data for mirrors, too; what it frees goes after the grace period.
    public var collectionPercent = 25

    /// Withdraws from the channel the packs that it offers and that the source does not have. Other channels go on offering them; a
    /// pack that none does leaves the site.
    public var prunes = false

    /// With ``prunes``: the largest share of the channel's packs that may go, in percent; more is `refused`.
    public var prunedPercentLimit = 50

    /// Allows a promotion of a lower version than the channel offers to the same apps, which takes the higher one back from devices.
    public var takesBack = false

    /// Waits while another process publishes to the site; otherwise that is `busy`.
    public var waitsForOthers = true

    public init(
      level: Int32? = nil, layout: Store.InstallOptions.Layout? = nil, keptVersionCount: Int = 3,
      deltaCount: Int = 1, deltaOptions: Store.DeltaOptions = Store.DeltaOptions(), product: Store.Product? = nil,
      channel: SiteChannel? = .live, primaryLanguage: LanguageTag? = nil, expiry: Expiry = Expiry.asBefore,
      gracePeriod: Duration = defaultGracePeriod, waitsForOthers: Bool = true
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
  /// Which version of a pack to publish.
  public struct PublishedPack: Hashable, Sendable {
    public var pack: PackID

    /// The number of a version that the store keeps; nil: the current one.
    public var version: UInt64?

    public init(_ pack: PackID, version: UInt64? = nil) {
      self.pack = pack
      self.version = version
    }
  }
}

extension Site {
  /// How far a publication has come.
  public enum PublishProgress: Store.Progress {
    /// Copying a version to the site.
    case store(PackID, Store.InstallProgress)
    /// Taking a version of an archive: bytes of it that came, and that are new on the site.
    case take(PackID, byteCount: Int, totalByteCount: Int)
    /// Describing the frames of new segments: bytes of segments that were read, and of all.
    case describe(byteCount: Int, totalByteCount: Int)
    /// Making a delta to a version of this pack, which the site shows already. Of all deltas that are to be made, the bytes of the
    /// versions to which they lead: those that were worked on, and how many there are.
    case delta(PackID, byteCount: Int, totalByteCount: Int)
    /// Making it visible.
    case commit
    /// Packs that the source does not have are about to be withdrawn from the channel.
    case prune([PackID])
    /// The channel is about to offer these versions, which it does not offer yet. Reported after copying them and before signing
    /// the root, only for a channel that exists.
    case offer([PackVersion])
    /// The site shows what was published, and all of it is there: only deltas follow, and may be interrupted.
    case signed

    /// Of the step.
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
