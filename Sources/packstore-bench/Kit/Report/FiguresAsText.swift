import Foundation

/// Formats a size in megabytes of 10^6 bytes, without the unit.
func megabytes(_ byteCount: Int, _ places: Int = 1) -> String { decimals(Double(byteCount) / 1e6, places) }

func decimals(_ value: Double, _ places: Int) -> String { String(format: "%.\(places)f", value) }

/// Formats a size that is a multiple of a KiB: `64 KiB`, `1 MiB`.
func binarySize(_ byteCount: Int) -> String {
  let mebibyte = 1 << 20
  return byteCount % mebibyte == 0 ? "\(byteCount / mebibyte) MiB" : "\(byteCount >> 10) KiB"
}

/// Formats a size in megabytes of 10^6 bytes with three significant digits, also if it is small: `60.5`, `0.0255`, `0.000402`.
func fineMegabytes(_ byteCount: Int) -> String {
  let value = Double(byteCount) / 1e6
  guard byteCount > 0, value < 0.0995 else { return significant(value) }
  return decimals(value, 2 - Int(log10(value).rounded(.down)))
}

/// Formats a count with separated thousands: `1,000,000`.
func grouped(_ count: Int) -> String {
  let digits = String(count)
  return digits.enumerated().map { index, digit in
    let left = digits.count - index
    return index > 0 && left % 3 == 0 ? ",\(digit)" : "\(digit)"
  }.joined()
}

/// Formats a number with three significant digits, but at most three decimals and no exponent: `1,240`, `12.4`, `0.124`.
func significant(_ value: Double) -> String {
  guard value.isFinite else { return "-" }
  switch abs(value) {
  case 99.95...: return grouped(Int(value.rounded()))
  case 9.995...: return decimals(value, 1)
  case 0.9995...: return decimals(value, 2)
  case 0: return "0"
  default: return decimals(value, 3)
  }
}

/// Formats a count with its noun: `1 asset`, `12,000 assets`.
func counted(_ count: Int, _ thing: String) -> String { "\(grouped(count)) \(thing)\(count == 1 ? "" : "s")" }
