import ArgumentParser

/// Compares PackStore with its peers, and its settings with each other.
@main
struct Main: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "packstore-compare",
    abstract: "Compare PackStore with other tools, and its settings with each other.",
    subcommands: [ReadsCommand.self, SwapsCommand.self, MechanismsCommand.self, WatchCommand.self, Sweep.self]
  )
}
