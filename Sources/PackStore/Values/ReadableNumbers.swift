/// `1,234,567`.
package func formatCount(_ count: Int) -> String {
  var text = ""
  for (index, digit) in String(count).reversed().enumerated() {
    if index > 0, index.isMultiple(of: 3), digit != "-" { text.append(",") }
    text.append(digit)
  }
  return String(text.reversed())
}

/// `1 asset`, `1,234 assets`.
package func formatCount(_ count: Int, _ noun: String) -> String {
  "\(formatCount(count)) \(noun)\(count == 1 ? "" : "s")"
}

/// `512 B`, `12.3 MB`: units are powers of 1000.
package func formatBytes(_ count: Int) -> String {
  guard count >= 1000 else { return "\(count) B" }
  var tenths = Double(count) / 100
  for unit in ["kB", "MB", "GB", "TB", "PB"] {
    if tenths < 9999.5 { return text(tenths, unit) }
    tenths /= 1000
  }
  return text(tenths, "EB")
}

private func text(_ tenths: Double, _ unit: String) -> String {
  let tenths = Int(tenths.rounded())
  return "\(tenths / 10).\(tenths % 10) \(unit)"
}
