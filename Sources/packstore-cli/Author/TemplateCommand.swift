import ArgumentParser
import PackAuthoring
import PackStore

struct Template: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "template",
    abstract: "Print a template for a manifest.",
    discussion: """
      A manifest selects the files of a pack and contains its attributes. Comments in the template describe each key; \
      'packstore evaluate' checks the result.

        packstore template -o Manifest.json
        packstore template --schema -o manifest.schema.json
      """
  )

  @Flag(help: "Print the JSON Schema of manifests, for editors.")
  var schema = false

  @OptionGroup var file: TextFileOptions
  @OptionGroup var report: ReportOptions

  func run() throws {
    let text = schema ? Manifest.schema : Manifest.template
    try file.write(text)
    let output = Output()
    if report.json {
      try output.json(TemplateReport(path: file.written, text: file.written == nil ? text : nil))
    } else if file.written == nil {
      try output.write(text.utf8)
    } else if let name = file.written, report.isTalkative {
      try output.line("'\(escaped(name))' was written")
    }
    try output.flush()
  }
}

private struct TemplateReport: Encodable {
  let path, text: String?
}
