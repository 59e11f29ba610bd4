import Foundation
import Testing

/// `ls`, `stat`, `log`, `conflicts`, `diff` and `inspect` of places other than stores: no content is fetched.
@Suite struct LookTests {
  let playground = try! Playground()

  /// Two packs on a site, `P` at its second version of 2 MB; a folder with the files for clients, served by nginx; an
  /// archive.
  init() throws {
    try playground.write(noise(2_000_000, seed: 1), to: "folder/levels/large")
    try playground.write("one", to: "folder/text")
    try playground.write("gone", to: "folder/gone")
    try playground.succeed("add", "store", "folder", "--pack", "P", "--label", "1.0", "--map", "large", "-q")
    var large = noise(2_000_000, seed: 1)
    large.replaceSubrange(1_000_000..<1_000_100, with: noise(100, seed: 9))
    try playground.write(large, to: "folder/levels/large")
    try playground.write("two", to: "folder/text")
    try playground.remove("folder/gone")
    try playground.succeed("add", "store", "folder", "--pack", "P", "--label", "1.1", "--map", "large", "-q")
    try playground.write("other", to: "other/text")
    try playground.succeed("add", "store", "other", "--pack", "Q", "-q")
    try playground.succeed("publish", "store", "site", "P@1", "Q", "--key", "key", "-q")
    try playground.succeed("publish", "store", "site", "P@2", "--key", "key", "-q")
    try playground.succeed("promote", "site", "P@1", "--back", "--key", "key", "-q")
    try playground.succeed("promote", "site", "P@2", "--share", "50%", "--key", "key", "-q")
    try playground.succeed("export", "store", "P", "-o", "P.pack", "--key", "key", "-q")
    try playground.succeed("delta", "store", "P@1", "P@2", "-o", "P.delta", "--key", "key", "-q")
    _ = try playground.shell(
      "mkdir served && cd site && cp -R root roots versions frames attributes segments deltas ../served")
  }

