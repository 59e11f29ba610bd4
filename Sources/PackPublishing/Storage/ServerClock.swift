import PackDelivery
import PackStore
import Synchronization

/// What time it is for a server, as its answers tell it. The clock of this machine serves to tell how much later it is now.
package final class ServerClock: Sendable {
  /// Seconds that the server's clock is ahead of this machine's; nil: no answer has told it yet.
  private let offset = Mutex<Int64?>(nil)
  private let local: @Sendable () -> Int64

  package init(local: @escaping @Sendable () -> Int64 = ServerClock.system) { self.local = local }

  package static let system: @Sendable () -> Int64 = { Int64(min(max(Date().timeIntervalSince1970, 0), 9e9)) }

  /// Whether any answer has told it.
  package var isKnown: Bool { offset.withLock { $0 != nil } }

  /// Seconds since 1970; by this machine's clock where no answer has told the server's.
  package var now: Int64 { local() + offset.withLock { $0 ?? 0 } }

  /// How many seconds the server's clock is ahead of this machine's.
  package var lead: Int64 { offset.withLock { $0 ?? 0 } }

  /// Takes the `Date` of an answer that came just now.
  package func take(date: String) {
    guard let time = httpSeconds(date) else { return }
    let lead = time - local()
    offset.withLock { $0 = lead }
  }

  /// The day and the time of day as requests are dated: `20130524T000000Z`.
  package static func stamp(_ seconds: Int64) -> (day: String, time: String) {
    let (days, rest) = (max(seconds, 0) / 86_400, max(seconds, 0) % 86_400)
    let shifted = days + 719_468
    let era = shifted / 146_097, dayOfEra = shifted % 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let month = (5 * dayOfYear + 2) / 153, day = dayOfYear - (153 * month + 2) / 5 + 1
    let year = era * 400 + yearOfEra + (month >= 10 ? 1 : 0)
    let date = padded(year, 4) + padded(month < 10 ? month + 3 : month - 9, 2) + padded(day, 2)
    return (date, "\(date)T\(padded(rest / 3_600, 2))\(padded(rest / 60 % 60, 2))\(padded(rest % 60, 2))Z")
  }

  private static func padded(_ number: Int64, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(width - digits.count, 0)) + digits
  }
}
