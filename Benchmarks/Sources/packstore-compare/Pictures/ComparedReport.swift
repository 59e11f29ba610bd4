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

  /// Without headlines, the question that was asked at several sizes.
  var picture: String {
    let series = headlines.isEmpty ? SeriesPicture(report) : nil
    return series?.svg ?? HeadlinePicture(headlines: headlines).svg
  }

  /// Writes it where it was asked for.
  ///
  /// - Throws: a failed exit when a participant broke down, or delivered wrong bytes.
  func deliver(to files: ReportFiles, _ picture: PictureFile) throws {
    let destination = ReportDestination(files)
    let markdown = report.markdown
    print(markdown, terminator: "")
    try destination.writePages(markdown: markdown, html: report.html)
    try destination.writeJSON(self)
    try picture.write(self.picture)
    if report.hasFailures { throw ExitCode.failure }
  }
}

/// The file that the picture of Docs/Figures.md goes to.
struct PictureFile: ParsableArguments {
  @Option(help: .init("Where a picture of the main results goes.", valueName: "file"))
  var svg: String?

  func write(_ picture: @autoclosure () -> String) throws {
    if let svg { try Data(picture().utf8).write(to: URL(fileURLWithPath: svg)) }
  }
}
