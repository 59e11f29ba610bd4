import PackDelivery
import PackStore
import Synchronization

/// The time of a server, learned from its answers. This machine's clock measures the time since then.
package final class ServerClock: Sendable {
  /// The number of seconds that the server's clock is ahead of this machine's; `nil`: unknown.
  private let offset = Mutex<Int64?>(nil)
  private let local: @Sendable () -> Int64

  package init(local: @escaping @Sendable () -> Int64 = ServerClock.system) { self.local = local }

  package static let system: @Sendable () -> Int64 = { Int64(min(max(Date().timeIntervalSince1970, 0), 9e9)) }

  /// Whether the offset is known.
  package var isKnown: Bool { offset.withLock { $0 != nil } }

  /// Seconds since 1970 by the server's clock; by this machine's clock while the offset is unknown.
  package var now: Int64 { local() + offset.withLock { $0 ?? 0 } }

  /// The number of seconds that the server's clock is ahead of this machine's.
  package var lead: Int64 { offset.withLock { $0 ?? 0 } }

  /// Uses the `Date` of an answer that just arrived.
  package func take(date: String) {
    guard let time = httpSeconds(date) else { return }
    let lead = time - local()
    offset.withLock { $0 = lead }
  }

  /// Returns the day and the time in the form of request dates: `20130524T000000Z`.
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
