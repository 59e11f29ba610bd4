import PackFormats

/// The time at which an edit changes the rollouts of a channel.
struct RolloutMoment: Hashable {
  /// The date of the next root, in nanoseconds since 1970.
  let time: Int64

  /// The time after which steps of the current root do not count.
  let end: Int64

  /// The time up to which devices have advanced under the current root.
  var reached: Int64 { min(time, end) }

  /// Returns the share of devices that an offer has reached.
  func share(of offer: ChannelPlan.Offer) -> UInt32 {
    offer.rollout?.share(base: offer.share, at: reached, until: end) ?? offer.share
  }
}
