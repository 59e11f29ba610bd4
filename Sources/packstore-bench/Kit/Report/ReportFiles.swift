import ArgumentParser

/// Options for the output files of a report.
struct ReportFiles: ParsableArguments {
  @Option(help: .init("File for the report as Markdown, which is also printed.", valueName: "file"))
  var output: String?

  @Option(help: .init("File for all figures as JSON.", valueName: "file"))
  var json: String?

  @Option(help: .init("File for the report as a page for a browser.", valueName: "file"))
  var html: String?
}
