#if Hosting
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

    /// Reads an ISO 8601 date with seconds, an optional fraction and a zone such as `Z`, `+01:00`, `-0800` or `+01`; `nil` if the text
    /// has another form.
    init?(text: String) {
      guard text.utf8.count <= 40 else { return nil }
      var reader = DateReader(text)
      guard let year = reader.number(4), reader.skip("-"), let month = reader.number(2), reader.skip("-"),
        let day = reader.number(2), reader.skip("T") || reader.skip("t"), let hour = reader.number(2), reader.skip(":"),
        let minute = reader.number(2), reader.skip(":"), let second = reader.number(2),
        let fraction = reader.fraction(), let zone = reader.zone(), reader.isAtEnd
      else { return nil }
      let days = Self.days(year: year, month: month, day: day)
      // Days that the month lacks belong to another month. A leap second is the first second of the next minute.
      guard (1...12).contains(month), Self.date(days: days) == (year, month, day), hour < 24, minute < 60, second <= 60
      else { return nil }
      self.init(rawValue: (days * 86_400 + hour * 3600 + minute * 60 + second - zone) * 1000 + fraction)
    }

    /// Returns the days since 1970 of a date, the inverse of ``date(days:)``.
    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
      let shiftedYear = month <= 2 ? year - 1 : year
      let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
      let yearOfEra = shiftedYear - era * 400
      let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
      return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
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

  /// Reads the parts of a date.
  private struct DateReader {
    private var rest: ArraySlice<UInt8>

    init(_ text: String) { rest = Array(text.utf8)[...] }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
      guard rest.first == UInt8(ascii: character) else { return false }
      rest.removeFirst()
      return true
    }

    /// Reads exactly this many digits.
    mutating func number(_ digitCount: Int) -> Int64? {
      let digits = rest.prefix(digitCount)
      guard digits.count == digitCount, digits.allSatisfy(Self.isDigit) else { return nil }
      rest = rest.dropFirst(digitCount)
      return digits.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
    }

    /// Reads a fraction of a second, in milliseconds rounded down; 0 without one.
    mutating func fraction() -> Int64? {
      guard skip(".") else { return 0 }
      let digits = rest.prefix(while: Self.isDigit)
      guard !digits.isEmpty else { return nil }
      rest = rest.dropFirst(digits.count)
      let milliseconds = digits.prefix(3) + Array(repeating: UInt8(ascii: "0"), count: max(0, 3 - digits.count))
      return milliseconds.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
    }

    /// Reads a zone, as its distance from UTC in seconds.
    mutating func zone() -> Int64? {
      if skip("Z") || skip("z") { return 0 }
      let isEast = skip("+")
      guard isEast || skip("-"), let hours = number(2), hours < 24 else { return nil }
      var minutes: Int64 = 0
      if !isAtEnd {
        _ = skip(":")
        guard let found = number(2), found < 60 else { return nil }
        minutes = found
      }
      let seconds = hours * 3600 + minutes * 60
      return isEast ? seconds : -seconds
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
  }
#endif
