import Foundation

/// A Markdown table: the first column is text, the others are figures.
struct Table {
  let head: [String]
  var rows: [[String]] = []

  init(_ head: [String]) { self.head = head }

  var markdown: String {
    let rule = ["---"] + [String](repeating: "---:", count: head.count - 1)
    return ([head, rule] + rows).map { "| " + $0.joined(separator: " | ") + " |\n" }.joined()
  }
}

/// Where a report goes.
struct ReportDestination {
  let markdownFile: String?
  let jsonFile: String?

  /// Writes the Markdown to its file, or to the standard output if there is none, and the figures to the JSON file if there is one.
  func write(_ markdown: String, _ figures: some Encodable) throws {
    if let markdownFile {
      try Data(markdown.utf8).write(to: URL(fileURLWithPath: markdownFile))
    } else {
      print(markdown, terminator: "")
    }
    guard let jsonFile else { return }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    try (try encoder.encode(figures) + Data("\n".utf8)).write(to: URL(fileURLWithPath: jsonFile))
  }
}

/// Says on the standard error what is being measured.
func note(_ text: String) {
  FileHandle.standardError.write(Data((text + "\n").utf8))
}

// MARK: - Figures as text

/// Megabytes of 10^6 bytes.
func megabytes(_ byteCount: Int, _ places: Int = 1) -> String { decimals(Double(byteCount) / 1e6, places) }

func decimals(_ value: Double, _ places: Int) -> String { String(format: "%.\(places)f", value) }

/// A size that is chosen in powers of two: `64 KiB`, `1 MiB`.
func binarySize(_ byteCount: Int) -> String {
  let mebibyte = 1 << 20
  return byteCount % mebibyte == 0 ? "\(byteCount / mebibyte) MiB" : "\(byteCount >> 10) KiB"
}
