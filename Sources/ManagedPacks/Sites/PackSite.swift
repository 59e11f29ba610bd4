/// A site as a manager uses it. Tests substitute their own.
package protocol PackSite: Sendable {
  /// The location from the configuration.
  var location: String { get }

  /// Requests the list of offers.
  func listing() async throws -> SiteListing

  /// Updates one pack to the offered version, and returns when it can be read.
  ///
  /// - Parameter progress: called on any thread, in order.
  func pull(
    _ pack: PackID, pause: Store.PullPause, progress: @escaping @Sendable (Store.PullProgress) -> Void
  ) async throws -> PulledPack
}

/// The packs that a site offers this app.
package struct SiteListing: Hashable, Sendable {
  package var origin: Store.Origin
  package var channel: SiteChannel?
  package var root: RootNumber
  /// The id of the site, which its copies share; empty if unknown.
  package var siteID = ""
  /// Whether the site is an outdated mirror, whose listing must not be used.
  package var isStale = false
  package var primaryLanguage: LanguageTag?
  /// All packs of the channel.
  package var packs: [Entry] = []

  package struct Entry: Hashable, Sendable {
    package var id: PackID
    /// `nil` if the pack is listed, but not offered to this app.
    package var offer: Offer?
    /// Set if the offer is missing only because of another app of the group.
    package var disagreement: AppDisagreement?
    /// The publisher of the pack; `nil` if it is the origin of the listing.
    package var origin: Store.Origin?
    /// The newest version, if an update would not install it.
    package var withheld: WithheldVersion?

    package init(
      id: PackID, offer: Offer?, disagreement: AppDisagreement? = nil, origin: Store.Origin? = nil
    ) {
      self.id = id
      self.offer = offer
      self.disagreement = disagreement
      self.origin = origin
    }
  }

  package struct Offer: Hashable, Sendable {
    package var version: UInt64
    package var attributes: Attributes
    package var downloadByteCount: Int

    package init(version: UInt64, attributes: Attributes, downloadByteCount: Int) {
      self.version = version
      self.attributes = attributes
      self.downloadByteCount = downloadByteCount
    }
  }

  package init(origin: Store.Origin, channel: SiteChannel? = nil, root: RootNumber = RootNumber()) {
    self.origin = origin
    self.channel = channel
    self.root = root
  }
}

/// The result of a pull.
package struct PulledPack: Hashable, Sendable {
  package var outcome: Store.PullResult.Pack.Outcome
  package var origin: Store.Origin
  package var channel: SiteChannel?
  package var root: RootNumber
  /// The pack that blocks the release, if the outcome is `releaseIncomplete`.
  package var blockingPack: PackID?
  /// Other packs of the release that were updated in the same commit.
  package var otherPacks: [PackID] = []

  package init(
    _ outcome: Store.PullResult.Pack.Outcome, origin: Store.Origin, channel: SiteChannel? = nil,
    root: RootNumber = RootNumber()
  ) {
    self.outcome = outcome
    self.origin = origin
    self.channel = channel
    self.root = root
  }
}
