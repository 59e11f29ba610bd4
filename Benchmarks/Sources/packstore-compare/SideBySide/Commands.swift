import ArgumentParser

struct ReadsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reads",
    abstract: "Compare PackStore with databases, file system images and archives: every workload except swaps.",
    discussion: """
      Runs `packstore-bench all` and measures the same with the peers that are installed. --only chooses among these.

        packstore-compare reads --html reads.html --json reads.json
      """
  )

  @Option(help: .init("After how many minutes of a round a program begins nothing new.", valueName: "n"))
  var minutes = 3.0

  @OptionGroup var counts: AssetCounts
  @OptionGroup var sideBySide: SideBySide
  @OptionGroup var options: BenchmarkOptions

  func run() throws {
    let counts = counts.list(options)
    let arguments = ["all", "--minutes", "\(minutes)", "--counts", counts.map(String.init).joined(separator: ",")]
    let report = try sideBySide.measure(arguments, AllCommand.workloads(options, counts: counts), options) {
      $0.secondLimit = minutes * 60
      $0.secondsPerComparison = AllCommand.secondsPerComparison
    }
    try ComparedReport(report).deliver(to: options.files)
  }
}

struct SwapsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "swaps",
    abstract: "Replace one asset of a pack of a hundred, compared with a database.",
    discussion: "  packstore-compare swaps --html swap.html --json swap.json"
  )

  @OptionGroup var counts: SwapCounts
  @OptionGroup var sideBySide: SideBySide
  @OptionGroup var options: BenchmarkOptions

  func run() throws {
    let counts = counts.list(options)
    let arguments = ["swap", "--counts", counts.map(String.init).joined(separator: ",")]
    let report = try sideBySide.measure(arguments, [Swap(counts: counts)], options) {
      $0.secondsPerComparison = SwapCommand.secondsPerComparison
    }
    try ComparedReport(report).deliver(to: options.files)
  }
}
