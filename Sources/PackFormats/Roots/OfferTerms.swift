import PackStore

/// The conditions for clients to which an offer of a pack version applies.
package struct OfferTerms: Hashable, Sendable {
  /// The platforms in the version's attributes; empty for all.
  package var platforms: Set<Platform>

  /// The versions of the app; `nil` for all.
  package var appVersions: AppVersionRange?

  /// How many of 10,000 devices without the version the offer is for: 0 to ``everyDevice``.
  package var share: UInt32

  package static let everyDevice: UInt32 = 10_000

  package init(
    platforms: Set<Platform> = [], appVersions: AppVersionRange? = nil, share: UInt32 = OfferTerms.everyDevice
  ) {
    self.platforms = platforms
    self.appVersions = appVersions
    self.share = share
  }
}
