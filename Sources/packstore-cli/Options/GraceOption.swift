import ArgumentParser

/// How long files stay that left a site.
struct GraceOption: ParsableArguments {
  @Option(
    help: .init(
      "Time for which files that left the site remain available: 7d, 12h, 30m, 90s or 0 (default: the site's policy, or 7d).",
      valueName: "duration"),
    transform: parseDuration)
  var grace: Duration?

  var duration: Duration? { grace }
}

/// Reads `7d`, `12h`, `30m`, `90s` or `0`.
@Sendable func parseDuration(_ text: String) throws -> Duration {
  let units: [Character: Int64] = ["d": 86_400, "h": 3_600, "m": 60, "s": 1]
  let tenYears: Int64 = 3_650 * 86_400
  if text == "0" { return .zero }
  guard let unit = text.last.flatMap({ units[$0] }), let count = Int64(text.dropLast()), count >= 0,
    count <= tenYears / unit
  else { throw ValidationError("'\(text)' is not a duration up to ten years; write 7d, 12h, 30m, 90s or 0") }
  return .seconds(count * unit)
}
