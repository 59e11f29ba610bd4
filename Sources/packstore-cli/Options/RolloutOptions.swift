import ArgumentParser
import PackAuthoring
import PackStore

/// How a version is released in steps.
struct RolloutOptions: ParsableArguments {
  @Option(
    help: .init(
      "Rising shares of devices in percent, such as 1,2,5,10,20,50,100; the first applies at once.", valueName: "shares"
    ))
  var steps: String?

  @Option(help: .init("Time between two steps, such as 24h or 7d.", valueName: "duration"), transform: parseDuration)
  var every: Duration?

  @Flag(help: "Keep the share of the version as it is.")
  var pause = false

  @Flag(help: "Continue a paused or halted release from the share that it reached.")
  var resume = false

  @Flag(help: "Offer the version to no further device; devices that have it keep it.")
  var halt = false

  @Flag(help: "Set the share of lower versions with an unfinished release to 0%.")
  var haltPrevious = false

  @Option(
    help: .init(
      "How long after the root's date steps count, such as 24h, or none (default: unchanged; none for a new release).",
      valueName: "duration"), transform: parseHorizon)
  var horizon: Site.PublishOptions.RolloutHorizon?

  /// The change of an existing release; `nil` for a promotion.
  var action: RolloutAction? { pause ? .pause : resume ? .resume : halt ? .halt : nil }

  var rolloutHorizon: Site.PublishOptions.RolloutHorizon { horizon ?? .asBefore }

  /// - Throws: `PackStoreError` for invalid steps.
  var schedule: RolloutSchedule? {
    get throws {
      guard let steps, let every else { return nil }
      return try RolloutSchedule(steps, every: every)
    }
  }

  func validate() throws {
    guard [pause, resume, halt].filter({ $0 }).count <= 1 else {
      throw ValidationError("--pause, --resume and --halt exclude each other")
    }
    guard action == nil || steps == nil else {
      throw ValidationError("--steps and --\(action?.rawValue ?? "") exclude each other")
    }
    guard (steps == nil) == (every == nil) else { throw ValidationError("--steps and --every belong together") }
    guard horizon == nil || steps != nil || action != nil else {
      throw ValidationError("--horizon needs --steps, --pause, --resume or --halt")
    }
    do { _ = try schedule } catch { throw ValidationError("\(error)") }
  }
}

@Sendable private func parseHorizon(_ text: String) throws -> Site.PublishOptions.RolloutHorizon {
  guard text != "none" else { return .unlimited }
  let duration = try parseDuration(text)
  guard duration > .zero else { throw ValidationError("--horizon must be above 0, or none") }
  return .after(duration)
}
