import ArgumentParser
import Foundation

/// Chooses defaults: how large chunks and frames are, which level, dictionaries or not.
///
/// Not the full product of all settings: each study varies one of them, or two that belong together, around the present defaults.
struct Sweep: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Compare chunk sizes, frame sizes, levels and dictionaries.",
    discussion: """
      Stores each folder once per setting and reports stored size, what a second version adds, and the cost of storing and reading. \
      Sizes are exact; times are the best of the rounds, in which settings take turns.

        packstore-compare sweep Assets
        packstore-compare sweep --pair game=game-1:game-2 --folder photos=Photos --studies chunks,frames --output sweep.md
      """
  )

  @Argument(help: "A folder to store, and perhaps a later version of it.", completion: .directory)
  var folders: [String] = []

  @Option(
    name: .customLong("folder"),
    help: .init("A folder and its name in the report. May be repeated.", valueName: "name=folder"),
    transform: CorpusArgument.folder)
  var namedFolders: [CorpusArgument] = []

  @Option(
    name: .customLong("pair"),
    help: .init("Two versions of a folder and their name. May be repeated.", valueName: "name=folder:folder2"),
    transform: CorpusArgument.pair)
  var pairs: [CorpusArgument] = []

  @Option(
    help: .init(
      "What to vary, separated by commas: \(SweepStudy.allCases.map(\.rawValue).joined(separator: ", ")). By default all.",
      valueName: "list"),
    transform: SweepStudy.list)
  var studies = SweepStudy.allCases

  @Option(help: .init("Repetitions of short measurements.", valueName: "n"))
  var rounds = 2

  @Option(
    help: .init("Where temporary stores go (default: the system's folder for temporary files).", valueName: "folder"))
  var work: String?

  @Option(help: .init("Where the table goes (default: the standard output).", valueName: "file"))
  var output: String?

  @Option(help: .init("Where all figures go as JSON.", valueName: "file"))
  var json: String?

  @Flag(help: "Keep the results of an earlier run in the --json file, and measure the missing ones.")
  var resume = false

  func validate() throws {
    guard folders.count <= 2 else { throw ValidationError("more than two folders need --folder and --pair") }
    guard !corpusArguments.isEmpty else { throw ValidationError("a folder is needed") }
    guard !resume || json != nil else { throw ValidationError("--resume needs --json") }
    guard rounds >= 1 else { throw ValidationError("--rounds starts at 1") }
  }

  private var corpusArguments: [CorpusArgument] {
    let positional = folders.first.map { folder in
      let name = URL(fileURLWithPath: folder).lastPathComponent
      return CorpusArgument(name: name, folder: folder, secondVersion: folders.dropFirst().first)
    }
    return [positional].compactMap { $0 } + namedFolders + pairs
  }

  func run() throws {
    let environment = Environment()
    let work = try TemporaryFolder(in: work)
    var corpora = try resume ? earlierCorpora() : []
    for argument in corpusArguments {
      let corpus = try Corpus(argument)
      note("\(corpus.name): \(corpus.summary)")
      try corpus.warm()
      let position = corpora.firstIndex { $0.name == corpus.name && $0.summary == corpus.summary }
      let earlier = position.map { corpora.remove(at: $0) }
      let measured = try SweepCorpus.measure(corpus, studies, rounds: rounds, in: work.path, keeping: earlier)
      corpora.insert(measured, at: position ?? corpora.endIndex)
    }
    let report = SweepReport(environment: environment, rounds: rounds, corpora: corpora)
    try ReportDestination(markdownFile: output, jsonFile: json).write(report.markdown, report)
  }

  private func earlierCorpora() throws -> [SweepCorpus] {
    try JSONDecoder().decode(SweepReport.self, from: Data(contentsOf: URL(fileURLWithPath: json!))).corpora
  }
}
