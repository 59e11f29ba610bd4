import Foundation
import Testing

/// `delta` and `apply`.
@Suite struct DeltaTests {
  let playground: Playground

  /// A publisher's store with two versions, and a client's with the first.
  init() throws {
    playground = try Playground()
    try playground.write(noise(300_000), to: "folder/large")
    try playground.write("version 1", to: "folder/small")
    for store in ["store", "client"] {
      try #require(try playground.packstore("add", store, "folder", "--pack", "P", "--quiet").status == 0)
    }
    try playground.write(Array("header".utf8) + noise(300_000).dropFirst(6), to: "folder/large")
    try playground.write("version 2", to: "folder/small")
    try #require(try playground.packstore("add", "store", "folder", "--pack", "P", "--quiet").status == 0)
    try playground.packstore("keygen", "key", "-q")
  }

  private func makeDelta(_ options: String...) throws -> Run {
    try playground.packstore(
      ["delta", "store", "P@1", "@2", "-o", "file.delta", "--key", "key", "--force"] + options)
  }

  @Test func thereAndApplied() throws {
    let made = try makeDelta("--level", "fast")
    #expect(made.status == 0)
    #expect(made.errors.isEmpty)
    #expect(made.lines.first == "'file.delta' turns P@1 to 2")
    #expect(try playground.read("file.delta").count < 2_000)
    let key = try playground.packstore("keygen", "key").lines[0]
    let applied = try playground.packstore("apply", "client", "file.delta", "--trust", key, "--adopt")
    #expect(applied.status == 0)
    #expect(applied.lines.first == "P is at version 2")
    #expect(try playground.packstore("cat", "client", "small").output == "version 2")
    #expect(try playground.packstore("cat", "client", "large").bytes == playground.read("folder/large"))
    #expect(try playground.packstore("verify", "client", "--deep").status == 0)
    let catalogs = try ["store", "client"].map { try playground.packstore("log", $0, "--json").jsonLines[0]["catalog"] }
    #expect(catalogs[0] as? String == catalogs[1] as? String)
    let again = try playground.packstore("apply", "client", "file.delta", "--trust", key)
    #expect(again.output == "P is at version 2 already\n")
  }

  /// The content of a delta is encoded on this machine, at the level of the option.
  @Test func levelsOfWhatIsApplied() throws {
    try playground.write((0..<40_000).map { "line \($0 &* 7919 % 1000)\n" }.joined(), to: "folder/text")
    try playground.succeed("add", "store", "folder", "--pack", "P", "--keep", "3", "-q")
    try playground.succeed("delta", "store", "P@1", "@3", "-o", "file.delta", "--unsigned", "-q")
    var stored: [Int] = []
    for level in ["12", "-7"] {
      _ = try playground.shell("cp -r client client\(level)")
      let run = try playground.succeed(
        "apply", "client\(level)", "file.delta", "--allow-unsigned", "--adopt", "--level", level, "--json")
      stored.append(try #require(try run.json["new_stored_bytes"] as? Int))
      #expect(try playground.packstore("verify", "client\(level)", "--deep").status == 0)
    }
    #expect(stored[0] < stored[1], "\(stored)")
    #expect(try playground.packstore("apply", "client", "file.delta", "--level", "0").status == 2)
  }

  @Test func json() throws {
    let made = try makeDelta("--json").json
    #expect(made["pack"] as? String == "P" && made["from"] as? Int == 1 && made["to"] as? Int == 2)
    #expect(made["bytes"] as? Int == (try playground.read("file.delta").count))
    let applied = try playground.packstore("apply", "client", "file.delta", "--adopt", "--json").json
    #expect(applied["version"] as? Int == 2 && applied["unchanged"] as? Bool == false)
    #expect(applied["catalog"] as? String == made["to_catalog"] as? String)
    #expect(applied["new_bytes"] as? Int == made["new_bytes"] as? Int)
  }

  @Test func trust() throws {
    _ = try makeDelta()
    let key = try playground.packstore("keygen", "key").lines[0]
    let other = try playground.packstore("keygen", "other").lines[0]
    let silent = try playground.packstore("apply", "client", "file.delta")
    #expect(silent.status == 1 && silent.errors.contains("other origin") || silent.errors.contains("another origin"))
    #expect(silent.errors.contains("--adopt"))
    let refused = try playground.packstore("apply", "client", "file.delta", "--trust", other)
    #expect(refused.status == 4 && refused.errors.contains("signed by another key"))
    try #require(
      try playground.packstore("delta", "store", "P@1", "@2", "-o", "bare.delta", "--unsigned").status == 0)
    let bare = try playground.packstore("apply", "client", "bare.delta", "--trust", key)
    #expect(bare.status == 4 && bare.errors.contains("'bare.delta': not signed"))
    let unsure = try playground.packstore("apply", "client", "bare.delta")
    #expect(unsure.status == 4 && unsure.errors.contains("--allow-unsigned"))
    // Another key's signature under the publisher's name.
    var forged = try playground.read("file.delta")
    forged[forged.count - 1] ^= 1
    try playground.write(forged, to: "forged.delta")
    for options in [["--trust", key], ["--allow-unsigned"]] {
      let run = try playground.packstore(["apply", "client", "forged.delta"] + options)
      #expect(run.status == 4 && run.errors.contains("'forged.delta': invalid signature"))
    }
    #expect(try playground.packstore("cat", "client", "small").output == "version 1")
    #expect(try playground.packstore("apply", "client", "bare.delta", "--allow-unsigned").status == 4)
    #expect(try playground.packstore("apply", "client", "bare.delta", "--allow-unsigned", "--adopt").status == 0)
  }

