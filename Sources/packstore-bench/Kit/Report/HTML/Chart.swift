/// Returns a picture that scales with the page, with a title for screen readers.
func chart(width: Double, height: Double, _ title: String, _ marks: String) -> String {
  element(
    "svg",
    [
      "xmlns": "http://www.w3.org/2000/svg", "viewBox": "0 0 \(number(width)) \(number(height))", "role": "img",
      "aria-label": title,
    ], marks)
}

/// Formats a coordinate with one decimal, which is finer than any screen.
func number(_ value: Double) -> String { decimals(value, 1) }

func shortened(_ text: String, _ length: Int) -> String {
  text.count <= length ? text : text.prefix(length - 1) + "…"
}

/// Formats a round duration for an axis: `50 ns`, `2 ms`.
func durationText(_ seconds: Double) -> String {
  let unit = Unit.time(shortest: seconds * 1.0001)
  return "\(rounded(seconds * unit.perOne)) \(unit.symbol)"
}

/// Formats a round size for an axis.
func sizeText(_ byteCount: Double) -> String {
  byteCount < 1e6 ? "\(rounded(byteCount / 1e3)) kB" : "\(rounded(byteCount / 1e6)) MB"
}

private func rounded(_ value: Double) -> String {
  let isWhole = abs(value - value.rounded()) < value * 1e-3
  return isWhole ? grouped(Int(value.rounded())) : decimals(value, value >= 0.0995 ? 1 : 2)
}

extension Comparison {
  /// Returns the CSS class of an entry's label. It highlights the reference limit of the ratios.
  func labelStyle(of entry: Entry) -> String {
    guard entry.isLimit else { return "label" }
    return entry.name == limit ? "label reference" : "label muted"
  }
}
