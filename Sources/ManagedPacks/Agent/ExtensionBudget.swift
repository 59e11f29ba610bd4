/// The run time that an extension has left today; the journal records the used time.
///
/// A run is charged in advance and unused time is refunded. So a run is not free even if its agent ends during it.
struct ExtensionBudget: Sendable {
  let app: String
  let journal: JournalFile
  let limits: ExtensionLimits
  /// Returns the time in seconds since 1970.
  let wallClock: @Sendable () -> Double

  private static let dayInMilliseconds = 86_400_000

  var today: Int { Int(exactly: (wallClock() / 86_400).rounded(.down)) ?? 0 }

  /// Deducts the longest possible duration of a run from today's remaining time, and returns it.
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
