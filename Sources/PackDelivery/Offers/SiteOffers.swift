public import PackFormats
public import PackStore

extension Store {
  /// What a site offers a client.
  public struct SiteOffers: Hashable, Codable, Sendable {
    /// All that the channel has, in order of names; none when ``isStale``.
    public internal(set) var packs: [SiteOffers.Pack] = []

    /// Who signed the site; nil: it is unsigned.
    public internal(set) var key: SitePublicKey?

    /// Nothing of this publisher was taken here before, and the caller does not vouch for the key. Compare it with what the
    /// publisher says.
    public internal(set) var isFirstContact = false

    /// By whose word a pull would change packs.
    public internal(set) var origin = Origin.local

    /// The channel that was asked; nil: it was an archive.
    public internal(set) var channel: SiteChannel?

    /// The language of packs that name none; nil: the site does not say.
    public internal(set) var primaryLanguage: LanguageTag?

    /// When the site's root was made.
    public internal(set) var madeAt = Date(timeIntervalSince1970: 0)

    /// When the root expires; nil: never.
    public internal(set) var expiresAt: Date?

    /// The root is older than one that was seen at this place: a mirror lags. What it offers is not what counts.
    public internal(set) var isStale = false

    /// Of the root that says so.
    package internal(set) var rootNumber = RootNumber()

    /// What came over the wire, in bytes.
    public internal(set) var wireByteCount = 0

    /// Three at most, unless an answer had to be asked for again.
    public internal(set) var requestCount = 0
  }
}

extension Store.SiteOffers {
  /// What the site says of one pack.
  public struct Pack: Hashable, Codable, Sendable {
    public let pack: PackID

    /// Who wins when several packs of the publisher have the same path: the higher. It counts in place of what the
    /// attributes say.
    public let priority: Int32

    /// The version that a pull would bring, unless the pack is held or of another origin; nil: ``refusals`` say why.
    public let offer: Offer?

    /// The versions that the site offers before that one, and not to this client.
    public let refusals: [Refusal]

    /// The version that the store shows of the pack, where it has it from this publisher.
    public let currentVersion: UInt64?
  }

  /// A version, and what is known of it before it is fetched.
  public struct Offer: Hashable, Codable, Sendable {
    public let version: UInt64

    /// Policy, platforms, user info and more. Language and versions of the app are as below.
    public let attributes: Attributes

    /// That of the attributes, else the site's primary one.
    public let language: LanguageTag?

    /// The versions of the app that it is for; nil: all. It counts in place of what the attributes say.
    public let appVersions: AppVersionRange?

    /// What a client that has nothing yet fetches for it, in bytes.
    public let downloadByteCount: Int
  }

  /// A version that is not for this client.
  public struct Refusal: Hashable, Codable, Sendable {
    public let version: UInt64

    public let obstacle: OfferObstacle
  }
}

extension Store.SiteOffers: CustomStringConvertible {
  /// What is offered of each pack.
  public var description: String { packs.map(\.description).joined(separator: ", ") }
}

extension Store.SiteOffers.Pack: CustomStringConvertible {
  /// `Tutorial@3`, or `Tutorial: nothing`.
  public var description: String { offer.map { "\(pack)@\($0.version)" } ?? "\(pack): nothing" }
}
