import ArgumentParser
import Testing

@testable import packstore_cli

/// The remedy of `tooManyRows` names the option: all commands that store versions accept it.
@Suite struct RowOptionTests {
  @Test(arguments: [
    ["add", "s", "f", "--pack", "P"], ["import", "s", "f"], ["pull", "s", "site"], ["update", "s"],
    ["apply", "s", "d"],
    ["repair", "s"], ["package", "m.json", "-o", "a.pack"], ["publish", "m.json", "site"], ["agent", "g"],
    ["log", "s"],
  ])
  func commandsAcceptTheLimit(_ words: [String]) throws {
    _ = try Packstore.parseAsRoot(words + ["--max-rows", "7"])
    #expect(throws: (any Error).self) { try Packstore.parseAsRoot(words + ["--max-rows", "0"]) }
  }
}
