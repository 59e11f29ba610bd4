import Foundation
import Testing

/// `rollback`, `pin`, `unpin`, and `remove --keep-history`.
@Suite struct HistoryTests {
  let playground: Playground

  /// A pack at its third version; the last two are kept.
  init() throws {
    playground = try Playground()
    for number in 1...3 {
      try playground.write("version \(number)", to: "folder/file")
      try #require(try playground.packstore("add", "store", "folder", "--pack", "P", "--quiet").status == 0)
    }
  }

  private func content() throws -> String { try playground.packstore("cat", "store", "file").output }

  private func states() throws -> [String] {
    let lines = try playground.packstore("log", "store").lines.dropFirst()
    return lines.map { $0.split(separator: "  ", omittingEmptySubsequences: true).prefix(2).joined(separator: " ") }
  }

  @Test func thereAndBack() throws {
    let run = try playground.packstore("rollback", "store", "P")
    #expect(run.status == 0)
    #expect(run.output == "P@2 is current, from 3; held there until 'packstore unpin store P'\n")
    #expect(try content() == "version 2")
    #expect(try states().map { $0.prefix(8) } == ["P@2 held", "P@3 \(try states()[1].dropFirst(4).prefix(4))"])
    let json = try playground.packstore("rollback", "store", "P@3", "--json").json
    #expect(json == ["pack": "P", "from": 2, "to": 3])
    #expect(try content() == "version 3")
    let again = try playground.packstore("rollback", "store", "P@3").output
    #expect(again == "P@3 is current; held there until 'packstore unpin store P'\n")
    #expect(try playground.packstore("rollback", "store", "P", "--quiet").output == "")
    #expect(try playground.packstore("verify", "store", "--deep").status == 0)
  }

  @Test func whatIsHeldStays() throws {
    _ = try playground.packstore("rollback", "store", "P")
    try playground.write("version 4", to: "folder/file")
    let refused = try playground.packstore("add", "store", "folder", "--pack", "P")
    #expect(refused.status == 1)
    #expect(
      refused.errors.hasSuffix(
        "packstore: pack 'P': held at version 2 since a rollback;"
          + " run 'packstore unpin store P' to allow other versions\n")
    )
    #expect(try content() == "version 2")
    #expect(try playground.packstore("unpin", "store", "P").output == "P is neither held nor pinned\n")
    #expect(try playground.packstore("add", "store", "folder", "--pack", "P").status == 0)
    #expect(try content() == "version 4")
    #expect(try playground.packstore("log", "store").lines.count == 3)
  }

  @Test func pins() throws {
    #expect(try playground.packstore("pin", "store", "P@2").output == "P@2 is pinned\n")
    for number in 4...6 {
      try playground.write("version \(number)", to: "folder/file")
      _ = try playground.packstore("add", "store", "folder", "--pack", "P")
    }
    #expect(try states().count == 3)
    #expect(try states()[2].hasPrefix("P@2 pinned"))
    #expect(
      try playground.packstore("unpin", "store", "P", "--json").json == ["pack": "P", "held": false, "pinned": []])
  }

  /// One way to write a version, wherever one is taken.
  @Test func versionsAreWrittenAlike() throws {
    for (name, number) in [("P", 3), ("P@current", 3), ("P@previous", 2), ("P@2", 2)] {
      #expect(try playground.packstore("unpin", "store", "P").status == 0)
      #expect(try playground.packstore("pin", "store", name).output == "P@\(number) is pinned\n")
      let export = ["export", "store", name, "-o", "file", "--key", "key", "--force", "--json"]
      #expect(try playground.packstore(export).json["version"] as? Int == number)
      let published = try playground.packstore("publish", "store", "site-\(name)", name, "--key", "key", "--json").json
      #expect((published["packs"] as? [NSDictionary])?.map { $0["version"] as? Int } == [number])
    }
    for (old, new) in [("P@2", "P@3"), ("P@previous", "P"), ("P@2", "@3"), ("P@previous", "@current")] {
      let delta = ["delta", "store", old, new, "-o", "file", "--unsigned", "--force", "--json"]
      let made = try playground.packstore(delta).json
      #expect(made["from"] as? Int == 2 && made["to"] as? Int == 3)
      #expect(try playground.packstore("diff", "store", old, new, "-q").output == "changed  file (9 B, was 9 B)\n")
    }
    #expect(
      try playground.packstore("rollback", "store", "P@current", "--json").json == ["pack": "P", "from": 3, "to": 3])
    #expect(try playground.packstore("rollback", "store", "P@previous", "--json").json["to"] as? Int == 2)
  }

  @Test func whatIsNoVersion() throws {
    let cases: [[String]] = [
      ["pin", "store", "P@0"], ["pin", "store", "P@"], ["pin", "store", "P@1/2"],
      ["pin", "store", "P@9007199254740992"],
      ["pin", "store", "P", "2"], ["pin", "store", "@2"], ["rollback", "store", "P", "--to", "2"],
      ["rollback", "store", "P@v 1"], ["delta", "store", "P", "2", "3", "-o", "f"], ["remove", "store", "P@2"],
      ["log", "store", "P@2"], ["cat", "store", "file", "--pack", "P@2"], ["unpin", "store", "P@2"],
    ]
    for arguments in cases {
      let run = try playground.packstore(arguments)
      #expect(run.status == 2, "\(run.errors)")
      #expect(try content() == "version 3" && states().map { $0.prefix(4) } == ["P@3 ", "P@2 "].map { $0.prefix(4) })
    }
  }

  @Test func removedWithItsHistory() throws {
    #expect(try playground.packstore("remove", "store", "P", "--keep-history").output == "removed P@3\n")
    #expect(try playground.packstore("ls", "store").output == "")
    #expect(try states().allSatisfy { $0.contains("removed") })
    let back = try playground.packstore("rollback", "store", "P@2")
    #expect(back.output == "P@2 is current, after it was removed; held there until 'packstore unpin store P'\n")
    #expect(try content() == "version 2")
    _ = try playground.packstore("remove", "store", "P", "--keep-history")
    let gone = try playground.packstore("remove", "store", "P")
    #expect(gone.output.maskedSizes == "removed the history of P\nfreed <size>\n")
    #expect(try playground.packstore("remove", "store", "P").status == 1)
  }

  @Test(arguments: [
    (["rollback", "store", "Q"], "pack 'Q': not in the store (packs: P)"),
    (["rollback", "store", "P@1"], "version 'P@1': not kept (kept: 2, 3)"),
    (["pin", "store", "P@9"], "version 'P@9': not kept (kept: 2, 3)"),
    (["unpin", "store", "Other"], "pack 'Other': not in the store (packs: P)"),
  ])
  func whatIsNotThere(arguments: [String], message: String) throws {
    let run = try playground.packstore(arguments)
    #expect(run.status == 1)
    #expect(run.errors.hasPrefix("packstore: \(message)"))
    #expect(try content() == "version 3")
  }
}
