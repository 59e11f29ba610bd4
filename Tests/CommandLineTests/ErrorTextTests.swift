import Testing

/// An error names the object, the fault and the remedy in terms of the program, with all known facts.
@Suite struct ErrorTextTests {
  let playground = try! Playground()

  init() throws {
    try playground.write("one", to: "folder/config.json")
    try playground.packstore("add", "store", "folder", "--pack", "base", "-q")
    try playground.write("two", to: "folder/config.json")
    try playground.packstore("add", "store", "folder", "--pack", "base", "-q")
  }

  private func expect(_ arguments: [String], says sentence: String) throws {
    let run = try playground.packstore(arguments)
    #expect(run.status != 0)
    #expect(run.errors.split(separator: "\n").last == "packstore: \(sentence)", "\(arguments)")
  }

  @Test func names() throws {
    try expect(
      ["cat", "store", "/config.json"],
      says: "'/config.json': invalid path of an asset; asset paths are relative: 'config.json'")
    try expect(["ls", "folder"], says: "'folder': not a store")
    try expect(
      ["add", "folder", "folder", "--pack", "b"],
      says: "'folder': the directory is not empty and does not contain a store")
    try expect(
      ["cat", "store", "config.json", "--range", "9-"],
      says: "'config.json': the range begins at byte 9, but the file has 3 bytes")
  }

  @Test func channels() throws {
    for (version, offer) in [("base@1", "--no-offer"), ("base@2", "--deltas=0")] {
      try playground.packstore("publish", "store", "site", version, "--key", "site.key", "-q", offer)
    }
    try expect(
      ["pull", "device", "site", "--channel", "bta"],
      says: "'\(playground.path.replacing("//", with: "/"))/site': does not have the channel 'bta'")
    try expect(
      ["demote", "site", "base@1", "--key", "site.key"],
      says: "version 'base@1': the channel 'live' does not offer this version (offered: 2)")
    try playground.packstore("delegate", "site-root.key", "next.key", "-q")
    try playground.packstore("refresh", "site", "--key", "next.key", "-q")
    try expect(
      ["refresh", "site", "--key", "site.key"],
      says: "'site': the key may not sign any channel of the site, or a later key replaced it;"
        + " use the key that signed the site last, or delegate to this one again")
  }

  @Test(arguments: ["P.ZIP", "P.tar.gz", "P.delta", "P.json"]) func archivesAreNamedWhatTheyAre(name: String) throws {
    let run = try playground.packstore("export", "store", "base", "-o", name, "--key", "site.key")
    #expect(run.status == 2 && run.errors.contains("use a name that ends in '.pack'"), "\(run.errors)")
    #expect(!playground.exists(name) && !playground.exists("site.key"))
  }

  @Test func folders() throws {
    try playground.write("x", to: "tree/sub/file")
    try playground.packstore("add", "other", "tree", "--pack", "tree", "-q")
    for path in ["sub", "sub/"] {
      try expect(["cat", "other", path], says: "'sub': a folder, not a file; list it with 'packstore ls other sub'")
    }
    try expect(["cat", "other", "sub/file/"], says: "'sub/file': a file, not a folder; leave out the '/'")
    #expect(try playground.packstore("cat", "other", "sub/file").output == "x")
  }

  @Test func deltasOfOneVersion() throws {
    for target in ["base@2", "@2", "base", "@current"] {
      let run = try playground.packstore("delta", "store", "base@2", target, "-o", "file.delta", "--key", "key")
      #expect(run.status == 2 && run.errors.hasPrefix("packstore: version 'base@2': named twice; "), "\(run.errors)")
    }
    #expect(!playground.exists("file.delta") && !playground.exists("key"))
  }

  @Test func standardOutputIsNoFile() throws {
    let command = ["delta", "store", "base@1", "base@2"]
    let run = try playground.packstore(command + ["-o", "-", "--key", "key"])
    #expect(run.status == 2 && run.output.isEmpty && !playground.exists("-") && !playground.exists("key"))
    #expect(
      run.errors.hasSuffix(
        "packstore: this command does not write to standard output; name a file; write './-' for a file named '-'\n"))
    try playground.packstore("keygen", "key", "-q")
    #expect(try playground.packstore(command + ["-o", "./-", "--key", "key", "-q"]).status == 0)
    #expect(playground.exists("-"))
  }

  @Test func packs() throws {
    try playground.packstore("rollback", "store", "base", "-q")
    let held =
      "pack 'base': held at version 1 since a rollback; run 'packstore unpin store base' to allow other versions"
    try expect(["add", "store", "folder", "--pack", "base"], says: held)
    try playground.packstore("unpin", "store", "base", "-q")
    try playground.packstore("publish", "store", "site", "--key", "key", "-q")
    try playground.packstore("add", "other", "folder", "--pack", "base", "-q")
    try expect(
      ["pull", "other", "site", "base"],
      says:
        "pack 'base': belongs to another origin, this machine; add --adopt to change its origin;"
        + " 'packstore trust other' lists the origins")
    try expect(
      ["pull", "site", "site"],
      says: "'site': a site's store, which only publications change; use 'packstore publish'"
        + " and 'packstore unpublish'; if the site is damaged, run 'packstore repair' with its key")
    try expect(
      ["publish", "store", "other", "--key", "key"],
      says: "'other': a store, not a site; name another folder for the site")
  }

  @Test func places() throws {
    try expect(
      ["pull", "device", "ftp://example.org/"], says: "'ftp://example.org/': not an http or https URL")
    let refused = try playground.packstore("pull", "device", "http://127.0.0.1:1/x", "--answer-limit", "1")
    #expect(refused.errors.contains("'http://127.0.0.1:1/x/root': the connection failed (Connection refused)"))
  }
}
