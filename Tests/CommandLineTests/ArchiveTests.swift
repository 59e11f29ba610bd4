import Foundation
import Testing

@Suite struct ArchiveTests {
  let playground = try! Playground()

  init() throws {
    try playground.write(noise(300_000), to: "folder/big")
    try playground.write(String(repeating: "one line\n", count: 9_000), to: "folder/deep/text")
    try playground.write("", to: "folder/empty")
    try playground.packstore("add", "store", "folder", "--pack", "P", "--map", "big")
    try playground.write(String(repeating: "two lines\n", count: 9_000), to: "folder/deep/text")
    try playground.packstore("add", "store", "folder", "--pack", "P", "--map", "big")
  }

  private func export(_ pack: String = "P", _ more: String...) throws -> Run {
    try playground.packstore(["export", "store", pack, "-o", "P.pack", "--key", "site.key", "--force"] + more)
  }

  private func extracted(_ store: String) throws -> Bool {
    try playground.packstore("extract", store, "\(store).out").status == 0
      && playground.shell("diff -r folder \(store).out").status == 0
  }

  @Test func roundTrip() throws {
    let run = try export("P", "--quiet")
    #expect(run.status == 0 && run.output.isEmpty && run.errors.isEmpty)
    let imported = try playground.packstore("import", "client", "P.pack")
    #expect(imported.status == 0 && imported.lines.count == 1)
    #expect(imported.lines.first?.hasPrefix("P is at version 2; ") == true)
    #expect(imported.errors.hasPrefix("packstore: warning: the key "))
    #expect(try extracted("client"))
    #expect(try playground.packstore("verify", "client", "--deep").status == 0)
    let again = try playground.packstore("import", "client", "P.pack")
    #expect(again.output == "P is at version 2 already\n" && again.errors.isEmpty)
  }

  /// Any tar program lists the archive, and extracts it as a site.
  @Test func tarAgrees() throws {
    _ = try export()
    let list = try playground.shell("tar tf P.pack")
    #expect(list.status == 0 && list.errors.isEmpty)
    try #require(list.lines.count > 4)
    let folders = list.lines.map { String($0.split(separator: "/")[0]) }
    #expect(folders.first == "root" && folders[1] == "versions" && folders[2] == "frames" && folders.last == "segments")
    #expect(try playground.shell("mkdir site && tar xf P.pack -C site").status == 0)
    #expect(try playground.packstore("pull", "client", "site", "-q").status == 0)
    #expect(try extracted("client"))
    #expect(try playground.shell("tar --format=ustar -cf again.pack -C site $(tar tf P.pack)").status == 0)
    #expect(try playground.packstore("import", "other", "again.pack", "-q").status == 0)
    #expect(try extracted("other"))
  }

  @Test func olderVersions() throws {
    #expect(try export("P@1").lines.first == "'P.pack' is P@1")
    let report = try export("P@1", "--json").json
    #expect(report["version"] as? Int == 1)
    #expect(report["bytes"] as? Int == (try playground.read("P.pack")).count)
    #expect(
      try playground.packstore("import", "client", "P.pack").lines.first?.hasPrefix("P is at version 1; ") == true)
    #expect(try export("P@9").status == 1)
    #expect(playground.tree("").filter { $0.hasPrefix("P.pack.") }.isEmpty, "nothing is left beside it")
  }

  /// A store that trusts one key accepts no archive of another key, and no archive older than an accepted one.
  @Test func trust() throws {
    _ = try export("P@1")
    _ = try playground.shell("mv P.pack old.pack")
    _ = try export("P@2")
    #expect(try playground.packstore("import", "client", "P.pack", "-q").status == 0)
    let older = try playground.packstore("import", "client", "old.pack")
    #expect(older.status == 4 && older.errors.contains("pack 'P': a higher version was accepted before, "))
    #expect(try playground.packstore("import", "client", "old.pack", "--downgrade", "-q").status == 0)
    #expect(try playground.packstore("import", "client", "P.pack", "-q").status == 0)
    _ = try playground.shell("mv site.key first.key && mv site-root.key first-root.key")
    _ = try export("P@2")
    let other = try playground.packstore("import", "client", "P.pack")
    #expect(other.status == 4 && other.errors.contains("pack 'P': belongs to another origin, "))
    let key = try #require(playground.packstore("keygen", "site.key").lines.first)
    #expect(try playground.packstore("import", "client", "P.pack", "--trust", key).status == 4)
    #expect(try playground.packstore("import", "client", "P.pack", "--trust", key, "--adopt").status == 0)
    let wrong = try #require(playground.packstore("keygen", "first.key").lines.first)
    #expect(try playground.packstore("import", "new", "P.pack", "--trust", wrong).status == 4)
  }

  @Test func damage() throws {
    _ = try export()
    let bytes = try playground.read("P.pack")
    for offset in stride(from: 0, to: bytes.count - 1024, by: bytes.count / 40) {
      var damaged = bytes
      damaged[offset] ^= 0x10
      try playground.write(damaged, to: "damaged.pack")
      let run = try playground.packstore("import", "client-\(offset)", "damaged.pack", "-q")
      // Unused parts, such as a time or padding, may be damaged.
      let isWhole = try run.status == 0 && extracted("client-\(offset)")
      #expect(isWhole || [3, 4, 7].contains(run.status) && run.errors.hasPrefix("packstore: "), "at \(offset)")
    }
    try playground.write(bytes.prefix(bytes.count / 2), to: "half.pack")
    #expect(try playground.packstore("import", "half", "half.pack").status == 7)
    try playground.write("no tar file", to: "text.pack")
    let text = try playground.packstore("import", "text", "text.pack")
    #expect(text.status == 1 && text.errors.contains("archive"))
    #expect(try playground.packstore("import", "none", "none.pack").status == 1 && !playground.exists("none"))
  }
}
