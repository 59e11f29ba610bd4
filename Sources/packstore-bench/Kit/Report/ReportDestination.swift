import Foundation

/// Where a report goes.
struct ReportDestination {
  let markdownFile: String?
  let jsonFile: String?
  var htmlFile: String?
  var svgFile: String?

  /// Writes the Markdown to its file, or to the standard output if there is none, and the figures to the JSON file if there is one.
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
    self.init(markdownFile: files.output, jsonFile: files.json, htmlFile: files.html, svgFile: files.svg)
  }

  /// Prints the report, and writes it to each file that was asked for.
  func write(_ report: Report) throws {
    let markdown = report.markdown
    print(markdown, terminator: "")
    if let markdownFile { try Data(markdown.utf8).write(to: URL(fileURLWithPath: markdownFile)) }
    if let htmlFile { try Data(report.html.utf8).write(to: URL(fileURLWithPath: htmlFile)) }
    if let svgFile {
      let series = report.headlines.isEmpty ? SeriesPicture(report) : nil
      let picture = series?.svg ?? HeadlinePicture(headlines: report.headlines).svg
      try Data(picture.utf8).write(to: URL(fileURLWithPath: svgFile))
    }
    try writeJSON(report)
  }
}
