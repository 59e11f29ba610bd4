import Testing

@testable import packstore_cli

/// `ls`, `cat` and `stat` without options run without ArgumentParser, with the same output and errors.
@Suite struct PlainReadingTests {
  let playground = try! Playground()

  private func makeStore() throws {
    try playground.write("hello", to: "folder/a")
    try playground.write("other", to: "folder/inner/b")
    try #require(playground.packstore("add", "store", "folder", "--pack", "P", "-q").status == 0)
  }

  /// "--" before the operands has no effect except that ArgumentParser parses them.
  @Test(arguments: [
    ["ls", "store"], ["ls", "store", "inner"], ["ls", "store", "inner/"], ["ls", "store", "a"], ["ls", "store", ""],
    ["cat", "store", "a"], ["cat", "store", "inner/b"], ["stat", "store"],
    ["ls", "store", "missing"], ["cat", "store", "missing"], ["cat", "store", "inner"], ["cat", "store", ""],
    ["cat", "store", "a/"], ["ls", "missing"], ["cat", "folder", "a"], ["stat", ""], ["cat", "store"], ["ls"],
    ["cat", "store", "a", "b"], ["stat", "store", "a"], ["ls", "store", "a", "b"],
  ])
  func outputIsThatOfTheParser(words: [String]) throws {
    try makeStore()
    let plain = try playground.packstore(words),
      parsed = try playground.packstore([words[0], "--"] + words.dropFirst())
    #expect(plain.output == parsed.output)
    #expect(plain.errors == parsed.errors)
    #expect(plain.status == parsed.status)
  }

  /// The folder of a site is read like a client by `ls` and `stat`, and like its store by `cat`.
  @Test func sitesAreLeftToTheParser() throws {
    try makeStore()
    let store = "\(playground.path)/store"
    #expect(PlainReading(["ls", store]) != nil && PlainReading(["stat", store]) != nil)
    try playground.write("a root", to: "store/root")
    #expect(PlainReading(["ls", store]) == nil && PlainReading(["stat", store]) == nil)
    #expect(PlainReading(["cat", store, "a"]) != nil)
  }

  @Test func optionsAndOtherCommandsAreLeftToTheParser() throws {
    try makeStore()
    let store = "\(playground.path)/store"
    for words in [
      [], ["ls"], ["ls", store, "-l"], ["ls", "--json", store], ["cat", store], ["log", store],
      ["ls", "s3://bucket/site"],
      ["ls", "https://example.com/store"], ["ls", "\(store)/missing"], ["cat", store, "a", "b"],
    ] {
      #expect(PlainReading(words) == nil, "\(words)")
    }
  }
}
