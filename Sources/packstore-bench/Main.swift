import ArgumentParser

/// Measures PackStore. One subcommand per workload, one file per subcommand.
///
/// Every workload writes Markdown to the standard output or a file, and all its figures as JSON on request. Reports name corpora and
/// describe the machine; they hold no paths. Ratios inside one run mean something, figures of two machines beside each other do not.
@main
struct Main: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "packstore-bench",
    abstract: "Measure PackStore.",
    subcommands: [Sweep.self]
  )
}
