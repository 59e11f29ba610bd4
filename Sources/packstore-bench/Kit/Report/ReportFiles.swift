import ArgumentParser

/// The files that a report goes to.
struct ReportFiles: ParsableArguments {
  @Option(help: .init("Where the report goes as Markdown. It is printed as well.", valueName: "file"))
  var output: String?

  @Option(help: .init("Where all figures go as JSON.", valueName: "file"))
  var json: String?

  @Option(help: .init("Where the report goes as a page for the browser.", valueName: "file"))
  var html: String?
}