  @Test func levels() throws {
    let sizes = try ["1", "fast", "default", "best"].map { level in
      try #require(try makeDelta("--level", level, "--quiet").status == 0)
      return try playground.read("file.delta").count
    }
    #expect(sizes.max()! < 2_000)
    #expect(!playground.tree(".").contains { $0.contains("partial") })
  }

  @Test func mistakes() throws {
    let cases: [([String], Int32, String)] = [
      (["delta", "store", "P@1", "P@7", "-o", "f"], 1, "version 'P@7': not kept"),
      (["delta", "store", "Q@1", "@2", "-o", "f"], 1, "pack 'Q': not in the store"),
      (["delta", "store", "P", "P@2", "-o", "f"], 2, "old version missing"),
      (["delta", "store", "P@1", "Q@2", "-o", "f"], 2, "to the same pack"),
      (["delta", "store", "P@1", "@2"], 2, "--output"),
      (["delta", "store", "P@1", "@2", "-o", "f", "--level", "23"], 2, "level"),
      (["delta", "store", "P@1", "@2", "-o", "f", "--level", "-1"], 2, "'-1'"),
      (["delta", "nowhere", "P@1", "@2", "-o", "f"], 1, "nowhere"),
      (["apply", "client", "nothing", "--allow-unsigned"], 1, "nothing"),
      (["apply", "client", "folder/large", "--allow-unsigned"], 1, "'folder/large': not a delta"),
      (["apply", "client", "f", "--allow-unsigned", "--trust", "x"], 2, "44 characters"),
    ]
    for (arguments, status, text) in cases {
      let run = try playground.packstore(arguments)
      #expect(run.status == status && run.errors.contains(text), "\(run.errors)")
      #expect(!playground.exists("f"))
    }
  }

  /// A store that pulled from a site accepts deltas that the site's key signed.
  @Test func keysOfSitesAreTrusted() throws {
    try playground.write("version 0", to: "folder/small")
    try playground.packstore("publish", "store", "site", "P@1", "--key", "key", "-q")
    try playground.packstore("pull", "device", "site", "-q")
    try #require(try makeDelta("--level", "1").status == 0)
    let applied = try playground.packstore("apply", "device", "file.delta")
    #expect(applied.status == 0 && applied.lines.first == "P is at version 2", "\(applied.errors)")
  }

  @Test func whatIsNoFileIsNotReplaced() throws {
    _ = try playground.shell("mkfifo pipe; ln -s nowhere dangling; ln -s real.delta linked; touch real.delta")
    for name in ["pipe", "dangling", "folder", "/dev/null"] {
      let run = try playground.packstore("delta", "store", "P@1", "@2", "-o", name, "--key", "key")
      #expect(run.status == 1 && run.errors.contains("'\(name)'"), "\(run.errors)")
      let export = try playground.packstore("export", "store", "P", "-o", name, "--key", "key")
      #expect(export.status == 1 && export.errors.contains("'\(name)'"), "\(export.errors)")
    }
    #expect(try playground.shell("test -c /dev/null && test -p pipe && test -L dangling").status == 0)
    try #require(
      try playground.packstore("delta", "store", "P@1", "@2", "-o", "linked", "--key", "key", "--force").status == 0)
    #expect(try playground.shell("test -L linked").status == 0 && !playground.read("real.delta").isEmpty)
  }

  /// A second export replaces the first without a message.
  @Test func whatIsThereStays() throws {
    for arguments in [["delta", "store", "P@1", "@2"], ["export", "store", "P"]] {
      try playground.write("mine", to: "file")
      let command = arguments + ["-o", "file", "--key", "key"]
      let run = try playground.packstore(command)
      #expect(run.status == 1 && run.errors.contains("'file': exists already"), "\(run.errors)")
      #expect(try playground.text("file") == "mine")
      #expect(try playground.packstore(command + ["--force"]).status == 0)
      #expect(try playground.text("file") != "mine")
    }
  }

  @Test func cutShort() throws {
    try playground.packstore("delta", "store", "P@1", "@2", "-o", "file.delta", "--unsigned")
    let bytes = try playground.read("file.delta")
    try playground.write(Array(bytes.dropLast()), to: "file.delta")
    let run = try playground.packstore("apply", "client", "file.delta", "--allow-unsigned")
    #expect(run.status == 7 && run.errors.contains("ends too early"), "\(run.errors)")
  }

  @Test func theWrongVersion() throws {
    _ = try makeDelta()
    try playground.write("something else", to: "folder/small")
    _ = try playground.packstore("add", "fresh", "folder", "--pack", "P")
    let run = try playground.packstore("apply", "fresh", "file.delta", "--adopt")
    #expect(run.status == 1 && run.errors.contains("P@1"), "\(run.errors)")
  }

  @Test func damaged() throws {
    _ = try makeDelta("--level", "1")
    var bytes = try playground.read("file.delta")
    bytes[bytes.count - 300] ^= 0x40
    try playground.write(bytes, to: "file.delta")
    let run = try playground.packstore("apply", "client", "file.delta", "--allow-unsigned")
    #expect(run.status == 7, "\(run.errors)")
    #expect(try playground.packstore("cat", "client", "small").output == "version 1")
  }
}
