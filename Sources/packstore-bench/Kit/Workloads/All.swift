import ArgumentParser

struct AllCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "all",
    abstract: "Every workload in one report.",
    discussion: """
      Takes about ten minutes at most: repetitions end early where one comparison takes long, and what has not begun after --minutes is left \
      out, which the report says.

        packstore-bench all --html report.html --json report.json
        packstore-bench all --quick
      """
  )

  @Option(help: .init("After how many minutes nothing new is begun.", valueName: "n"))
  var minutes = 9.0

  @OptionGroup var counts: AssetCounts
  @OptionGroup var options: BenchmarkOptions

  func run() throws {
    try BenchmarkRun.run(
      options, Self.workloads(options, counts: counts.list(options)), secondLimit: minutes * 60,
      secondsPerComparison: Self.secondsPerComparison)
  }

  static let secondsPerComparison = 6.0

  /// Those that Docs/Figures.md tells of come first: the time may be up before the last ones.
  static func workloads(_ options: BenchmarkOptions, counts: [Int]) -> [any Workload] {
    [
      ReadLarge(), ReadSmall(), LookUp(counts: counts), Open(counts: counts), Scan(), Ingest(),
      List(counts: List.defaults(options)), HostileNames(options),
    ]
  }
}
