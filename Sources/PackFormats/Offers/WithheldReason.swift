public import PackStore

/// The reason why a client does not install the newest version that a channel ever offered of a pack.
public enum WithheldReason: String, Hashable, Codable, CaseIterable, Sendable {
  /// The version is for a share of all devices that does not include this one.
  case share
  /// The version is for a share of all devices, and the store has not yet generated the device id that decides.
  case undrawnShare
  /// The version is released in steps, and a later step includes this device.
  case schedule
  /// The publisher paused the release before a step that includes this device.
  case paused
  /// The publisher halted the release.
  case halted
  /// The version is for other versions of the app.
  case appVersion
  /// The version is for other platforms.
  case platform
  /// The channel no longer offers the version, or offers a lower one in front of it.
  case withdrawn
  /// The store holds the pack at another version.
  case held
  /// The store's pack belongs to another publisher or product.
  case otherOrigin
  /// The publisher signed an older state of the site than the store has accepted.
  case publisherOutOfDate
  /// The root is older than one seen before: the mirror is out of date.
  case stale
  /// The site offers other content under the number of a version that the store has.
  case reusedNumber
  /// Data of the pack was purged, and the update did not request it.
  case purged
  /// The site is signed by a key that is not trusted, or not signed.
  case keyNotTrusted
  /// The root, or the key that signed it, has expired.
  case expired
  /// The disk has too little free space.
  case noSpace
  /// The version belongs to a release, and another pack of the release, or data of this one, cannot be installed.
  case releaseIncomplete

  package init(_ obstacle: OfferObstacle) {
    self =
      switch obstacle {
      case .platform: .platform
      case .appVersion: .appVersion
      case .share: .share
      case .undrawnShare: .undrawnShare
      case .schedule: .schedule
      case .paused: .paused
      case .halted: .halted
      }
  }
}

/// The newest version that a channel ever offered of a pack, if a client does not install it.
public struct WithheldVersion: Hashable, Codable, Sendable {
  public let version: UInt64
  public let reason: WithheldReason

  /// The pack that cannot be installed, if the reason is ``WithheldReason/releaseIncomplete``.
  public let blockingPack: PackID?

  package init(_ version: UInt64, _ reason: WithheldReason, blockingPack: PackID? = nil) {
    self.version = version
    self.reason = reason
    self.blockingPack = blockingPack
  }
}

extension OfferSelection {
  /// Returns the newest version of the pack, and the reason why the selection does not offer it; `nil` if it does.
  ///
  /// - Parameter newest: the number in the root's table of highest numbers.
  package func withheld(newest: UInt64) -> WithheldVersion? {
    guard offer?.number != newest else { return nil }
    let refusal = refusals.first { $0.offer.number == newest }
    return WithheldVersion(newest, refusal.map { WithheldReason($0.obstacle) } ?? .withdrawn)
  }
}
