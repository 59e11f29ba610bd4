import Foundation
import Testing

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// App, agent, extension and server are killed at many points while an installation is simulated in place, over a
/// network that loses and resets connections. The restarted processes complete it: no essential pack is forgotten, no
/// installed one is lost, and journal, store and status agree. `PACKSTORE_SCALE` multiplies the length (8 kills; at 2
/// and above, 15 each), `PACKSTORE_SEED` selects the points.
@Suite final class InstallKillCampaign {
  let playground = try! Playground()
  let seed = ProcessInfo.processInfo.environment["PACKSTORE_SEED"].flatMap { UInt64($0) } ?? 1
  let scale = ProcessInfo.processInfo.environment["PACKSTORE_SCALE"].flatMap { Int($0) } ?? 1

  private enum Victim: CaseIterable { case app, agent, `extension`, server }

  private static let packs = ["Base", "Level", "Music", "Voices"]
  private static let byteCount = 1_500_000

  private struct Random {
    var state: UInt64

    mutating func next(_ limit: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int((state >> 33) % UInt64(max(limit, 1)))
    }
  }

  private var kills: [Victim: Int] = [:]
  private var installationCount = 0
  private var total: Int { kills.values.reduce(0, +) }

  @Test(.timeLimit(.minutes(60))) func killedDuringInstallations() throws {
    for (number, pack) in Self.packs.enumerated() {
      try playground.write(noise(Self.byteCount, seed: UInt64(number)), to: "packs/\(pack)/\(pack)")
      try playground.write(AgentGroup.attributes(number < 2 ? "essential" : "prefetch"), to: "packs/\(pack).json")
    }
    let group = try AgentGroup(playground)
    // It answers yes to every request, and reports its process id.
    try playground.write(Self.extension, to: "extension")
    chmod("\(playground.path)/extension", 0o755)
    try group.writeList(#", "PackStoreExtension": "extension""#)
    var random = Random(state: seed)
    defer {
      let counts = Victim.allCases.map { "\($0) \(kills[$0] ?? 0)" }.joined(separator: ", ")
      print(
        "InstallKillCampaign: seed \(seed), \(total) processes killed (\(counts)), \(installationCount) installations")
    }
    while total < (scale > 1 ? 15 * scale : 8) {
      try install(group, &random)
      installationCount += 1
      try playground.remove("group")
    }
  }

  /// Reads a frame, and answers that the pack is wanted.
  private static let `extension` = """
    #!/usr/bin/env python3
    import json, os, struct, sys, time
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "extension.pid"), "w") as file:
        file.write(str(os.getpid()))
    while True:
        head = os.read(0, 4)
        if len(head) < 4: break
        length = struct.unpack(">I", head)[0]
        body = b""
        while len(body) < length: body += os.read(0, length - len(body))
        pack = json.loads(body)["id"]
        answer = json.dumps({"answer": "filter", "fetch": True, "format": 1, "id": pack}).encode()
        os.write(0, struct.pack(">I", len(answer)) + answer)

    """

  /// One installation, from nothing to a group with everything.
  private func install(_ group: AgentGroup, _ random: inout Random) throws {
    var agent = try group.startAgent()
    defer { end(agent) }
    var app = try startApp(group, &random)
    defer { end(app) }
    for _ in 0..<(2 + random.next(5)) {
      let begin = group.sentByteCount, limit = random.next(Self.byteCount)
      waitForChange(of: group.server.log) { !app.isRunning || group.sentByteCount - begin >= limit }
      guard app.isRunning else { break }
      let victim = Victim.allCases[random.next(Victim.allCases.count)]
      switch victim {
      case .app:
        end(app)
        app = try startApp(group, &random)
      case .agent:
        end(agent)
        agent = try group.startAgent()
      case .extension:
        // It lives only for a moment: the next event starts a new one.
        try? playground.remove("extension.pid")
        end(app)
        app = try startApp(group, &random)
        waitForChange(of: playground.path) { !app.isRunning || playground.exists("extension.pid") }
        guard let number = (try? playground.text("extension.pid")).flatMap({ pid_t($0) }), number > 1 else { continue }
        kill(number, SIGKILL)
        kills[.app, default: 0] += 1
      case .server: try group.server.crash()
      }
      kills[victim, default: 0] += 1
      try checkStates(group)
    }
    try finish(group, agent)
  }

  /// The app's side of an installation: the event, by a clock that does not wait, over a network as bad as it comes.
  private func startApp(_ group: AgentGroup, _ random: inout Random) throws -> Process {
    let network =
      "\(1 + random.next(20))Mbps,latency=\(random.next(300))ms,loss=\(random.next(4))%,reset=\(random.next(8))%"
    return try group.start(
      [
        "simulate", "install", "Game.plist", "--in-place", "--network", network, "--seed", "\(random.next(1000))", "-q",
      ], output: "app.log")
  }

  private func end(_ process: Process) {
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  private struct States {
    let requests, packs, essential: Set<String>
  }

  private func states() throws -> States {
    guard playground.exists("group/journal") else { return States(requests: [], packs: [], essential: []) }
    let journal = try JSONSerialization.jsonObject(with: Data(try playground.read("group/journal"))) as? NSDictionary
    return States(
      requests: Set((journal?["requests"] as? [String: Any] ?? [:]).keys),
      packs: Set((journal?["packs"] as? [String: Any] ?? [:]).keys),
      essential: Set(journal?["essential"] as? [String] ?? []))
  }

  /// At any moment, each known essential pack is requested or installed.
  private func checkStates(_ group: AgentGroup) throws {
    let states = try states()
    guard !states.essential.isEmpty else { return }
    let listed = try playground.packstore("ls", "group/store")
    let here = Set(listed.output.split(separator: "\n").map(String.init))
    let forgotten = states.essential.subtracting(states.requests).subtracting(here)
    #expect(forgotten == [], "seed \(seed): asked for \(states.requests), here \(here)")
    #expect(states.packs.subtracting(here) == [], "seed \(seed): what the journal calls here is here")
  }

  /// Nothing is killed any more: the agent downloads the missing packs, and all equal the published ones.
  private func finish(_ group: AgentGroup, _ agent: Process) throws {
    #expect(agent.isRunning, "seed \(seed)")
    end(agent)
    let event = try playground.packstore("agent", "event", "Game.plist", "install", "-q")
    #expect(event.status == 0, "seed \(seed): \(event.errors)")
    let wait = try playground.packstore("agent", "Game.plist", "--wait-essential", "-q")
    #expect(wait.status == 0, "seed \(seed): \(wait.errors)")
    let once = try playground.packstore("agent", "Game.plist", "--once", "-q")
    #expect(once.status == 0, "seed \(seed): \(once.errors)")
    let states = try states()
    #expect(states.requests == [] && states.packs == Set(Self.packs), "seed \(seed): \(states)")
    let verified = try playground.packstore("verify", "group/store", "--deep", "-q")
    #expect(verified.status == 0, "seed \(seed): \(verified.errors)")
    let compared = try playground.shell(
      "packstore extract group/store out -q && for p in \(Self.packs.joined(separator: " ")); do cmp packs/$p/$p out/$p || exit 1; done; rm -r out"
    )
    #expect(compared.status == 0, "seed \(seed): \(compared.errors)")
  }
}
