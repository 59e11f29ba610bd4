import Foundation
import Testing

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Each command that changes a site is killed at random moments. The site always serves a complete state, the history of its channels is
/// complete, and the repeated command finishes. `PACKSTORE_SCALE` multiplies the length (3 kills of each command; at 2 and above, 30 each),
/// `PACKSTORE_SEED` selects the moments.
@Suite struct SiteKillCampaign {
  let playground = try! Playground()
  let seed = ProcessInfo.processInfo.environment["PACKSTORE_SEED"].flatMap { UInt64($0) } ?? 1
  let scale = ProcessInfo.processInfo.environment["PACKSTORE_SCALE"].flatMap { Int($0) } ?? 1

  private static let commands: [[String]] = [
    ["publish", "author", "site", "--deltas", "1", "--delta-level", "fast", "--keep", "1", "--grace", "0"],
    ["promote", "site", "P@2", "--back", "--grace", "0"], ["promote", "site", "--from", "beta", "--channel", "next"],
    ["demote", "site", "P@2", "--channel", "beta", "--grace", "0"],
    ["channels", "site", "--channel", "beta", "--close", "--grace", "0"],
    ["unpublish", "site", "Q", "--all", "--grace", "0"], ["refresh", "site"], ["policy", "site", "--keep", "1"],
    ["pin", "site", "P@2"], ["gc", "site", "--keep", "1", "--grace", "0"], ["deltas", "site", "--delta-level", "fast"],
    ["history", "site", "--erase", "all"],
  ]

  @Test(.timeLimit(.minutes(60)), arguments: commands.indices) func siteServesAfterKills(index: Int) throws {
    let command = Self.commands[index] + ["--key", "key", "-q"]
    try makeSite()
    var state = seed &* 31 &+ UInt64(index)
    func random(_ limit: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int((state >> 33) % UInt64(limit))
    }
    try reset()
    var changeCount = try run(command, killedAfter: .max, isRepeated: false).changes
    var kills = 0
    defer { print("SiteKillCampaign: seed \(seed), \(kills) kills of '\(command.joined(separator: " "))'") }
    while kills < (scale > 1 ? 30 * scale : 3) {
      try reset()
      var wasKilled = true, isRepeated = false
      while wasKilled {
        let changes: Int
        (wasKilled, changes) = try run(command, killedAfter: random(changeCount + 2), isRepeated: isRepeated)
        isRepeated = true
        changeCount = max(changeCount, changes)
        kills += 1
        try check("seed \(seed), kill \(kills) of \(command)")
      }
    }
  }

  /// The template of the site: three versions of P and one of Q. `live` offers P@3 and Q, `beta` offers P@1 and P@2.
  private func makeSite() throws {
    for pack in ["P", "Q"] {
      for version in 1...3 where pack == "P" || version == 1 {
        try playground.write(noise(60_000, seed: UInt64(version)), to: "folder/\(pack)")
        try playground.succeed("add", "author", "folder", "--pack", pack, "--keep", "9", "-q")
        try playground.succeed(
          "publish", "author", "origin", pack, "--key", "key", "--deltas", "0", "--keep", "9", "-q")
      }
    }
    for (version, share) in [("1", "100%"), ("2", "50%")] {
      try playground.succeed(
        "promote", "origin", "P@\(version)", "--channel", "beta", "--share", share, "--key", "key", "-q", "--note", "n")
    }
    try playground.write(noise(60_000, seed: 4), to: "folder/P")
    try playground.succeed("add", "author", "folder", "--pack", "P", "--keep", "9", "-q")
  }

  private func reset() throws { try #require(try playground.shell("rm -rf site && cp -a origin site").status == 0) }

  /// - Parameter isRepeated: whether the command was killed before. It may have taken effect, and the repetition may be refused.
  private func run(_ command: [String], killedAfter limit: Int, isRepeated: Bool) throws -> (
    wasKilled: Bool, changes: Int
  ) {
    let errors = "\(playground.path)/errors"
    try playground.write("", to: "errors")
    let process = try playground.start(
      command, output: .nullDevice, errors: try #require(FileHandle(forWritingAtPath: errors)))
    let (wasKilled, changes) = playground.kill(process, afterChanges: limit, of: "site")
    if !wasKilled {
      let text = try playground.text("errors")
      #expect(
        process.terminationStatus == 0 || isRepeated && process.terminationStatus == 1,
        "seed \(seed): \(command): \(text)")
    }
    return (wasKilled, changes)
  }

  /// A new device gets everything that each channel offers, no object is missing, and every record exists.
  private func check(_ place: String) throws {
    let status = try playground.packstore("status", "site", "--json")
    try #require(status.status == 0, "\(place): \(status.errors)\(status.output)")
    let channels = try #require(try status.json["channels"] as? [NSDictionary])
    #expect(channels.count >= 2, "\(place)")
    for channel in channels {
      let name = try #require(channel["channel"] as? String)
      let history = try playground.packstore("history", "site", "--channel", name, "--all", "-q")
      #expect(history.status == 0, "\(place): \(history.errors)")
      guard channel["closed"] as? Bool == false else { continue }
      try #require(try playground.shell("rm -rf device").status == 0)
      let pulled = try playground.packstore("pull", "device", "site", "--channel", name, "-q")
      #expect(pulled.status == 0, "\(place): \(name): \(pulled.errors)")
      let verified = try playground.packstore("verify", "device", "--deep", "-q")
      #expect(verified.status == 0, "\(place): \(name): \(verified.errors)")
    }
  }
}
