public import PackFormats
public import PackStore

extension Store {
  /// The offers of a site for a client.
  public struct SiteOffers: Hashable, Codable, Sendable {
    /// All packs of the channel, in order of names; empty if ``isStale``.
    public internal(set) var packs: [SiteOffers.Pack] = []

    /// The root key that signed the site; `nil`: it is unsigned.
    public internal(set) var key: SitePublicKey?

    /// Whether the store never accepted anything from this publisher, and the caller does not vouch for the key. Compare it with
    /// the key that the publisher announces.
    public internal(set) var isFirstContact = false

    /// The origin for which a pull would change packs.
    public internal(set) var origin = Origin.local

    /// The channel; `nil` for an archive.
    public internal(set) var channel: SiteChannel?

    /// The language of packs without one; `nil` if the site does not specify it.
    public internal(set) var primaryLanguage: LanguageTag?

    /// The date of the site's root.
    public internal(set) var madeAt = Date(timeIntervalSince1970: 0)

    /// When the root expires; `nil`: never.
    public internal(set) var expiresAt: Date?

    /// Whether the root is older than one already seen at this place: the mirror is out of date, and its offers are not valid.
    public internal(set) var isStale = false

    /// The id of the site, which its copies share.
    package internal(set) var siteID = ""

    /// The number of that root.
    package internal(set) var rootNumber = RootNumber()

    /// Bytes received from the network.
    public internal(set) var wireByteCount = 0

    /// At most three, unless a request had to be repeated.
    public internal(set) var requestCount = 0
  }
}

extension Store.SiteOffers {
  /// A pack of a site.
  public struct Pack: Hashable, Codable, Sendable {
    public let pack: PackID

    /// The precedence among packs of the publisher with the same path: the highest wins. It overrides the priority in the
    /// attributes.
    public let priority: Int32

    /// The version that a pull would install, unless the pack is held or has another origin, or its release cannot be installed; `nil`:
    /// see ``refusals``.
    public let offer: Offer?

    /// The versions that the site lists before that one, and that are not for this client.
    public let refusals: [Refusal]

    /// The store's current version of the pack, if it has this publisher's.
    public let currentVersion: UInt64?

    /// The newest version that the channel ever offered, and the reason why a pull would not install it; `nil` if it would, or if
    /// the store has it.
    public let withheld: WithheldVersion?
  }

  /// A version, and its metadata before a download.
  public struct Offer: Hashable, Codable, Sendable {
    public let version: UInt64

    /// Policy, platforms, user info and more. For language and app versions see below.
    public let attributes: Attributes

    /// The language in the attributes, otherwise the site's primary language.
    public let language: LanguageTag?

    /// The app versions that it is for; `nil`: all. It overrides the range in the attributes.
    public let appVersions: AppVersionRange?

    /// The download size for an empty store, in bytes.
    public let downloadByteCount: Int
  }

  /// A version that is not for this client.
  public struct Refusal: Hashable, Codable, Sendable {
    public let version: UInt64

    public let obstacle: OfferObstacle
  }
}

extension Store.SiteOffers: CustomStringConvertible {
  /// The offers of all packs.
  public var description: String { packs.map(\.description).joined(separator: ", ") }
}

extension Store.SiteOffers.Pack: CustomStringConvertible {
  /// `Tutorial@3`, or `Tutorial: nothing`.
  public var description: String { offer.map { "\(pack)@\($0.version)" } ?? "\(pack): nothing" }
}
