import ArgumentParser
import Testing

@testable import packstore_cli

/// The names of commands are stated, not derived from types.
///
/// ArgumentParser derives a missing name by describing the type, which searches all conformances of the program a dozen times. It
/// does this for each subcommand before it parses anything: 40 missing names took half of the processor time of `cat`.
@Suite struct CommandNameTests {
  @Test func everyCommandStatesItsName() {
    var commands: [any ParsableCommand.Type] = [Packstore.self]
    while let command = commands.popLast() {
      #expect(command.configuration.commandName != nil, "\(command)")
      commands += command.configuration.subcommands
    }
  }
}
