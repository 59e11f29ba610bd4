import Foundation
import Testing

/// `rollback`, `pin`, `unpin`, and `remove --keep-history`.
@Suite struct HistoryTests {
  let playground: Playground

  /// A pack at its third version, of which the last two are kept.
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
    let json = try playground.packstore("rollback", "store", "P", "--to", "3", "--json").json
    #expect(json == ["pack": "P", "from": 2, "to": 3])
    #expect(try content() == "version 3")
    let again = try playground.packstore("rollback", "store", "P", "--to", "3").output
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
        "packstore: the pack is held at its current version 'P': run 'packstore unpin' to let it move again\n"))
    #expect(try content() == "version 2")
    #expect(try playground.packstore("unpin", "store", "P").output == "P is neither held nor pinned\n")
    #expect(try playground.packstore("add", "store", "folder", "--pack", "P").status == 0)
    #expect(try content() == "version 4")
    #expect(try playground.packstore("log", "store").lines.count == 3)
  }

  @Test func pins() throws {
    #expect(try playground.packstore("pin", "store", "P", "2").output == "P@2 is pinned\n")
    for number in 4...6 {
      try playground.write("version \(number)", to: "folder/file")
      _ = try playground.packstore("add", "store", "folder", "--pack", "P")
    }
    #expect(try states().count == 3)
    #expect(try states()[2].hasPrefix("P@2 pinned"))
    #expect(
      try playground.packstore("unpin", "store", "P", "--json").json == ["pack": "P", "held": false, "pinned": []])
  }

  @Test func removedWithItsHistory() throws {
    #expect(try playground.packstore("remove", "store", "P", "--keep-history").output == "removed P@3\n")
    #expect(try playground.packstore("ls", "store").output == "")
    #expect(try states().allSatisfy { $0.contains("removed") })
    let back = try playground.packstore("rollback", "store", "P", "--to", "2")
    #expect(back.output == "P@2 is current, after it was removed; held there until 'packstore unpin store P'\n")
    #expect(try content() == "version 2")
    _ = try playground.packstore("remove", "store", "P", "--keep-history")
    #expect(try playground.packstore("remove", "store", "P").output == "removed the history of P\n")
    #expect(try playground.packstore("remove", "store", "P").status == 1)
  }

  @Test(arguments: [
    (["rollback", "store", "Q"], "no such pack 'Q'"),
    (["rollback", "store", "P", "--to", "1"], "P@1 is not kept; kept: 2, 3"),
    (["rollback", "store", "P", "--to", "0"], "versions are numbered from 1 'P'"),
    (["pin", "store", "P", "9"], "P@9 is not kept; kept: 2, 3"),
    (["unpin", "store", "Q"], "no such pack 'Q'"),
  ])
  func whatIsNotThere(arguments: [String], message: String) throws {
    let run = try playground.packstore(arguments)
    #expect(run.status == 1)
    #expect(run.errors.hasPrefix("packstore: \(message)"))
    #expect(try content() == "version 3")
  }
}
