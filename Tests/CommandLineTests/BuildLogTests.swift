import Foundation
import Testing

@testable import packstore_cli

/// `--verbose` and `--log-file`.
@Suite struct BuildLogTests {
  let playground = try! Playground()

  init() throws {
    for index in 0..<3 { try playground.write(noise(300_000, seed: UInt64(index)), to: "folder/\(index)") }
  }

  private let line = #/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ \+\d+\.\ds .+$/#

  @Test func stepsAreTold() throws {
    let run = try playground.succeed("add", "store", "folder", "--pack", "P", "-v")
    let lines = run.errors.split(separator: "\n")
    #expect(lines.allSatisfy { $0.wholeMatch(of: line) != nil }, "\(run.errors)")
    #expect(lines.first?.hasSuffix(": add store folder --pack P -v") == true, "\(run.errors)")
    #expect(lines.contains { $0.contains(" storing: ") && $0.contains("3 files, 900,000 bytes, ") }, "\(run.errors)")
    #expect(lines.contains { $0.contains(" P is at version 1") }, "what came of it")
  }

  /// A log goes on in the file, also where standard error is for programs.
  @Test func aFileGathersCommands() throws {
    try playground.succeed("add", "store", "folder", "--pack", "P", "--log-file", "build.log", "-q")
    try playground.succeed("publish", "store", "site", "--key", "key", "--log-file", "build.log", "--json")
    try playground.succeed("pull", "device", "site", "--log-file", "build.log", "-q")
    let failed = try playground.packstore("pull", "device", "nowhere", "--log-file", "build.log", "-q")
    #expect(failed.status == 3)
    let log = try playground.text("build.log").split(separator: "\n")
    #expect(log.allSatisfy { $0.wholeMatch(of: line) != nil }, "\(log)")
    #expect(log.filter { $0.contains(" packstore 0.2.0: ") }.count == 4)
    #expect(log.contains { $0.contains(" copying P: ") } && log.contains { $0.contains(" fetching P: ") }, "\(log)")
    #expect(log.contains { $0.contains("warning: created a release key") } && log.contains { $0.contains(#"{"#) })
    #expect(log.last?.contains(" failed: ") == true)
    #expect(!log.contains { $0.contains(try! playground.text("key").split(separator: "\n").last ?? "") }, "no secrets")
  }

  /// Before anything is made.
  @Test func aLogThatCannotBeIsAnError() throws {
    try playground.makeFolder("logs")
    _ = try playground.shell("mkfifo pipe")
    for name in ["logs", "none/build.log", "pipe"] {
      let run = try playground.packstore("add", "store", "folder", "--pack", "P", "--log-file", name)
      #expect(run.status == 1 && run.errors.contains("'\(name)': cannot append to the log"), "\(run.errors)")
    }
    for option in [["-v", "--json"], ["--log-file", ""]] {
      #expect(try playground.packstore(["add", "store", "folder", "--pack", "P"] + option).status == 2)
    }
    #expect(!playground.exists("store"))
  }

  @Test(arguments: [
    ("store", "store"), ("a b", "'a b'"), ("", "''"), ("https://u:pw@host/p?token=1", "'https://...@host/p?...'"),
    ("s3://bucket/p", "s3://bucket/p"), ("https://host/p#P@1", "https://host/p#P@1"), ("a\u{1b}b", #"'a\x1bb'"#),
    ("$HOME", "'$HOME'"),
  ])
  func argumentsAreShown(_ argument: String, _ shown: String) { #expect(BuildLog.shown(argument) == shown) }

  /// A full disk ends the log, and not the work.
  @Test(.enabled(if: canMountPrivately, "needs user namespaces")) func aLogThatTakesNoMore() throws {
    let run = try playground.shell(
      """
      mkdir disk; unshare -rm sh -c 'mount -t tmpfs -o size=16k none disk
      head -c 20000 /dev/zero >disk/fill 2>/dev/null
      packstore add store folder --pack P --log-file disk/log'
      """)
    #expect(run.status == 0 && run.errors.contains("cannot write to the log"), "\(run.errors)")
    #expect(try playground.packstore("log", "store").status == 0)
  }
}
