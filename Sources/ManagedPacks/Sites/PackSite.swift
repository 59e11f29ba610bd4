/// A site as a manager needs it. Tests put their own in the place of one.
package protocol PackSite: Sendable {
  /// As it was configured.
  var location: String { get }

  /// Asks what is offered.
  func listing() async throws -> SiteListing

  /// Brings one pack to the version that is offered, and returns when it can be read.
  ///
  /// - Parameter progress: called on any thread, in order.
  func pull(
    _ pack: PackID, pause: Store.PullPause, progress: @escaping @Sendable (Store.PullProgress) -> Void
  ) async throws -> PulledPack
}

/// What a site offers this app.
package struct SiteListing: Hashable, Sendable {
  package var origin: Store.Origin
  package var channel: SiteChannel?
  package var root: RootNumber
  /// A mirror lags: it says nothing that counts.
  package var isStale = false
  package var primaryLanguage: LanguageTag?
  /// All that the channel has.
  package var packs: [Entry] = []

  package struct Entry: Hashable, Sendable {
    package var id: PackID
    /// Nil: it is listed, and not for this app.
    package var offer: Offer?
    /// With no offer: there would be one if it were not for another app of the group.
    package var disagreement: AppDisagreement?

    package init(id: PackID, offer: Offer?, disagreement: AppDisagreement? = nil) {
      self.id = id
      self.offer = offer
      self.disagreement = disagreement
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

/// What came of a pull.
package struct PulledPack: Hashable, Sendable {
  package var outcome: Store.PullResult.Pack.Outcome
  package var origin: Store.Origin
  package var channel: SiteChannel?
  package var root: RootNumber

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
