import ArgumentParser
import PackAuthoring
import PackStore

/// Signatures are dated by this machine's clock, and clients judge them by their dates.
struct ClockOption: ParsableArguments {
  @Flag(help: "Sign even if this machine's clock is earlier than the release of this program.")
  var allowClock = false

  /// When this version of the program was released, in seconds since 1970: 2026-11-01. No right clock is earlier.
  static let releaseTime: TimeInterval = 1_793_491_200

  /// A difference between two right clocks, in seconds.
  private static let tolerance: TimeInterval = 900

  /// - Throws: ``Failure`` `invalidArgument` if this machine's clock is earlier than the program's release.
  func require(quiet: Bool) throws {
    if let text = try Self.check(.now, isAllowed: allowClock), !quiet { warn(.clock, text) }
  }

  /// - Returns: the warning for a clock that is earlier than the release and allowed; `nil` for a plausible clock.
  /// - Throws: ``Failure`` `invalidArgument` for an earlier clock that is not allowed.
  static func check(_ now: Date, isAllowed: Bool) throws -> String? {
    let release = Date(timeIntervalSince1970: Self.releaseTime)
    guard now < release else { return nil }
    let finding =
      "this machine's clock is \(formatDate(now)), before the release of this program on \(formatDate(release))"
    guard isAllowed else { throw Failure(.invalidArgument, finding, remedy: "set the clock, or add --allow-clock") }
    return finding
  }

  /// The warning for a site whose last root is newer than this machine's clock; `nil` if none is.
  static func warning(lastRoot: Date?, now: Date = .now) -> String? {
    guard let lastRoot, lastRoot.timeIntervalSince(now) > tolerance else { return nil }
    return
      "the site's last root was made on \(formatDate(lastRoot)), and this machine's clock is \(formatDate(now)): check"
      + " the clock"
  }
}
