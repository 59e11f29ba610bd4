#if Hosting
  import Foundation

  /// A moment, in whole milliseconds since 1970. The API shows whole seconds, because some clients refuse fractions.
  struct Timestamp: RawRepresentable, Hashable, Comparable, Codable, Sendable {
    let rawValue: Int64

    init(rawValue: Int64) { self.rawValue = rawValue }

    static func < (first: Timestamp, second: Timestamp) -> Bool { first.rawValue < second.rawValue }

    /// Returns the moment `seconds` later, clamped to the representable range.
    func adding(seconds: Int64) -> Timestamp {
      let (product, isTooLarge) = seconds.multipliedReportingOverflow(by: 1000)
      let step = isTooLarge ? (seconds < 0 ? Int64.min : .max) : product
      let (sum, overflows) = rawValue.addingReportingOverflow(step)
      return Timestamp(rawValue: overflows ? (step < 0 ? .min : .max) : sum)
    }

    /// Whole seconds since 1970, rounded down.
    var seconds: Int64 { rawValue >= 0 ? rawValue / 1000 : -((-(rawValue + 1)) / 1000) - 1 }

    /// The moment in the form `2026-11-24T09:30:00Z`.
    var text: String {
      let days = seconds >= 0 ? seconds / 86_400 : -((-(seconds + 1)) / 86_400) - 1
      let rest = seconds - days * 86_400
      let (year, month, day) = Self.date(days: days)
      return Self.padded(year, 4) + "-" + Self.padded(month, 2) + "-" + Self.padded(day, 2) + "T"
        + Self.padded(rest / 3600, 2) + ":" + Self.padded(rest / 60 % 60, 2) + ":" + Self.padded(rest % 60, 2) + "Z"
    }

    /// Reads an ISO 8601 date with seconds, an optional fraction and a zone; `nil` if the text has another form.
    init?(text: String) {
      let strategies = [
        Date.ISO8601FormatStyle(includingFractionalSeconds: false), .init(includingFractionalSeconds: true),
      ]
      guard text.utf8.count <= 40, let date = strategies.lazy.compactMap({ try? Date(text, strategy: $0) }).first,
        let milliseconds = Int64(exactly: (date.timeIntervalSince1970 * 1000).rounded(.down))
      else { return nil }
      self.init(rawValue: milliseconds)
    }

    /// Converts days since 1970 to a date of the Gregorian calendar, by eras of 400 years that begin on 1 March.
    private static func date(days: Int64) -> (year: Int64, month: Int64, day: Int64) {
      let shifted = days + 719_468
      let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
      let dayOfEra = shifted - era * 146_097
      let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
      let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
      let shiftedMonth = (5 * dayOfYear + 2) / 153
      let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
      return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
      let digits = String(number)
      return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
  }
#endif
