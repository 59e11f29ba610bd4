import PackFormats
public import PackStore

/// The state of a release in steps.
public struct RolloutDescription: Hashable, Codable, Sendable {
  public enum State: String, Hashable, Codable, CaseIterable, Sendable {
    /// The share follows the steps.
    case open
    /// The share stays as it was at ``RolloutDescription/asOf``.
    case paused
    /// Only devices that have the version keep it.
    case halted
  }

  /// A share, and the time from which it applies.
  public struct Step: Hashable, Codable, Sendable {
    public let time: Date
    public let share: DeviceShare
  }

  public let state: State

  /// The share before the first step.
  public let baseShare: DeviceShare

  /// When the state was set.
  public let asOf: Date

  public let steps: [Step]

  /// The time after which steps do not count, unless the root is signed again; `nil`: no limit.
  public let horizonEnd: Date?
}

extension RolloutDescription {
  /// - Parameter horizonEnd: nanoseconds since 1970.
  init?(_ rollout: Rollout?, base: UInt32, horizonEnd: Int64?) {
    guard let rollout else { return nil }
    func share(_ value: UInt32) -> DeviceShare { (try? DeviceShare(tenThousandths: value)) ?? .none }
    state =
      switch rollout.state {
      case .open: .open
      case .paused: .paused
      case .halted: .halted
      }
    baseShare = share(base)
    asOf = Date(nanosecondsSince1970: rollout.asOf)
    steps = rollout.steps.map { Step(time: Date(nanosecondsSince1970: $0.time), share: share($0.share)) }
    self.horizonEnd = horizonEnd.map(Date.init(nanosecondsSince1970:))
  }

  /// Returns the next step after a time; `nil` if the rollout is finished or not open.
  public func nextStep(after time: Date) -> Step? { state == .open ? steps.first { $0.time > time } : nil }
}
