import PackFormats
import PackStore

/// The steps of a release: the first share applies at once, and each further share after another interval.
public struct RolloutSchedule: Hashable, Sendable {
  /// Rising shares, at least one.
  public let shares: [DeviceShare]

  /// The time between two steps, above 0.
  public let interval: Duration

  /// The largest number of shares: one before the first step, and one for each step.
  public static let shareLimit = Rollout.stepLimit + 1

  /// - Throws: `invalidArgument` for no shares or more than ``shareLimit``, if they do not rise from above 0, or if the
  ///   interval is not above 0.
  public init(shares: [DeviceShare], every interval: Duration) throws {
    let values = [0] + shares.map(\.tenThousandths)
    guard 1...Self.shareLimit ~= shares.count, zip(values, values.dropFirst()).allSatisfy({ $0 < $1 }) else {
      let text = shares.map(\.description).joined(separator: ",")
      throw PackStoreError(
        .invalidArgument, "invalid steps of a rollout; use 1 to \(Self.shareLimit) rising shares",
        about: .value("\(text.prefix(100))"))
    }
    guard interval > .zero else {
      throw PackStoreError(
        .invalidArgument, "invalid interval of a rollout; use one above 0", about: .value("\(interval)"))
    }
    self.shares = shares
    self.interval = interval
  }

  /// Parses percentages separated by commas, such as `1,2,5,10,20,50,100` or `0.5%,100%`.
  ///
  /// - Throws: `invalidArgument`.
  public init(_ text: String, every interval: Duration) throws {
    let parts = text.split(separator: ",", omittingEmptySubsequences: false)
    try self.init(shares: parts.map { try DeviceShare($0.hasSuffix("%") ? "\($0)" : "\($0)%") }, every: interval)
  }

  /// Sets the share and the rollout of an offer that starts at a time, in nanoseconds since 1970.
  ///
  /// - Throws: `invalidArgument` if a step would be too far in the future.
  func start(_ offer: inout ChannelPlan.Offer, of pack: PackID, at time: Int64) throws {
    var steps: [Rollout.Step] = [], next = time
    for share in shares.dropFirst() {
      let (sum, overflows) = next.addingReportingOverflow(max(interval.nanoseconds, 1))
      guard !overflows else {
        throw PackStoreError(
          .invalidArgument, "the rollout has a step that is too far in the future", about: .version(pack, offer.number),
          remedy: "use a shorter interval")
      }
      next = sum
      steps.append(.init(time: next, share: share.tenThousandths))
    }
    offer.share = shares[0].tenThousandths
    offer.rollout = steps.isEmpty ? nil : Rollout(asOf: max(time, 0), steps: steps)
  }
}
