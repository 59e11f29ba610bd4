import ArgumentParser
import Testing

@testable import packstore_cli

/// A command that the first word names is parsed without the other commands, with the same result.
@Suite struct CommandParsingTests {
  private static let argumentsOfCommands: [[String]] = [
    ["ls", "Packs"], ["ls", "Packs", "-l", "--json"], ["cat", "Packs", "a", "--range", "0-9"],
    ["cat", "Packs", "--", "-dash"],
    ["stat", "Packs", "--by-extension"], ["add", "Packs", "Folder", "--pack", "P", "--priority", "-3"],
    ["ls", "help"], ["cat", "ls", "cat"], ["verify", "Packs", "--deep"],
  ]

  @Test(arguments: argumentsOfCommands) func resultIsTheSameAsOfTheRoot(arguments: [String]) throws {
    let alone = try Packstore.command(arguments[...]), root = try Packstore.parseAsRoot(arguments)
    #expect(type(of: alone) == type(of: root))
    #expect("\(alone)" == "\(root)")
  }

  /// Invalid arguments and requests for help have the program's name in the text.
  @Test(arguments: [
    ["ls"], ["ls", "Packs", "--unknown"], ["ls", "--help"], ["help", "ls"], ["cat", "Packs", "a", "--range", "x"],
    ["add", "Packs", "Folder", "--pack", "P", "--keep", "0"],
  ])
  func messagesAreThoseOfTheRoot(arguments: [String]) throws {
    func message(_ parse: () throws -> any ParsableCommand) -> String {
      do {
        var command = try parse()
        try command.run()
        return "no message"
      } catch { return Packstore.fullMessage(for: error) }
    }
    let root = message { try Packstore.parseAsRoot(arguments) }
    #expect(message { try Packstore.command(arguments[...]) } == root)
    #expect(root.contains("packstore"))
  }
}
