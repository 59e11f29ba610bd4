import ArgumentParser

/// Compares PackStore with its peers, and its settings with each other.
@main
struct Main: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "packstore-compare",
    abstract: "Measure PackStore beside others, and its settings beside each other.",
    subcommands: [ReadsCommand.self, SwapsCommand.self, MechanismsCommand.self, WatchCommand.self, Sweep.self]
  )
}
