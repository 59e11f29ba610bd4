import Foundation
import Testing

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// `pull` is killed at many points, and run again: checked bytes are not fetched again, and the result equals the
/// published version. `PACKSTORE_SCALE` multiplies the length, `PACKSTORE_SEED` selects the points.
@Suite struct PullKillCampaign {
  static let byteCount = 24_000_000
  /// The bytes that may be in transit and are lost when the process is killed.
  static let outstandingByteCount = 3 << 20

  let playground = try! Playground()
  let seed = ProcessInfo.processInfo.environment["PACKSTORE_SEED"].flatMap { UInt64($0) } ?? 1
  let scale = ProcessInfo.processInfo.environment["PACKSTORE_SCALE"].flatMap { Int($0) } ?? 1

  /// The step during which a pull is killed.
  private enum PullMethod: String {
    case frames = "segments", delta = "deltas"

    /// Where the report has its bytes.
    var reported: String { self == .frames ? "frame_bytes" : "delta_bytes" }
  }

  @Test func framesAfterKills() throws {
    try publish()
    try campaign(WebServer.nginx(playground, serving: "web"), .frames)
  }

  /// A pull of a delta is killed while it downloads and while it applies the delta.
  @Test func deltasAfterKills() throws {
    try publish()
    let server = try WebServer.nginx(playground, serving: "web")
    try playground.packstore("pull", "base", "\(server.url)/site", "-q")
    for number in 0..<6 { try touch("folder/\(number)") }
    for number in 6..<12 {
      try playground.write(noise(Self.byteCount / 12, seed: 50 + UInt64(number)), to: "folder/\(number)")
    }
    try publish("--delta-level", "fast")
    try campaign(server, .delta)
  }

  private func publish(_ options: String...) throws {
    if !playground.exists("folder") {
      for number in 0..<12 {
        try playground.write(noise(Self.byteCount / 12, seed: UInt64(number)), to: "folder/\(number)")
      }
      try playground.makeFolder("web")
    }
    try playground.packstore("add", "origin", "folder", "--pack", "Game", "-q")
    let published = try playground.packstore(["publish", "origin", "web/site", "--key", "key", "-q"] + options)
    try #require(published.status == 0, "\(published.errors)")
  }

  /// Changes a byte in every chunk or so of a file.
  private func touch(_ file: String) throws {
    var bytes = try playground.read(file)
    for place in stride(from: 0, to: bytes.count, by: 2000) { bytes[place] ^= 1 }
    try playground.write(bytes, to: file)
  }

  private func campaign(_ server: WebServer, _ way: PullMethod) throws {
    var state = seed
    func random(_ limit: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int((state >> 33) % UInt64(limit))
    }
    var kills = 0
    defer { print("PullKillCampaign: \(way), seed \(seed), \(kills) kills") }
    while kills < (scale > 1 ? 15 * scale : 5) {
      if way == .delta { try #require(try playground.shell("cp -r base store").status == 0) }
      kills += try pullWithKills(server, way) { random(Self.byteCount / 2) }
      try playground.remove("store")
    }
  }

  /// Pulls, and kills each attempt after so many bytes were sent. Returns how often.
  private func pullWithKills(_ server: WebServer, _ way: PullMethod, _ threshold: () -> Int) throws -> Int {
    var kills = 0
    var kept = 0
    while true {
      let before = bytes(server, way), limit = threshold()
      try playground.write("", to: "report")
      let process = try playground.start(
        ["pull", "store", "\(server.url)/site", "--json", "--limit-rate", "200M"],
        output: try #require(FileHandle(forWritingAtPath: "\(playground.path)/report")), errors: .nullDevice)
      waitForChange(of: server.log) { !process.isRunning || bytes(server, way) - before >= limit }
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
      if process.terminationReason == .exit {
        #expect(process.terminationStatus == 0, "seed \(seed)")
        try checkLast(try playground.read("report"), way, kept: kept)
        break
      }
      kills += 1
      let sent = bytes(server, way) - before
      let plan = try playground.packstore("pull", "store", "\(server.url)/site", "--dry-run", "--json")
      try #require(plan.status == 0, "seed \(seed): \(plan.errors)")
      let pack = try #require((plan.json["packs"] as? [NSDictionary])?.first)
      guard pack["outcome"] as? String == "updated" else { break }  // killed after its commit
      let resumed = pack["resumed_bytes"] as! Int
      #expect(
        resumed >= kept + sent - Self.outstandingByteCount - 100_000, "seed \(seed): all is kept but what was under way"
      )
      #expect(pack["remaining_bytes"] as! Int == (pack["total_bytes"] as! Int) - resumed, "seed \(seed)")
      kept = resumed
    }
    let verified = try playground.packstore("verify", "store", "--deep", "-q")
    #expect(verified.status == 0, "seed \(seed): \(verified.errors)")
    #expect(
      try playground.shell("packstore extract store out -q && diff -r folder out && rm -r out").status == 0,
      "seed \(seed)")
    let after = try playground.packstore("pull", "store", "\(server.url)/site", "--json")
    #expect(after.status == 0)
    #expect(playground.tree("store/incoming").filter { !$0.hasSuffix("/") } == [], "seed \(seed)")
    return kills
  }

  /// The last attempt fetched the bytes that the others had left, and gaps between them.
  private func checkLast(_ report: [UInt8], _ way: PullMethod, kept: Int) throws {
    let json = try #require(JSONSerialization.jsonObject(with: Data(report)) as? NSDictionary)
    let pack = try #require((json["packs"] as? [NSDictionary])?.first)
    let resumed = pack["resumed_bytes"] as! Int, total = pack["total_bytes"] as! Int
    #expect(resumed >= kept, "seed \(seed)")
    #expect((pack[way.reported] as! Int) <= total - resumed + 2048 * (pack["requests"] as! Int), "seed \(seed)")
  }

  /// Bytes of segments, or of the delta, that the server sent.
  private func bytes(_ server: WebServer, _ way: PullMethod) -> Int {
    server.requests.filter { $0.path.hasPrefix("/site/\(way.rawValue)/") }.reduce(0) { $0 + $1.byteCount }
  }
}
