import Foundation
import Testing

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// App, agent and server are killed at many points while an essential pack is downloaded. The surviving or restarted
/// processes continue: checked bytes are not fetched again, a dead agent never blocks the app, and the installed pack
/// equals the published one. `PACKSTORE_SCALE` multiplies the length (12 kills; at 2 and above, 25 each),
/// `PACKSTORE_SEED` selects the points. At 2 and above, agents are also stopped while they hold locks: the app kills
/// them after some seconds if it needs the locks.
///
/// From time to time all processes are killed at once. The kept bytes are counted then. Until the next such kill, no
/// more than the missing bytes may be fetched, plus the allowance for each single kill in between.
@Suite final class AgentKillCampaign {
  static let byteCount = 12_000_000
  /// The bytes that a process may have in transit, and lose, when it or the server is killed, or when the agent hands
  /// over a download.
  static let outstandingByteCount = 3 << 20

  let playground = try! Playground()
  let seed = ProcessInfo.processInfo.environment["PACKSTORE_SEED"].flatMap { UInt64($0) } ?? 1
  let scale = ProcessInfo.processInfo.environment["PACKSTORE_SCALE"].flatMap { Int($0) } ?? 1

  /// The download size for an empty device.
  private var totalByteCount = 0

  private enum Victim: CaseIterable { case app, agent, server, all, stoppedAgent }

  private struct Counts {
    var kills: [Victim: Int] = [:]
    var installations = 0
    /// The number of comparisons of kept bytes with sent bytes.
    var comparisons = 0
    /// Kills in the middle of a commit, after which all that it had moved into place is fetched once more.
    var lostCommits = 0
    var total: Int {
      kills.reduce(0) { sum, kills in
        let processCount =
          switch kills.key {
          case .app, .agent, .server: 1
          case .all: 3
          case .stoppedAgent: 0
          }
        return sum + processCount * kills.value
      }
    }
  }

  @Test(.timeLimit(.minutes(60))) func killedAtManyPoints() throws {
    for number in 0..<6 {
      try playground.write(noise(Self.byteCount / 6, seed: UInt64(number)), to: "packs/Game/\(number)")
    }
    try playground.write(AgentGroup.attributes("essential"), to: "packs/Game.json")
    let group = try AgentGroup(playground)
    let plan = try playground.succeed("pull", "none", "web/site", "Game", "--dry-run", "--json").json
    totalByteCount = try #require(((plan["packs"] as? [NSDictionary])?.first)?["total_bytes"] as? Int)
    var random = Random(state: seed), counts = Counts()
    defer {
      let kills = Victim.allCases.map { "\($0) \(counts.kills[$0] ?? 0)" }.joined(separator: ", ")
      print(
        "AgentKillCampaign: seed \(seed), \(counts.total) processes killed (\(kills)), \(counts.installations) installations,"
          + " \(counts.comparisons) comparisons, \(counts.lostCommits) kills in a commit")
    }
    while counts.total < (scale > 1 ? 25 * scale : 12) {
      try install(group, &random, &counts)
      counts.installations += 1
      try playground.remove("group")
    }
  }

  /// The bytes that the server has sent so far.
  private struct Sent {
    let byteCount, requestCount: Int

    init(_ group: AgentGroup) {
      byteCount = group.sentByteCount
      requestCount = group.server.requests.count
    }
  }

  private struct Random {
    var state: UInt64

    mutating func next(_ limit: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int((state >> 33) % UInt64(max(limit, 1)))
    }
  }

