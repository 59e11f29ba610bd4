import ArgumentParser
import Foundation

struct UpdatesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "updates",
    abstract: "What it costs to bring a client from one version of a folder to the next.",
    discussion: """
      Runs the packstore program and the peers that are installed, each once, in one run: bytes that the client fetches, \
      time and memory to make them and to apply them. Nothing leaves this machine. Without pairs it makes some from the \
      seed.

        packstore-compare updates --from Game-1 --to Game-2 --output update.md
        packstore-compare updates --pair "game=Game-1,Game-2" --pair "tools=Tools-1,Tools-2" --synthetic all
        packstore-compare updates --quick --only packstore,zstd
      """
  )

  @Option(help: .init("The old version.", valueName: "folder"), completion: .directory)
  var from: String?

  @Option(help: .init("The new version.", valueName: "folder"), completion: .directory)
  var to: String?

  @Option(
    name: .customLong("pair"),
    help: .init("Two versions and the name that the report gives them. May be repeated.", valueName: "name=old,new"),
    transform: VersionPair.init(argument:))
  var pairs: [VersionPair] = []

  @Option(
    help: .init(
      "Which pairs to make, separated by commas: \(SyntheticPair.allCases.map(\.rawValue).joined(separator: ", ")), or all (default: all if no folders are named).",
      valueName: "names"),
    transform: SyntheticPair.list)
  var synthetic: [SyntheticPair]?

  @Option(help: .init("Where made data comes from.", valueName: "n"))
  var seed: UInt64 = 1

  @Option(help: .init("Megabytes of the largest asset that is made.", valueName: "MB"))
  var size = 1000

  @Option(
    help: .init("How many assets are made where one of many changes: 100,000 take minutes.", valueName: "n"))
  var assets = 2_000

  @Option(help: .init("Seconds after which each run of a peer's program is ended, and left out.", valueName: "s"))
  var patience = 240.0

  @Flag(help: "A tenth of the data that is made: to see that it works, not for figures.")
  var quick = false

  @Option(
    help: .init("Take part: beginnings of names, separated by commas (default: everybody).", valueName: "names"),
    transform: { $0.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) } })
  var only: [String] = []

  @Option(
    help: .init("The packstore program (default: beside this one, or on the PATH).", valueName: "file"),
    completion: .file())
  var packstore: String?

  @Option(
    help: .init(
      "Where temporary data goes: up to 12 times the larger version (default: the system's folder for temporary files).",
      valueName: "folder"), completion: .directory)
  var workspace: String?

  @OptionGroup var files: ReportFiles
  @OptionGroup var picture: PictureFile

  func validate() throws {
    guard (from == nil) == (to == nil) else { throw ValidationError("--from and --to go together") }
    guard (1...100_000).contains(size) else { throw ValidationError("--size goes from 1 to 100000, not \(size)") }
    guard (20...1_000_000).contains(assets) else {
      throw ValidationError("--assets goes from 20 to 1000000, not \(assets)")
    }
    guard (1...1e6).contains(patience) else { throw ValidationError("--patience is a number of seconds") }
    let names = (try givenPairs()).map(\.name) + chosenSynthetic.map(\.rawValue)
    if let twice = names.first(where: { name in names.count { $0 == name } > 1 }) {
      throw ValidationError("two pairs are called '\(twice)': results are reported by name")
    }
  }

  func run() throws {
    let program = packstore.map { Program("packstore", at: URL(fileURLWithPath: $0).standardizedFileURL.path) }
    let run = try UpdateRun(
      packstore: program ?? Program("packstore"), only: only, seed: seed, isQuick: quick, patience: patience,
      workspace: workspace)
    defer { run.finish() }
    let destination = ReportDestination(files)
    let scale = SyntheticPair.Scale(large: size * 1_000_000, assetCount: assets, isQuick: quick)
    for pair in try givenPairs() {
      run.measure(pair)
      // Keeps the results so far, even if a later pair crashes the machine.
      try destination.write(run.report, picture)
    }
    for kind in chosenSynthetic {
      run.measure(kind, scale)
      try destination.write(run.report, picture)
    }
    print(run.report.markdown, terminator: "")
    if run.report.hasFailures { throw ExitCode.failure }
  }

  private func givenPairs() throws -> [VersionPair] {
    guard let from, let to else { return pairs }
    return [try VersionPair(named: "folders", from: from, to: to)] + pairs
  }

  private var chosenSynthetic: [SyntheticPair] {
    synthetic ?? (from == nil && pairs.isEmpty ? SyntheticPair.allCases : [])
  }
}

extension SyntheticPair {
  /// Those named, or all.
  ///
  /// - Throws: `ValidationError` for a name that none has.
  static func list(_ argument: String) throws -> [Self] {
    guard argument != "all" else { return allCases }
    return try argument.split(separator: ",").map { name in
      guard let kind = Self(rawValue: name.trimmingCharacters(in: .whitespaces)) else {
        throw ValidationError("there is no made pair '\(name)'")
      }
      return kind
    }
  }
}
