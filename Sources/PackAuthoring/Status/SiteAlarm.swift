public import PackFormats
public import PackStore

extension Site {
  /// A fact about a site that its operator should act on.
  public struct Alarm: Hashable, Codable, Sendable {
    /// A stable word for each kind of alarm.
    public enum Code: String, Hashable, Codable, Sendable, CaseIterable {
      /// The release key may sign for 30 days at most, or no longer.
      case keyEnds = "key_ends"

      /// Clients refuse the root in 3 days at most, or already.
      case rootExpires = "root_expires"

      /// The root is damaged, or its signature is invalid.
      case damagedRoot = "damaged_root"

      /// Roots of other channels exist, and the root of `live` is lost.
      case lostRoot = "lost_root"

      /// The root is dated more than a day from now: clients refuse it.
      case futureRoot = "future_root"

      /// A file that roots or kept versions refer to is missing, or has another length.
      case missingObject = "missing_object"

      /// The site lacks pinned versions, or its policy is damaged.
      case policyUnmet = "policy_unmet"

      /// Steps of releases come after the root's horizon or expiry, or after the end of the key: without a newer root, the releases
      /// stop before their last steps.
      case rolloutStops = "rollout_stops"

      /// No delta leads to an offered version from the version that most devices have.
      case missingDelta = "missing_delta"

      /// Files whose grace period is over have not been deleted yet.
      case dueFiles = "due_files"
    }

    public let code: Code

    /// The channel concerned; `nil`: the whole site.
    public let channel: SiteChannel?

    /// The release key concerned.
    public let key: SitePublicKey?

    /// When the announced event happens or happened.
    public let date: Date?

    /// The number of files, deltas or releases concerned.
    public let count: Int?

    /// Whether devices are affected now, or will be soon.
    public var isUrgent: Bool {
      switch code {
      case .keyEnds, .rootExpires, .damagedRoot, .lostRoot, .futureRoot, .missingObject, .policyUnmet: true
      case .rolloutStops, .missingDelta, .dueFiles: false
      }
    }

    package init(
      _ code: Code, _ channel: SiteChannel? = nil, key: SitePublicKey? = nil, date: Date? = nil, count: Int? = nil
    ) {
      self.code = code
      self.channel = channel
      self.key = key
      self.date = date
      self.count = count
    }
  }
}

extension Site.Alarm {
  /// The time before the end of a key or a root in which its alarm is on, in nanoseconds.
  private enum Notice {
    static let key: Int64 = 30 * 86_400_000_000_000
    static let root: Int64 = 3 * 86_400_000_000_000

    /// Half of a short validity: a root that is valid for a day would otherwise always raise an alarm.
    static func period(_ longest: Int64, validity: Int64) -> Int64 { min(longest, max(validity, 0) / 2) }
  }

  /// The alarm for a key whose validity ends soon or has ended.
  ///
  /// - Parameter now: in nanoseconds since 1970.
  static func ending(_ delegation: KeyDelegation, now: Int64) -> Self? {
    guard let end = delegation.endsAt else { return nil }
    let period = Notice.period(Notice.key, validity: end.subtractingClamped(max(delegation.madeAt, 0)))
    guard end.subtractingClamped(now) <= period else { return nil }
    return Self(.keyEnds, key: delegation.releaseKey, date: Date(nanosecondsSince1970: end))
  }

  /// The alarms for the dates of a root. A closed root does not raise any: its channel ended.
  static func dates(of root: SiteRoot, now: Int64) -> [Self] {
    guard !root.isClosed else { return [] }
    var alarms: [Self] = []
    if root.madeAt > now.addingClamped(SiteRoot.clockTolerance) {
      alarms.append(Self(.futureRoot, root.channel, date: Date(nanosecondsSince1970: root.madeAt)))
    }
    if let end = root.expiresAt, let validity = root.expiresAfter,
      end.subtractingClamped(now) <= Notice.period(Notice.root, validity: validity)
    {
      alarms.append(Self(.rootExpires, root.channel, date: Date(nanosecondsSince1970: end)))
    }
    return alarms
  }
}

extension Int64 {
  /// The difference, limited to the range of the type.
  func subtractingClamped(_ other: Int64) -> Int64 {
    let (difference, overflows) = subtractingReportingOverflow(other)
    return overflows ? (other < 0 ? .max : .min) : difference
  }
}
