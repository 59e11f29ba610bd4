/// What an extension may still run today: the journal has what it has taken.
///
/// A run is charged before it begins, and what it did not take is given back: so a run that its agent does not survive is not free.
struct ExtensionBudget: Sendable {
  let app: String
  let journal: JournalFile
  let limits: ExtensionLimits
  /// Seconds since 1970.
  let wallClock: @Sendable () -> Double

  private static let dayInMilliseconds = 86_400_000

  var today: Int { Int(exactly: (wallClock() / 86_400).rounded(.down)) ?? 0 }

  /// Takes what a run may last from what is left today, and says how much it is.
  func charge() throws -> Duration {
    try journal.update { journal in
      let noted = journal.extensionTimes[app].flatMap { $0.day == today ? $0.milliseconds : nil } ?? 0
      let used = min(max(noted, 0), Self.dayInMilliseconds)
      let left = limits.dailyTime - .milliseconds(used)
      let time = max(min(left, limits.longestRun), .zero)
      journal.extensionTimes[app] = Journal.ExtensionTime(day: today, milliseconds: used + milliseconds(time))
      return time
    }
  }

  func refund(_ time: Duration) throws {
    try journal.update { journal in
      guard var spent = journal.extensionTimes[app], spent.day == today else { return }
      spent.milliseconds = max(min(spent.milliseconds, Self.dayInMilliseconds) - milliseconds(time), 0)
      journal.extensionTimes[app] = spent
    }
  }

  private func milliseconds(_ time: Duration) -> Int { Int(clamping: Int64((time / .milliseconds(1)).rounded(.down))) }
}
