import ArgumentParser
import PackAuthoring
import PackStore

/// Option for signing with an implausible clock: signatures contain the time of this machine's clock, and clients check it.
struct ClockOption: ParsableArguments {
  @Flag(help: "Sign even if this machine's clock is earlier than the release of this program.")
  var allowClock = false

  /// The release date of this version of the program, in seconds since 1970: 2026-11-01. A correct clock is never earlier.
  static let releaseTime: TimeInterval = 1_793_491_200

  /// The tolerated difference between two correct clocks, in seconds.
  private static let tolerance: TimeInterval = 900

  /// Checks this machine's clock. Warns if it is earlier than the program's release and `--allow-clock` is set.
  ///
  /// - Throws: ``Failure`` `invalidArgument` if the clock is earlier than the program's release and `--allow-clock` is not set.
  func require(quiet: Bool) throws {
    if let text = try Self.check(.now, isAllowed: allowClock), !quiet { warn(.clock, text) }
  }

  /// - Parameter isAllowed: whether a clock that is earlier than the release is only a warning.
  /// - Returns: the warning for a clock that is earlier than the release; `nil` for a plausible clock.
  /// - Throws: ``Failure`` `invalidArgument` if the clock is earlier than the release and `isAllowed` is false.
  static func check(_ now: Date, isAllowed: Bool) throws -> String? {
    let release = Date(timeIntervalSince1970: Self.releaseTime)
    guard now < release else { return nil }
    let finding =
      "this machine's clock is \(formatDate(now)), before the release of this program on \(formatDate(release))"
    guard isAllowed else { throw Failure(.invalidArgument, finding, remedy: "set the clock, or add --allow-clock") }
    return finding
  }

  /// Returns the warning for a site whose last root is dated after this machine's clock; `nil` if the date is plausible.
  static func warning(lastRoot: Date?, now: Date = .now) -> String? {
    guard let lastRoot, lastRoot.timeIntervalSince(now) > tolerance else { return nil }
    return
      "the site's last root was made on \(formatDate(lastRoot)), and this machine's clock is \(formatDate(now)): check"
      + " the clock"
  }
}
