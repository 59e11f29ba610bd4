import ArgumentParser
import PackAuthoring
import PackStore

struct Evaluate: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "evaluate",
    abstract: "Check a manifest and list the files it selects.",
    discussion: """
      Lists the pack's files with sizes and selectors. All faults are printed to standard error as \
      'Manifest.json:LINE:COLUMN: error: ...'. Errors make the command fail; warnings do not. Paths are relative to \
      'sourceRoot', which is relative to the manifest; without 'sourceRoot', to the current folder.

        packstore evaluate Manifest.json
      """
  )

  @Argument(help: "The manifest.", completion: .file(extensions: ["json"]))
  var manifest: String

  @OptionGroup var report: ReportOptions

  func run() throws {
    let evaluation = try Manifest.evaluate(contentsOf: FilePath(manifest))
    let output = Output()
    if report.json {
      try output.json(EvaluationReport(evaluation))
    } else if !report.quiet {
      try output.lines(listing(evaluation))
    }
    try output.flush()
    if !report.json { show(evaluation.problems, of: manifest, quiet: report.quiet) }
    try requireNoErrors(evaluation.problems, "the manifest", manifest)
  }

  private func listing(_ evaluation: ManifestEvaluation) -> [String] {
    let selectors = Dictionary(evaluation.selectors.map { ($0.index, $0) }) { first, _ in first }
    var table = Table(("SIZE", .right), ("PATH", .left), ("SELECTOR", .left))
    for entry in evaluation.entries {
      let size = entry.kind == .file ? formatBytes(Int(clamping: entry.byteCount)) : entry.kind.rawValue
      let from = entry.source.utf8.elementsEqual(entry.path.utf8) ? "" : ", from '\(escaped(entry.source))'"
      table.add([size, escaped(entry.path), escaped(selectors[entry.selector]?.description ?? "") + from])
    }
    let files = evaluation.entries.count { $0.kind == .file }, links = evaluation.entries.count { $0.kind == .link }
    let counts = assetCounts(files: files, links: links, folders: evaluation.entries.count - files - links)
    let summary = "\(counts); \(formatBytes(Int(clamping: evaluation.byteCount)))"
    return (evaluation.entries.isEmpty ? [] : table.lines) + [summary]
  }
}

/// Shows the problems of a file, one on each line, as compilers do.
func show(_ problems: [ManifestProblem], of file: String, quiet: Bool) {
  for problem in problems where !quiet || problem.severity == .error {
    writeToStandardError("\(escaped(file)):\(escapedText(problem.description))\n")
  }
}

/// Finds the files that a manifest selects, and shows its problems.
///
/// - Throws: `refused` when it has errors.
func evaluateManifest(_ manifest: String, _ report: ReportOptions) throws -> ManifestEvaluation {
  let evaluation = try Manifest.evaluate(contentsOf: FilePath(manifest))
  guard report.json else {
    show(evaluation.problems, of: manifest, quiet: report.quiet)
    try requireNoErrors(evaluation.problems, "the manifest", manifest)
    return evaluation
  }
  if let first = evaluation.problems.first(where: { $0.severity == .error }) {
    throw Failure(
      .refused, "\(escaped(manifest)):\(escapedText(first.description))",
      remedy: "'packstore evaluate --json' lists all errors", path: manifest)
  }
  for problem in evaluation.problems where !report.quiet {
    warn(.manifest, "\(escaped(manifest)):\(escapedText(problem.description))")
  }
  return evaluation
}

/// Fails if there is an error among the problems.
func requireNoErrors(_ problems: [ManifestProblem], _ what: String, _ file: String) throws {
  let count = problems.count { $0.severity == .error }
  guard count > 0 else { return }
  throw Failure(
    .refused, "'\(escaped(file))': \(formatCount(count, "error")) in \(what)", remedy: "correct the listed errors",
    path: file)
}

/// What `--json` prints for a problem.
struct ProblemReport: Encodable {
  let severity: String
  let line, column: Int
  let message: String
  let remedy: String?
  let suggestions: [String]?

  init(_ problem: ManifestProblem) {
    severity = problem.severity.rawValue
    line = problem.line
    column = problem.column
    message = problem.message
    remedy = problem.remedy
    suggestions = problem.suggestions.isEmpty ? nil : problem.suggestions
  }
}

private struct EvaluationReport: Encodable {
  let pack: String?
  let sourceRoot: String
  let files, links, folders: Int
  let bytes: UInt64
  let entries: [EntryReport]
  let problems: [ProblemReport]

  struct EntryReport: Encodable {
    let path, source, kind: String
    let bytes: UInt64?
    let selector: Int
  }

  init(_ evaluation: ManifestEvaluation) {
    pack = evaluation.manifest?.assetPackID.name
    sourceRoot = evaluation.sourceRoot.isEmpty ? "." : evaluation.sourceRoot.string
    let all = evaluation.entries
    (files, links) = (all.count { $0.kind == .file }, all.count { $0.kind == .link })
    folders = all.count - files - links
    bytes = evaluation.byteCount
    entries = all.map {
      EntryReport(
        path: $0.path, source: $0.source, kind: $0.kind.rawValue, bytes: $0.kind == .file ? $0.byteCount : nil,
        selector: $0.selector)
    }
    problems = evaluation.problems.map(ProblemReport.init)
  }
}
