import Foundation
import Testing

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// C13, C15: `packstore agent`, against a server of this machine.
@Suite struct AgentTests {
  let playground = try! Playground()

  private func group(
    _ directives: String = "", byteCount: Int = 300_000, heldAfter: Int? = nil
  ) throws -> AgentGroup {
    for (pack, policy, events) in [
      ("Level1", "essential", #""firstInstallation""#), ("Music", "prefetch", #""firstInstallation""#),
      ("Patch", "prefetch", #""subsequentUpdate""#),
    ] {
      try playground.write(noise(byteCount, seed: UInt64(pack.utf8.count)), to: "packs/\(pack)/\(pack).bin")
      try playground.write(AgentGroup.attributes(policy, events), to: "packs/\(pack).json")
    }
    return try AgentGroup(playground, directives, heldAfter: heldAfter)
  }

  /// Each event brings the packs that policies call for: by the command alone, and by an agent.
  @Test func events() throws {
    let group = try group()
    try playground.succeed("agent", "event", "Game.plist", "install")
    #expect(!playground.tree("group/store/segments").isEmpty)
    let first = try playground.succeed("agent", "event", "Game.plist", "install")
    let shares = "com.example.game: this app shares the group, with the property list '/"
    #expect(first.lines.count == 2 && first.lines[0].hasPrefix(shares))
    #expect(first.lines.last == "com.example.game: install: nothing to download")
    let agent = try group.startAgent()
    let update = try playground.succeed("agent", "event", "./group", "update")
    #expect(update.output == "update, by the agent: Patch\n")
    try group.wait(for: "Patch@2 is installed", while: agent)
    let second = try playground.packstore("agent", "./group", "--once")
    #expect(second.status == 6 && second.errors.contains("process \(agent.processIdentifier) is the agent"))
    kill(agent.processIdentifier, SIGTERM)
    agent.waitUntilExit()
    #expect(agent.terminationReason == .exit && agent.terminationStatus == 0)
    #expect(!playground.exists("group/agent.socket"))
    #expect(try playground.shell("packstore ls group/store").output == "Level1.bin\nMusic.bin\nPatch.bin\n")
    for event in ["periodic", "language"] { try playground.succeed("agent", "event", "./group", event) }
    #expect(try playground.succeed("agent", "./group", "--once").status == 0)
  }

  /// Essential packs gate the launch: the command ends when they are installed, and reports the failed ones.
  @Test func waitsForEssentialPacks() throws {
    let group = try group()
    let run = try playground.succeed("agent", "Game.plist", "--wait-essential")
    // Downloads that the app does not wait for may have begun when the command ends.
    #expect(run.output.contains("Level1@2 is installed\n"))
    #expect(run.output.contains("all essential packs are installed\n"))
    #expect(try playground.shell("packstore ls group/store").output.contains("Level1.bin\n"))
    withExtendedLifetime(group) {}
    let other = try Playground()
    try other.write(
      #"{"BAAppGroupID": "g", "BAManifestURL": "http://127.0.0.1:1/site","#
        + #""PackStoreGroupFolder": "group", "CFBundleIdentifier": "a"}"#, to: "a.json")
    let failed = try other.packstore("agent", "a.json", "--wait-essential")
    #expect(failed.status == 3 && failed.errors.hasPrefix("packstore: "), "\(failed.errors)")
    #expect(try other.packstore("agent", "none.json").status == 2)
    try other.write("{}", to: "b.json")
    let wrong = try other.packstore("agent", "b.json")
    #expect(wrong.status == 2 && wrong.errors.contains("BAAppGroupID is missing"))
  }

  /// If the disk has too little space for an essential pack and the reserve, a purgeable pack is deleted.
  @Test(.enabled(if: canMountPrivately, "needs user namespaces")) func purgeablePacksMakeRoom() throws {
    try playground.write(noise(10_000_000, seed: 1), to: "packs/Films/film")
    try playground.write(
      #"{"placement":"purgeable","downloadPolicy":{"prefetch":{"installationEventTypes":["firstInstallation"]}}}"#,
      to: "packs/Films.json")
    try playground.write(noise(20_000_000, seed: 2), to: "packs/Level/level")
    try playground.write(AgentGroup.attributes("essential", #""subsequentUpdate""#), to: "packs/Level.json")
    let group = try AgentGroup(playground)
    func run(megabytes: Int) throws -> [String] {
      let run = try playground.shell(
        """
        mkdir -p group; TMPDIR=/tmp unshare -rm sh -c 'mount -t tmpfs -o size=\(megabytes)m,mode=700 none group
        packstore agent event Game.plist install >/dev/null; packstore cat group/store film 2>/dev/null | wc -c
        packstore agent event Game.plist update; echo $?
        packstore cat group/store level 2>/dev/null | wc -c; packstore cat group/store film 2>/dev/null | wc -c'
        """)
      #expect(run.lines.count > 3, "\(run.output) \(run.errors)")
      return [run.lines.first ?? ""] + run.lines.suffix(3)
    }
    #expect(try run(megabytes: 150) == ["10000000", "0", "20000000", "10000000"], "there is room for both")
    #expect(try run(megabytes: 92) == ["10000000", "0", "20000000", "0"], "there is room for one")
    let none = try run(megabytes: 82)
    #expect(none[0] == "10000000" && none[1] != "0" && none[2] == "0", "there is none: \(none)")
    withExtendedLifetime(group) {}
  }

  /// C15: an app that needs a pack which the agent is fetching continues the agent's download, and each byte comes
  /// once: if the agent hands it over, if it was killed, and if it is stopped and does not answer.
  @Test(arguments: ["alive", "killed", "stopped"]) func appBesideAnAgent(agentIs state: String) throws {
    let size = 6_000_000
    let group = try group(byteCount: size, heldAfter: size / 4)
    let agent = try group.startAgent()
    let event = try playground.succeed("agent", "event", "Game.plist", "install")
    #expect(event.output == "com.example.game: install, by the agent: Level1, Music\n")
    group.server.waitUntilHeld()
    if state == "killed" { kill(agent.processIdentifier, SIGKILL) }
    if state == "stopped" { kill(agent.processIdentifier, SIGSTOP) }
    let app = try group.start(["agent", "Game.plist", "--wait-essential"], output: "app.log")
    // The agent cannot finish the download before the app requests it.
    if state == "alive" { try group.wait(for: "an app downloads Level1@2", while: agent) }
    try group.server.openGate()
    app.waitUntilExit()
    let said = try playground.text("app.log")
    #expect(app.terminationStatus == 0, "\(said)")
    switch state {
    case "alive": break
    case "killed": agent.waitUntilExit()
    default:
      // The app waits only for a short time, then kills the agent if it holds the required lock.
      kill(agent.processIdentifier, SIGCONT)
    }
    kill(agent.processIdentifier, SIGKILL)
    agent.waitUntilExit()
    try playground.succeed("agent", "Game.plist", "--once")
    #expect(try playground.shell("packstore ls group/store").output == "Level1.bin\nMusic.bin\n")
    // What two processes had under way when one of them ended may have come twice.
    #expect(group.sentByteCount < 2 * size + (6 << 20), "\(group.sentByteCount)")
    try playground.succeed("verify", "group/store", "--deep", "-q")
  }

  #if os(Linux)
    /// Of memory that is its own, a download takes an agent 8 MiB at most, however large the pack. Scratch files do not count: the
    /// system writes them out when it needs the memory.
    @Test func memoryOfADownload() throws {
      let group = try group("limit_rate 4m;", byteCount: 24_000_000)
      let agent = try group.startAgent()
      func privateByteCount() throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(agent.processIdentifier)/status", encoding: .utf8)
        let line = text.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
        return try #require(line?.split(whereSeparator: { " \t".contains($0) }).dropFirst().first.flatMap { Int($0) })
          * 1024
      }
      let idle = try privateByteCount()
      try playground.succeed("agent", "event", "Game.plist", "update")
      var most = idle
      try waitForChange(of: "\(playground.path)/agent.log") {
        let isOver = try !agent.isRunning || playground.text("agent.log").contains("Patch@2 is installed")
        if !isOver { most = max(most, try privateByteCount()) }
        return isOver
      }
      print("AgentTests: private memory \(idle / 1024) KiB idle, \((most - idle) / 1024) KiB more in a download")
      #expect(agent.isRunning && most - idle <= 8 << 20)
      kill(agent.processIdentifier, SIGKILL)
      agent.waitUntilExit()
    }
  #endif
}