  /// One installation, from an empty group to the installed pack.
  private func install(_ group: AgentGroup, _ random: inout Random, _ counts: inout Counts) throws {
    var agent = try group.startAgent()
    defer { end(agent) }
    // The kept bytes and the sent bytes when no process ran, and the single kills since then.
    var kept = 0, sent = Sent(group), singleKills = 0
    let victims = scale > 1 ? Victim.allCases : Victim.allCases.filter { $0 != .stoppedAgent }
    // The app finds an agent that fetches the pack, or begins by itself.
    if random.next(2) == 0 { try playground.succeed("agent", "event", "Game.plist", "install", "-q") }
    var app = try startApp(group)
    defer { end(app) }
    while true {
      let begin = group.sentByteCount, limit = random.next(Self.byteCount / 3)
      waitForChange(of: group.server.log) { !app.isRunning || group.sentByteCount - begin >= limit }
      guard app.isRunning else {
        app.waitUntilExit()
        if app.terminationStatus == 0 { break }
        // The server was gone for too long.
        #expect(app.terminationReason == .exit && [1, 3].contains(app.terminationStatus), "seed \(seed)")
        app = try startApp(group)
        continue
      }
      // The app may have killed a stopped agent.
      if !agent.isRunning { agent = try group.startAgent() }
      let victim = victims[random.next(victims.count)]
      counts.kills[victim, default: 0] += 1
      switch victim {
      case .app:
        end(app)
        app = try startApp(group)
      case .agent:
        end(agent)
        agent = try group.startAgent()
      case .server: try group.server.crash()
      case .stoppedAgent: kill(agent.processIdentifier, SIGSTOP)
      case .all:
        for process in [app, agent] { end(process) }
        try group.server.crash()
        let now = try keptByteCount()
        let came = group.sentByteCount - sent.byteCount
        if now < kept {
          // Segments are moved into place before the switch, and swept when it did not come.
          #expect(came >= totalByteCount - kept - Self.outstandingByteCount, "seed \(seed): what is kept stays")
          counts.lostCommits += 1
        }
        try compare(group, kept: kept, sent: sent, singleKills: singleKills)
        counts.comparisons += 1
        (kept, sent, singleKills) = (now, Sent(group), 0)
        agent = try group.startAgent()
        app = try startApp(group)
        continue
      }
      singleKills += 1
    }
    try compare(group, kept: kept, sent: sent, singleKills: singleKills)
    counts.comparisons += 1
    try check(group, agent)
  }

  private func startApp(_ group: AgentGroup) throws -> Process {
    try group.start(["agent", "Game.plist", "--wait-essential"], output: "app.log")
  }

  private func end(_ process: Process) {
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// The bytes sent since no process ran are the bytes that were missing then.
  private func compare(_ group: AgentGroup, kept: Int, sent: Sent, singleKills: Int) throws {
    let now = Sent(group), byteCount = now.byteCount - sent.byteCount
    // Gaps between frames come along with them, and metadata. The app that was started took the download over once.
    let gaps = (now.requestCount - sent.requestCount) * 2048 + 400_000
    #expect(
      byteCount <= totalByteCount - kept + (singleKills + 1) * Self.outstandingByteCount + gaps,
      "seed \(seed): after \(kept) bytes were kept, and \(singleKills) kills, \(byteCount) came")
  }

  /// The bytes of the pack in the store, while no process runs.
  private func keptByteCount() throws -> Int {
    guard playground.exists("group/store/CONTROL") else { return 0 }
    let plan = try playground.packstore("pull", "group/store", "web/site", "Game", "--dry-run", "--json")
    try #require(plan.status == 0, "seed \(seed): \(plan.errors)")
    let pack = try #require((plan.json["packs"] as? [NSDictionary])?.first)
    guard pack["outcome"] as? String == "updated" else { return totalByteCount }
    return try #require(pack["resumed_bytes"] as? Int)
  }

  /// The states are true: the pack is installed and complete, no request is left, and the agent has no work.
  private func check(_ group: AgentGroup, _ agent: Process) throws {
    #expect(agent.isRunning || scale > 1, "seed \(seed)")
    end(agent)
    let once = try playground.packstore("agent", "Game.plist", "--once", "--json")
    #expect(once.status == 0, "seed \(seed): \(once.errors)")
    let journal = try JSONSerialization.jsonObject(with: Data(try playground.read("group/journal"))) as? NSDictionary
    #expect((journal?["requests"] as? NSDictionary)?.count == 0, "seed \(seed)")
    #expect((journal?["packs"] as? NSDictionary)?["Game"] != nil, "seed \(seed)")
    let verified = try playground.packstore("verify", "group/store", "--deep", "-q")
    #expect(verified.status == 0, "seed \(seed): \(verified.errors)")
    #expect(
      try playground.shell("packstore extract group/store out -q && diff -r packs/Game out && rm -r out").status == 0,
      "seed \(seed)")
    let sent = group.sentByteCount
    #expect(try playground.packstore("agent", "Game.plist", "--wait-essential", "-q").status == 0, "seed \(seed)")
    #expect(group.sentByteCount == sent, "seed \(seed): nothing comes twice")
  }
}
