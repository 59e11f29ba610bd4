import ArgumentParser

struct AllCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "all",
    abstract: "Run every workload and write one report.",
    discussion: """
      Takes at most about ten minutes: a comparison that takes long has fewer repetitions, and a workload that has \
      not begun after --minutes is omitted and listed in the report.

        packstore-bench all --html report.html --json report.json
        packstore-bench all --quick
      """
  )

  @Option(help: .init("Minutes after which no further workload begins.", valueName: "n"))
  var minutes = 9.0

  @OptionGroup var counts: AssetCounts
  @OptionGroup var options: BenchmarkOptions

  func run() throws {
    try BenchmarkRun.run(
      options, Self.workloads(options, counts: counts.list(options)), secondLimit: minutes * 60,
      secondsPerComparison: Self.secondsPerComparison)
  }

  static let secondsPerComparison = 6.0

  /// Returns all workloads. The workloads in Docs/Figures.md come first, because the time limit may omit the last workloads.
  static func workloads(_ options: BenchmarkOptions, counts: [Int]) -> [any Workload] {
    [
      ReadLarge(), ReadSmall(), LookUp(counts: counts), Open(counts: counts), Scan(), Ingest(),
      List(counts: List.defaults(options)), HostileNames(options),
    ]
  }
}
