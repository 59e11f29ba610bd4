import ArgumentParser
import Foundation

/// A report of PackStore and its peers, with the headlines that Docs/Figures.md shows.
struct ComparedReport: Encodable {
  let report: Report
  let headlines: [Headline]

  init(_ report: Report) {
    self.report = report
    headlines = Headline.all(of: report)
  }

  private enum CodingKeys: CodingKey { case headlines }

  /// Encodes the headlines next to the report's own fields.
  func encode(to encoder: any Encoder) throws {
    try report.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(headlines, forKey: .headlines)
  }

  /// Writes it to the files of the options.
  ///
  /// - Throws: a failed exit if a participant failed, or delivered wrong bytes.
  func deliver(to files: ReportFiles) throws {
    let destination = ReportDestination(files)
    let markdown = report.markdown
    print(markdown, terminator: "")
    try destination.writePages(markdown: markdown, html: report.html)
    try destination.writeJSON(self)
    if report.hasFailures { throw ExitCode.failure }
  }
}
