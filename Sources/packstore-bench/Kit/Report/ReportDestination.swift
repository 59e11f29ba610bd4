import Foundation

/// The output files of a report.
struct ReportDestination {
  let markdownFile: String?
  let jsonFile: String?
  var htmlFile: String?

  /// Writes the Markdown to its file (default: standard output), and the figures to the JSON file if one is given.
  func write(_ markdown: String, _ figures: some Encodable) throws {
    if let markdownFile {
      try Data(markdown.utf8).write(to: URL(fileURLWithPath: markdownFile))
    } else {
      print(markdown, terminator: "")
    }
    try writeJSON(figures)
  }

  func writeJSON(_ figures: some Encodable) throws {
    guard let jsonFile else { return }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    try (try encoder.encode(figures) + Data("\n".utf8)).write(to: URL(fileURLWithPath: jsonFile))
  }
}

extension ReportDestination {
  init(_ files: ReportFiles) {
    self.init(markdownFile: files.output, jsonFile: files.json, htmlFile: files.html)
  }

  /// Prints the report, and writes it to each requested file.
  func write(_ report: Report) throws {
    let markdown = report.markdown
    print(markdown, terminator: "")
    try writePages(markdown: markdown, html: report.html)
    try writeJSON(report)
  }

  /// Writes the Markdown and the page to the requested files.
  func writePages(markdown: String, html: @autoclosure () -> String) throws {
    if let markdownFile { try Data(markdown.utf8).write(to: URL(fileURLWithPath: markdownFile)) }
    if let htmlFile { try Data(html().utf8).write(to: URL(fileURLWithPath: htmlFile)) }
  }
}
