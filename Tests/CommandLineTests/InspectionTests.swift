import Foundation
import Testing

/// `inspect`.
@Suite struct InspectionTests {
  let playground = try! Playground()

  init() throws {
    try playground.write("same", to: "folder/a.txt")
    try playground.write("same", to: "folder/b.txt")
    try playground.succeed("add", "store", "folder", "--pack", "Game")
    try playground.write("more", to: "folder/c.bin")
    try playground.succeed("add", "store", "folder", "--pack", "Game")
  }

  @Test func text() throws {
    let run = try playground.succeed("inspect", "store", "Game", "--from", "previous", "--delta")
    #expect(run.output.contains("3 files of 12 B; 8 B distinct"))
    #expect(run.output.contains("duplicate files: 4 B could be saved\n2 files of 4 B:\n  a.txt\n  b.txt\n"))
    #expect(run.output.contains("since version 1: 1 added, 0 removed") && run.output.contains("by a delta"))
    let short = try playground.succeed("inspect", "store", "--top", "1").output
    #expect(short.contains("and 1 more kind\n") && short.contains("and 2 more files\n"))
  }

  @Test func page() throws {
    try playground.succeed("inspect", "store", "--html", "report.html", "-q")
    let page = String(decoding: try playground.read("report.html"), as: UTF8.self)
    #expect(page.hasPrefix("<!doctype html>") && page.contains("a.txt"))
    let again = try playground.packstore("inspect", "store", "--html", "report.html")
    #expect(again.status != 0 && again.errors.contains("--force"))
    try playground.succeed("inspect", "store", "--html", "report.html", "--force")
  }

  @Test func archivesAndSites() throws {
    try playground.succeed("keygen", "key")
    try playground.succeed("export", "store", "Game", "-o", "Game.pack", "--key", "key")
    try playground.succeed("publish", "store", "site", "--key", "key")
    for source in ["Game.pack", "site"] {
      let output = try playground.succeed("inspect", source).output
      #expect(output.contains("3 files of 12 B"))
      #expect(output.contains("duplicates are unknown") == (source == "Game.pack"), "a site here has them")
    }
  }

  @Test func mistakes() throws {
    let cases: [([String], String)] = [
      (["inspect", "nowhere"], "the directory does not exist"),
      (["inspect", "folder/a.txt"], "neither a store nor an archive"),
      (["inspect", "store", "Gaem"], "Game"), (["inspect", "store", "--from", "1"], "needs the name of a pack"),
      (["inspect", "store", "Game", "--delta"], "--from"), (["inspect", "store", "Game", "--from", "7"], "7"),
      (["inspect", "https://127.0.0.1:1/site"], "the connection failed"), (["inspect", "store", "--force"], "--html"),
    ]
    for (arguments, text) in cases {
      let run = try playground.packstore(arguments)
      #expect(run.status != 0 && run.errors.contains(text), "\(run.errors)")
    }
  }
}
