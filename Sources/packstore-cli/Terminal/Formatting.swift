import PackStore

// Formats of numbers, names and dates in text. JSON contains exact numbers instead.

// MARK: - Numbers

/// Formats counts as `12 files, 2 links, 1 empty folder`. Omits a count of 0, except for files.
func assetCounts(files: Int, links: Int, folders: Int) -> String {
  var counts = [formatCount(files, "file")]
  if links > 0 { counts.append(formatCount(links, "link")) }
  if folders > 0 { counts.append(formatCount(folders, "empty folder")) }
  return counts.joined(separator: ", ")
}

/// Formats a part of a whole as `37.5 %`; `0.0 %` if the whole is 0.
func formatPercent(_ part: Int, of whole: Int) -> String {
  "\(oneDecimal(whole == 0 ? 0 : Double(part) / Double(whole) * 100)) %"
}

/// Formats a duration as `40 ms`, `1.4 s`, `12 s`, `3 min 20 s` or `2 h 5 min`.
func formatDuration(_ duration: Duration) -> String {
  let seconds = duration / .seconds(1)
  if seconds < 0.9995 { return "\(Int((max(seconds, 0) * 1000).rounded())) ms" }
  if seconds < 9.95 { return "\(oneDecimal(seconds)) s" }
  let whole = Int(min(seconds, 1e9).rounded())
  if whole < 60 { return "\(whole) s" }
  if whole < 3600 { return "\(whole / 60) min \(whole % 60) s" }
  return "\(whole / 3600) h \(whole % 3600 / 60) min"
}

/// Formats a rate as `310.2 MB/s`.
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

/// Formats a date as `2025-11-21T10:46:00Z`.
func formatDate(_ date: Date) -> String { date.formatted(.iso8601) }

/// Formats a date. Returns `nil` for the start of 1970, which archives without a date contain.
func formatKnownDate(_ date: Date) -> String? { date.timeIntervalSince1970 == 0 ? nil : formatDate(date) }

func formatDate(nanoseconds: Int64) -> String { formatDate(Date(timeIntervalSince1970: Double(nanoseconds) / 1e9)) }

// MARK: - Names

/// Escapes a name, so that it is one line and safe to print on a terminal.
///
/// Control characters and invalid UTF-8 become `\n`, `\t`, `\r`, `\\` or `\x1b`. Characters that reorder or break the line become
/// `\u{202e}`. All other characters are unchanged. Different names have different results.
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

/// Escapes a sentence of the library. Keeps its escapes of invalid UTF-8 (`\xe9`) and of ambiguous characters (`\u0301`).
func escapedText(_ text: String) -> String {
  escaped(text).replacing(#/\\\\(x[89a-f][0-9a-f]|u[0-9a-f]{4}|u\{[0-9a-f]{5,6}\})/#) { #"\"# + $0.output.1 }
}

/// Escapes a text with already escaped names: backslashes are unchanged.
func escapedControls(_ text: String) -> String {
  var shown = ""
  for scalar in text.unicodeScalars {
    if scalar == "\\" { shown.unicodeScalars.append(scalar) } else { append(scalar, to: &shown) }
  }
  return shown
}

/// Whether ``escaped(_:)`` changes a character.
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

/// Whether a character controls the terminal, changes the direction of text, ends a line or is invisible. All are below U+10000.
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
  /// Pads the text with spaces to at least `width` characters.
  func padded(to width: Int, _ alignment: Alignment = .left) -> String {
    let padding = String(repeating: " ", count: max(width - count, 0))
    return alignment == .left ? self + padding : padding + self
  }
}

/// A table of text. Columns are two spaces apart and as wide as their widest cell, except very long cells.
struct Table {
  private let alignments: [Alignment]
  private var rows: [[String]]

  init(_ columns: (title: String, alignment: Alignment)...) { self.init(columns) }

  init(_ columns: [(title: String, alignment: Alignment)]) {
    alignments = columns.map(\.alignment)
    rows = [columns.map(\.title)]
  }

  mutating func add(_ cells: [String]) { rows.append(cells) }

  /// The maximum width of a column. Longer cells shift only the following cells of their own line.
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
