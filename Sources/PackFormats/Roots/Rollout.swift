import PackStore

/// How the share of devices of an offer changes over time. The offer's own share is the base share, which applies before the first
/// step. Times are nanoseconds since 1970, shares are in 1/10000.
package struct Rollout: Hashable, Sendable {
  package enum State: UInt32, CaseIterable, Sendable {
    /// The share follows the steps.
    case open = 0
    /// The share stays as it was at ``Rollout/asOf``.
    case paused = 1
    /// The share is 0; devices that have the version keep it.
    case halted = 2
  }

  /// A share, and the time from which it applies.
  package struct Step: Hashable, Sendable {
    package var time: Int64
    package var share: UInt32

    package init(time: Int64, share: UInt32) {
      self.time = time
      self.share = share
    }
  }

  package var state: State

  /// When the state was set.
  package var asOf: Int64

  /// Times and shares rise strictly, from above the base share.
  package var steps: [Step]

  package static let stepLimit = 64

  package init(state: State = .open, asOf: Int64, steps: [Step] = []) {
    self.state = state
    self.asOf = asOf
    self.steps = steps
  }

  /// Returns the share at a time. For rising times, the share of one rollout never falls.
  ///
  /// - Parameters:
  ///   - base: the share of the offer.
  ///   - end: the time after which steps do not count: the root's date plus its horizon.
  package func share(base: UInt32, at time: Int64, until end: Int64 = .max) -> UInt32 {
    switch state {
    case .halted: 0
    case .paused: reached(from: base, at: min(asOf, end))
    case .open: reached(from: base, at: min(time, end))
    }
  }

  /// Returns the share after the last step.
  package func finalShare(base: UInt32) -> UInt32 { steps.last?.share ?? base }

  private func reached(from base: UInt32, at time: Int64) -> UInt32 { steps.last { $0.time <= time }?.share ?? base }

  /// Whether a root may contain the rollout: an open rollout has steps, and times and shares rise strictly within their limits.
  package func isValid(base: UInt32) -> Bool {
    guard steps.count <= Self.stepLimit, state != .open || !steps.isEmpty, asOf >= 0 else { return false }
    let first = [Step(time: -1, share: base)]
    return zip(first + steps, steps).allSatisfy { $0.time < $1.time && $0.share < $1.share }
      && finalShare(base: base) <= OfferTerms.everyDevice
  }
}
