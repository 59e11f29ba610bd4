import PackFormats
import PackStore

/// A change of the state of a release in steps.
public enum RolloutAction: String, Hashable, Codable, CaseIterable, Sendable {
  /// The share stays as it is.
  case pause
  /// The release continues: steps that did not apply yet move by the time since the pause or halt.
  case resume
  /// Devices without the version no longer get it; devices that have it keep it.
  case halt
}

extension ChannelPlan {
  /// Ends the unfinished rollouts of lower versions to the same app versions, at the share reached or at 0. The rollout of a release
  /// ends for all its members.
  mutating func endRollouts(below offer: Offer, of pack: PackID, at moment: RolloutMoment, halts: Bool) {
    for other in offers(of: pack) {
      let isConcerned =
        other.number < offer.number && AppVersionRange.overlap(other.appVersions, offer.appVersions)
      guard isConcerned, other.rollout != nil || (halts && other.share < OfferTerms.everyDevice) else { continue }
      change(other.number, of: pack) { other in
        other.share = halts ? 0 : moment.share(of: other)
        other.rollout = nil
      }
    }
  }

  /// Replaces the rollouts of a pack whose last step has passed by their last share, for all members of releases.
  ///
  /// - Parameter platforms: returns the platforms that a version is for; empty: all; `nil` if unknown. The finished offer of an unknown
  ///   version replaces no other offer.
  mutating func finishRollouts(
    of pack: PackID, at moment: RolloutMoment, platforms: (PackID, UInt64) throws -> Set<Platform>?
  ) rethrows {
    for other in offers(of: pack) where other.isFinished(at: moment) {
      for member in other.release.map({ members(of: $0.id) }) ?? [(pack, other.number)] {
        try finish(member.number, of: member.pack, at: moment) { try platforms(member.pack, $0) }
      }
    }
  }

  private mutating func finish(
    _ number: UInt64, of pack: PackID, at moment: RolloutMoment, platforms: (UInt64) throws -> Set<Platform>?
  ) rethrows {
    // Another pass may have removed the offer, because a finished one covers it.
    guard var finished = offers(of: pack).first(where: { $0.number == number }) else { return }
    finished.share = moment.share(of: finished)
    finished.rollout = nil
    let isFirst = offers(of: pack).first?.number == number
    if finished.isForAllDevices, isFirst, try platforms(number) != nil {
      try offer(finished, of: pack) { try platforms($0) ?? [] }
    } else {
      change(number, of: pack) { $0 = finished }
    }
  }
}

extension ChannelPlan.Offer {
  fileprivate func isFinished(at moment: RolloutMoment) -> Bool {
    guard let rollout, rollout.state == .open, let last = rollout.steps.last else { return false }
    return last.time <= moment.reached
  }

  /// Changes the state of the rollout. An action that does not change the state has no effect.
  ///
  /// - Throws: `invalidArgument` if a rollout to pause is finished, halted or missing, if a version to resume has a fixed share of 0, or
  ///   if a step would be after the last time.
  mutating func apply(_ action: RolloutAction, to pack: PackID, at moment: RolloutMoment) throws {
    switch action {
    case .pause: try pause(pack, at: moment)
    case .resume: try resume(pack, at: moment.time)
    case .halt: try halt(pack, at: moment)
    }
  }

  private mutating func pause(_ pack: PackID, at moment: RolloutMoment) throws {
    guard var rollout, !isFinished(at: moment) else { throw refusal(pack, "no rollout in progress", "halt it instead") }
    guard rollout.state != .halted else { throw refusal(pack, "the rollout is halted", "resume it first") }
    guard rollout.state == .open else { return }
    rollout.state = .paused
    rollout.asOf = max(moment.reached, 0)
    self.rollout = rollout
  }

  private mutating func resume(_ pack: PackID, at time: Int64) throws {
    guard rollout != nil || share > 0 else {
      throw refusal(pack, "the version has a fixed share of 0% and no steps", "promote it with a share or with steps")
    }
    guard var rollout, rollout.state != .open else { return }
    try Self.postpone(&rollout, to: time, of: pack, number)
    rollout.state = .open
    self.rollout = rollout.steps.isEmpty ? nil : rollout
  }

  private mutating func halt(_ pack: PackID, at moment: RolloutMoment) throws {
    var next = rollout ?? Rollout(state: .halted, asOf: max(moment.reached, 0))
    switch rollout?.state {
    case .halted: return
    case .paused: try Self.postpone(&next, to: moment.time, of: pack, number)
    case .open: next.asOf = max(moment.reached, 0)
    case nil: break
    }
    next.state = .halted
    rollout = next
  }

  /// Moves the steps later than `asOf` by the time since then. The clock of a publisher may be behind: then nothing moves.
  private static func postpone(_ rollout: inout Rollout, to time: Int64, of pack: PackID, _ number: UInt64) throws {
    let delay = max(time.subtractingClamped(rollout.asOf), 0)
    for index in rollout.steps.indices where rollout.steps[index].time > rollout.asOf {
      let (moved, overflows) = rollout.steps[index].time.addingReportingOverflow(delay)
      guard !overflows else {
        throw PackStoreError(
          .invalidArgument, "the rollout has a step that is too far in the future", about: .version(pack, number),
          remedy: "promote the version with new steps")
      }
      rollout.steps[index].time = moved
    }
    rollout.asOf = max(rollout.asOf, time)
  }

  private func refusal(_ pack: PackID, _ reason: String, _ remedy: String) -> PackStoreError {
    PackStoreError(.invalidArgument, reason, about: .version(pack, number), remedy: remedy)
  }
}
