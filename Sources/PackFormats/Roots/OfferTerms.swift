import PackStore

/// The conditions for clients to which an offer of a pack version applies.
package struct OfferTerms: Hashable, Sendable {
  /// The platforms in the version's attributes; empty for all.
  package var platforms: Set<Platform>

  /// The versions of the app; `nil` for all.
  package var appVersions: AppVersionRange?

  /// How many of 10,000 devices without the version the offer is for now: 0 to ``everyDevice``.
  package var share: UInt32

  /// The share after the last step of the rollout; ``share`` without a rollout.
  package var finalShare: UInt32

  /// The state of the rollout; `open` without a rollout.
  package var state: Rollout.State

  package static let everyDevice: UInt32 = 10_000

  package init(
    platforms: Set<Platform> = [], appVersions: AppVersionRange? = nil, share: UInt32 = OfferTerms.everyDevice,
    finalShare: UInt32? = nil, state: Rollout.State = .open
  ) {
    self.platforms = platforms
    self.appVersions = appVersions
    self.share = share
    self.finalShare = finalShare ?? share
    self.state = state
  }

  /// Creates the conditions of an offer of a root at a time.
  ///
  /// - Parameters:
  ///   - platforms: the platforms in the version's attributes.
  ///   - time: nanoseconds since 1970.
  package init(_ offer: SiteRoot.Offer, in root: SiteRoot, platforms: Set<Platform>, at time: Int64) {
    self.init(
      platforms: platforms, appVersions: offer.appVersions, share: root.share(of: offer, at: time),
      finalShare: offer.rollout?.finalShare(base: offer.share), state: offer.rollout?.state ?? .open)
  }
}
