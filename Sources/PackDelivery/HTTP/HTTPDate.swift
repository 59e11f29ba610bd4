private let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

/// Parses `Sun, 06 Nov 1994 08:49:37 GMT`, the form that HTTP senders must use, to seconds since 1970; `nil` for other forms and
/// invalid times. The name of the day need only be well formed.
package func httpSeconds(_ text: String) -> Int64? {
  let letters = Array(text.utf8)
  guard letters.count == form.utf8.count, zip(letters, form.utf8).allSatisfy(fits) else { return nil }
  func number(_ place: Range<Int>) -> Int64 { letters[place].reduce(0) { $0 * 10 + Int64($1) - 48 } }
  guard let month = months.firstIndex(where: { $0.utf8.elementsEqual(letters[8..<11]) }) else { return nil }
  let day = number(5..<7), year = number(12..<16)
  let hour = number(17..<19), minute = number(20..<22), second = number(23..<25)
  guard year >= 1970, (1...31).contains(day), hour < 24, minute < 60, second <= 60 else { return nil }
  return daysSince1970(year, Int64(month) + 1, day) * 86_400 + hour * 3_600 + minute * 60 + second
}

/// Parses the date of a header field to nanoseconds since 1970; `nil` for a missing or invalid field.
package func httpNanoseconds(_ text: String?) -> Int64? {
  text.flatMap(httpSeconds).map { seconds in
    let (product, overflows) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    return overflows ? .max : product
  }
}

/// `A` matches any upper-case letter, `a` any lower-case letter, `0` any digit, and other characters themselves.
private let form = "Aaa, 00 Aaa 0000 00:00:00 GMT"

private func fits(_ letter: UInt8, _ expected: UInt8) -> Bool {
  switch expected {
  case UInt8(ascii: "A"): (65...90).contains(letter)
  case UInt8(ascii: "a"): (97...122).contains(letter)
  case UInt8(ascii: "0"): (48...57).contains(letter)
  default: letter == expected
  }
}

/// Returns the days since 1970 of a date of the Gregorian calendar.
private func daysSince1970(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
  // The year begins in March, so that a leap day is its last day. 719,468 days precede 1970.
  let (year, month) = month > 2 ? (year, month - 3) : (year - 1, month + 9)
  return year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day - 1 - 719_468
}
