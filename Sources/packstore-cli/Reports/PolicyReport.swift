import PackAuthoring
import PackFormats
import PackStore

/// A policy, and the change of it.
struct PolicyReport: Encodable {
  let isDefault: Bool
  let keep, builds: Int
  let graceSeconds, purgeableGraceSeconds: UInt64
  let pins: [Pin]
  let unchanged: Bool?
  let sequence: UInt64?

  struct Pin: Encodable {
    let pack: String
    let version: UInt64
  }

  /// - Parameter result: `nil` if the policy is only shown.
  init(_ policy: RetentionPolicy?, _ result: Site.PolicyResult?) {
    isDefault = policy == nil
    let policy = policy ?? .standard
    keep = policy.offeredVersionCount
    builds = policy.buildCount
    graceSeconds = policy.graceSeconds
    purgeableGraceSeconds = policy.purgeableGraceSeconds
    pins = policy.pins.map { Pin(pack: $0.pack.name, version: $0.version) }
    unchanged = result?.isUnchanged
    sequence = result?.sequence
  }

  var lines: [String] {
    [
      isDefault ? "no policy: the defaults apply" : "policy of the site",
      "  keep             \(formatCount(keep, "offered version")), \(formatCount(builds, "build"))",
      "  grace            \(Self.words(graceSeconds)), purgeable packs \(Self.words(purgeableGraceSeconds))",
    ] + pins.map { "  pinned           \($0.pack)@\($0.version)" }
  }

  /// `7d`, `12h`, `30m`, `90s` or `0`, as options accept it.
  private static func words(_ seconds: UInt64) -> String {
    for (unit, name) in [(86_400, "d"), (3_600, "h"), (60, "m")] as [(UInt64, String)]
    where seconds > 0 && seconds % unit == 0 { return "\(seconds / unit)\(name)" }
    return seconds == 0 ? "0" : "\(seconds)s"
  }
}
