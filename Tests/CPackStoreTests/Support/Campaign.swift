import Foundation

/// How far, and from where, a campaign goes: a suite that tries many states, of which `make test` runs a short form.
///
/// `make torture SEED=... SCALE=...` sets both. A suite that draws at random derives all of it from `seed`, and says the seed
/// in what it reports, so that a failure can be repeated.
enum Campaign {
  /// The same in every run of the suites unless the environment says otherwise.
  static let seed = number("PACKSTORE_SEED") ?? 1
  /// 1 in `make test`; budgets are multiplied by it.
  static let scale = max(1, number("PACKSTORE_SCALE") ?? 1)

  private static func number(_ name: String) -> UInt64? {
    ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
  }
}
