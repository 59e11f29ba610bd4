import ArgumentParser

/// The help of the program: all commands by group, without empty lines between groups, so that it fits on two screens.
/// ArgumentParser generates the help of each command.
struct CommandOverview {
  let configuration: CommandConfiguration

  /// Whether the arguments request the overview.
  static func isRequested(by arguments: ArraySlice<String>) -> Bool {
    arguments.isEmpty || [["help"], ["--help"], ["-h"]].contains(Array(arguments))
  }

  /// The overview. Lines have at most 80 columns if names and abstracts are short enough.
  var text: String {
    let name = configuration.commandName ?? ""
    return """
      Usage: \(name) <command> ...; '\(name) help <command>' describes a command.
      \(configuration.abstract)
      \(configuration.discussion)

      \(configuration.groupedSubcommands.flatMap(lines).joined(separator: "\n"))
      """
  }

  private func lines(of group: CommandGroup) -> [String] {
    let shown = group.subcommands.filter { $0.configuration.shouldDisplay }
    return ["\(group.name)"]
      + shown.map { "  \($0._commandName.padded(to: nameWidth))  \($0.configuration.abstract)" }
  }

  private var nameWidth: Int { configuration.subcommands.map { $0._commandName.count }.max() ?? 0 }
}