  /// A command must print the same text for several places, except for figures that depend on the storage.
  private func agree(_ command: String, _ arguments: String..., at places: [String], masking key: String? = nil) throws
  {
    func output(_ place: String) throws -> String {
      let run = try playground.packstore([command, place] + arguments)
      #expect(run.status == 0, "\(command) \(place): \(run.errors)")
      return run.output
    }
    let expected = try output(places[0])
    #expect(!expected.isEmpty)
    for place in places.dropFirst() { #expect(try output(place) == expected, "\(command) \(place)") }
  }

  @Test func placesAgree() throws {
    let server = try WebServer.nginx(playground, serving: "served")
    let places = ["site", "served", server.url]
    try agree("ls", "-R", at: places)
    try agree("ls", "levels", "--pack", "P", at: ["store", "served", "P.pack"])
    try agree("conflicts", "--json", at: ["served", server.url])
    let large = try playground.succeed("ls", server.url, "-l", "levels/large").output
    #expect(large.contains("2.0 MB") && large.contains("P"), "\(large)")
    let names = try playground.succeed("ls", "P.pack").lines
    #expect(names == ["levels/", "text"])
  }

  /// Only the tables of versions are fetched.
  @Test func noContentIsFetched() throws {
    let server = try WebServer.nginx(playground, serving: "served")
    let commands: [[String]] = [
      ["ls", server.url, "-R"], ["stat", server.url], ["log", server.url], ["conflicts", server.url],
      ["inspect", server.url, "P", "--from", "1"], ["diff", "\(server.url)#P@1", "\(server.url)#P@2"],
    ]
    for command in commands {
      let before = server.requests.count
      let run = try playground.packstore(command)
      #expect(run.status == 0, "\(command): \(run.errors)")
      let bytes = server.requests[before...].map(\.byteCount).reduce(0, +)
      #expect(bytes > 0 && bytes < 150_000, "\(command): \(bytes)")
    }
    let before = playground.tree("")
    _ = try playground.packstore("stat", server.url, "-q")
    #expect(playground.tree("").filter { !$0.hasPrefix("nginx") } == before.filter { !$0.hasPrefix("nginx") })
  }

  @Test func logOfASite() throws {
    let server = try WebServer.nginx(playground, serving: "served")
    let lines = try playground.succeed("log", server.url, "P").lines
    #expect(lines.count == 3 && lines[0].hasPrefix("VERSION  LABEL  STATE") && !lines[0].contains("FROM"), "\(lines)")
    #expect(lines[1].hasPrefix("P@2      1.1    current") && lines[2].hasPrefix("P@1      1.0 "), "\(lines)")
    #expect(try playground.succeed("log", "P.pack").lines[1].hasPrefix("P@2      1.1    current"))
    let json = try playground.succeed("log", server.url, "--json").json
    #expect((json["packs"] as? [NSDictionary])?.map { $0["pack"] as? String } == ["P", "Q"])
  }

  @Test func statOfASite() throws {
    func usage(_ place: String) throws -> NSDictionary {
      try #require(playground.succeed("stat", place, "--json").json["all"] as? NSDictionary)
    }
    let server = try WebServer.nginx(playground, serving: "served")
    let (site, served) = try (usage(server.url), usage("served"))
    #expect(site == served)
    let store = try usage("store")
    for key in ["files", "bytes", "chunks", "unique_bytes"] {
      #expect(site[key] as? Int == store[key] as? Int, "\(key)")
    }
    let stored = try #require(site["stored_bytes"] as? Int)
    #expect(stored > 1_900_000 && stored < 2_100_000)
  }

  // MARK: - diff

  @Test func versionsAnywhereAreCompared() throws {
    let server = try WebServer.nginx(playground, serving: "served")
    let expected = try playground.succeed("diff", "store", "P@1", "P@2").output
    #expect(expected.contains("changed  levels/large (2.0 MB, was 2.0 MB, "), "\(expected)")
    #expect(expected.contains("changed  text (3 B, was 3 B)") && expected.contains("removed  gone"))
    for (old, new) in [
      ("store#P@1", "store#P@2"), ("store#P@1.0", "\(server.url)#P@1.1"), ("\(server.url)#P@1", "P.pack"),
      ("site#P@previous", "served#P"), ("served#P@1", "folder"), ("\(server.url)#P@1.0", "store"),
    ] {
      let run = try playground.packstore("diff", old, new)
      #expect(run.status == 0 && run.output == expected, "\(old) \(new): \(run.output)\(run.errors)")
    }
    let named = try playground.packstore("diff", server.url, "P@1", "@2")
    #expect(named.status == 0 && named.output == expected, "\(named.errors)")
    let none = try playground.succeed("diff", "folder", "P.pack", "--json").json
    #expect((none["differences"] as? [NSDictionary])?.isEmpty == true)
    let json = try playground.succeed("diff", "store", "P@1", "P@2", "--json").json
    let rows = try #require(json["differences"] as? [NSDictionary])
    let new = rows.compactMap { $0["new_chunk_bytes"] as? Int }.reduce(0, +)
    #expect((json["totals"] as? NSDictionary)?["new_bytes"] as? Int == new && new < 200_000)
  }

  @Test func whatCannotBeLookedAtIsSaid() throws {
    for (arguments, reason) in [
      (["ls", "P.delta"], ": a delta, which contains only new data"),
      (["ls", "folder/text"], "neither a store nor an archive of a pack"),
      (["cat", "https://example.invalid/packs", "text"], ": a URL, but this command reads only stores"),
      (["diff", "store", "folder"], "'store': contains several packs (P, Q); name one, such as 'store#P'"),
      (["diff", "store#X", "folder"], "pack 'X': not in the store"),
      (["inspect", "served", "P", "--from", "1", "--delta"], "a delta needs the content of both versions"),
      (["ls", "store", "--endpoint", "http://127.0.0.1:1"], "the options of object storage are set"),
    ] {
      let run = try playground.packstore(arguments)
      #expect(run.status != 0 && run.errors.contains(reason), "\(arguments): \(run.errors)")
    }
    let other = try playground.succeed("keygen", "other.key").output.trimmingCharacters(in: .newlines)
    let untrusted = try playground.packstore("log", "served", "--trust", other)
    #expect(untrusted.status == 4, "\(untrusted.errors)")
    #expect(try playground.packstore("ls", "served", "--channel", "beta").status == 3)
    #expect(try playground.packstore("ls", "nowhere").status == 1)
  }

  @Test func inspectionOfASite() throws {
    let page = try playground.succeed("inspect", "served", "P", "--from", "1.0", "--html", "report.html")
    #expect(page.output.contains("2 files of 2.0 MB") && page.output.contains("since version 1: "), "\(page.output)")
    #expect(try playground.text("report.html").contains("levels/large"))
    #expect(try playground.succeed("inspect", "P.pack").output.contains("2 files of 2.0 MB"))
  }
}
