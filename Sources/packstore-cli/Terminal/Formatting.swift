import PackStore

// How numbers, names and dates look in text. JSON has exact numbers instead.

// MARK: - Numbers

/// `12 files, 2 links, 1 empty folder`; files are always named.
func assetCounts(files: Int, links: Int, folders: Int) -> String {
  var counts = [formatCount(files, "file")]
  if links > 0 { counts.append(formatCount(links, "link")) }
  if folders > 0 { counts.append(formatCount(folders, "empty folder")) }
  return counts.joined(separator: ", ")
}

/// `37.5 %` of a whole; `0.0 %` of nothing.
func formatPercent(_ part: Int, of whole: Int) -> String {
  "\(oneDecimal(whole == 0 ? 0 : Double(part) / Double(whole) * 100)) %"
}

/// `40 ms`, `1.4 s`, `12 s`, `3 min 20 s`, `2 h 5 min`.
func formatDuration(_ duration: Duration) -> String {
  let seconds = duration / .seconds(1)
  if seconds < 0.9995 { return "\(Int((max(seconds, 0) * 1000).rounded())) ms" }
  if seconds < 9.95 { return "\(oneDecimal(seconds)) s" }
  let whole = Int(min(seconds, 1e9).rounded())
  if whole < 60 { return "\(whole) s" }
  if whole < 3600 { return "\(whole / 60) min \(whole % 60) s" }
  return "\(whole / 3600) h \(whole % 3600 / 60) min"
}

/// `310.2 MB/s`.
func formatRate(_ bytes: Int, in duration: Duration) -> String {
  formatRate(Double(bytes) / max(duration / .seconds(1), 1e-3))
}

func formatRate(_ bytesPerSecond: Double) -> String {
  formatBytes(Int(min(max(bytesPerSecond, 0), 1e18))) + "/s"
}

private func oneDecimal(_ value: Double) -> String {
  let tenths = Int((max(value, 0) * 10).rounded())
  return "\(tenths / 10).\(tenths % 10)"
}

/// `2025-11-21T10:46:00Z`.
func formatDate(_ date: Date) -> String { date.formatted(.iso8601) }

/// `nil` for 1970-01-01: archives that were made without a date have that one.
func formatKnownDate(_ date: Date) -> String? { date.timeIntervalSince1970 == 0 ? nil : formatDate(date) }

func formatDate(nanoseconds: Int64) -> String { formatDate(Date(timeIntervalSince1970: Double(nanoseconds) / 1e9)) }

// MARK: - Names

/// A name on one line, safe to show on a terminal: `\n`, `\t`, `\r`, `\\`, `\x1b` for control characters and for bytes
/// that are not UTF-8, `\u{202e}` for what would reorder or break the line. Everything else stays as it is; no two
/// names become the same.
func escaped(_ name: some Sequence<UInt8>) -> String {
  var text = ""
  var bytes = name.makeIterator()
  var replay = Array(name)[...]
  var parser = Unicode.UTF8.ForwardParser()
  while true {
    switch parser.parseScalar(from: &bytes) {
    case .valid(let encoded):
      replay = replay.dropFirst(encoded.count)
      append(Unicode.UTF8.decode(encoded), to: &text)
    case .error(let length):
      for byte in replay.prefix(length) { text += hexadecimal(byte) }
      replay = replay.dropFirst(length)
    case .emptyInput:
      return text
    }
  }
}

func escaped(_ name: String) -> String { escaped(name.utf8) }

/// Escapes a sentence of the library. It already contains invalid UTF-8 as `\xe9`, and ambiguous characters as `\u0301`: these stay.
func escapedText(_ text: String) -> String {
  escaped(text).replacing(#/\\\\(x[89a-f][0-9a-f]|u[0-9a-f]{4}|u\{[0-9a-f]{5,6}\})/#) { #"\"# + $0.output.1 }
}

/// Escapes a text whose names are already escaped: backslashes are unchanged.
func escapedControls(_ text: String) -> String {
  var shown = ""
  for scalar in text.unicodeScalars {
    if scalar == "\\" { shown.unicodeScalars.append(scalar) } else { append(scalar, to: &shown) }
  }
  return shown
}

/// Whether a character of a name is not shown as it is.
func needsEscape(_ scalar: Unicode.Scalar) -> Bool {
  var shown = ""
  append(scalar, to: &shown)
  return shown != String(scalar)
}

private func append(_ scalar: Unicode.Scalar, to text: inout String) {
  switch scalar {
  case "\n": text += #"\n"#
  case "\t": text += #"\t"#
  case "\r": text += #"\r"#
  case "\\": text += #"\\"#
  case _ where scalar.isASCII && isControl(scalar): text += hexadecimal(UInt8(scalar.value))
  case _ where isControl(scalar): text += "\\u{\(String(scalar.value, radix: 16))}"
  default: text.unicodeScalars.append(scalar)
  }
}

/// Whether a terminal acts on a character, or it changes the direction of text, ends a line or is invisible. Less than U+10000.
func isControl(_ scalar: Unicode.Scalar) -> Bool {
  switch scalar {
  case "\u{0}"..."\u{1f}", "\u{7f}"..."\u{9f}", "\u{61c}", "\u{200e}", "\u{200f}", "\u{2028}"..."\u{202e}",
    "\u{2066}"..."\u{2069}", "\u{feff}":
    true
  default: false
  }
}

private func hexadecimal(_ byte: UInt8) -> String {
  #"\x"# + (byte < 16 ? "0" : "") + String(byte, radix: 16)
}

// MARK: - Tables

enum Alignment { case left, right }

extension String {
  /// As wide as `width` at least.
  func padded(to width: Int, _ alignment: Alignment = .left) -> String {
    let padding = String(repeating: " ", count: max(width - count, 0))
    return alignment == .left ? self + padding : padding + self
  }
}

/// Rows of text in columns two spaces apart, each as wide as its widest cell, except very long cells.
struct Table {
  private let alignments: [Alignment]
  private var rows: [[String]]

  init(_ columns: (title: String, alignment: Alignment)...) { self.init(columns) }

  init(_ columns: [(title: String, alignment: Alignment)]) {
    alignments = columns.map(\.alignment)
    rows = [columns.map(\.title)]
  }

  mutating func add(_ cells: [String]) { rows.append(cells) }

  /// Longer cells move only the later cells of their own line.
  private static let widthLimit = 60

  var lines: [String] {
    let widths = alignments.indices.map { column in
      rows.map { $0[column].count }.filter { $0 <= Self.widthLimit }.max() ?? 0
    }
    return rows.map { row in
      var line = row.indices.map { row[$0].padded(to: widths[$0], alignments[$0]) }.joined(separator: "  ")
      while line.last == " " { line.removeLast() }
      return line
    }
  }
}
