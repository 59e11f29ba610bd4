import PackAuthoring
import PackFormats
import PackStore

/// The state of a release in steps, as JSON has it.
struct RolloutReport: Encodable {
  let state, asOf, baseShare: String
  let steps: [Step]
  /// The time after which steps do not count; missing without a horizon.
  let horizonEnd: String?
  /// The next step; missing if none follows, or if the release is paused or halted.
  let next: Step?
  /// Whether steps remain that do not count until the root is signed again.
  private let needsNewerRoot: Bool

  private enum CodingKeys: CodingKey { case state, asOf, baseShare, steps, horizonEnd, next }

  struct Step: Encodable {
    let time, share: String

    init(_ step: RolloutDescription.Step) {
      time = formatDate(step.time)
      share = step.share.description
    }
  }

  init(_ rollout: RolloutDescription) {
    state = rollout.state.rawValue
    asOf = formatDate(rollout.asOf)
    baseShare = rollout.baseShare.description
    steps = rollout.steps.map(Step.init)
    horizonEnd = rollout.horizonEnd.map(formatDate)
    let now = Date(), end = rollout.horizonEnd ?? .distantFuture
    next = rollout.nextStep(after: now).map(Step.init)
    needsNewerRoot = rollout.state == .open && end < now && rollout.steps.contains { $0.time > end }
  }

  /// `paused`, `halted`, `10% from 2026-05-01T12:00:00Z`, `needs a newer root`, `finished`.
  var words: String {
    guard state == "open" else { return state }
    return needsNewerRoot ? "needs a newer root" : next.map { "\($0.share) from \($0.time)" } ?? "finished"
  }
}
