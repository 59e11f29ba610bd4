import ArgumentParser

/// Measures PackStore beside others, and its settings beside each other.
@main
struct Main: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "packstore-compare",
    abstract: "Measure PackStore beside others, and its settings beside each other.",
    subcommands: [
      ReadsCommand.self, SwapsCommand.self, UpdatesCommand.self, MechanismsCommand.self, WatchCommand.self, Sweep.self,
    ]
  )
}
