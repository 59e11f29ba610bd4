import Foundation
import Testing

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// `apply` is killed at many points. The store is always complete and has the old version or the new one, and a second
/// run ends with the new one. `PACKSTORE_SCALE` multiplies the length, `PACKSTORE_SEED` selects the points.
@Suite struct ApplyKillCampaign {
  let playground = try! Playground()
  let seed = ProcessInfo.processInfo.environment["PACKSTORE_SEED"].flatMap { UInt64($0) } ?? 1
  let scale = ProcessInfo.processInfo.environment["PACKSTORE_SCALE"].flatMap { Int($0) } ?? 1

  @Test func oldOrNewAfterKills() throws {
    try makeVersions()
    var state = seed
    func random(_ limit: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int((state >> 33) % UInt64(limit))
    }
    var kills = 0, outcomes: [String: Int] = [:]
    defer { print("ApplyKillCampaign: seed \(seed), \(kills) kills, \(outcomes) after them") }
    var changeCount = try applyWithKill(after: .max).changes
    while kills < 5 * scale {
      try #require(try playground.shell("rm -rf store && cp -R client store").status == 0)
      // The next run begins with the files that the killed one left.
      var wasKilled = true
      while wasKilled {
        let changes: Int
        (wasKilled, changes) = try applyWithKill(after: random(changeCount + 3))
        changeCount = max(changeCount, changes)
        guard wasKilled else { break }
        kills += 1
        let version = try checkedVersion()
        #expect(["old", "new"].contains(version), "seed \(seed)")
        outcomes[version, default: 0] += 1
        wasKilled = random(2) == 0
      }
      let applied = try playground.packstore("apply", "store", "file.delta", "--allow-unsigned", "--adopt", "-q")
      #expect(applied.status == 0, "seed \(seed): \(applied.errors)")
      #expect(try checkedVersion() == "new")
      try playground.packstore("add", "store", "old", "--pack", "Other", "-q")
      #expect(playground.tree("store/tmp") == [], "seed \(seed): a commit clears up")
    }
  }

  /// Folders `old` and `new`, the store `client` with the old one, and the delta.
  private func makeVersions() throws {
    for number in 0..<8 {
      let bytes = noise(500_000, seed: UInt64(number))
      try playground.write(bytes, to: "old/\(number)")
      let other = noise(200_000, seed: UInt64(100 + number))
      try playground.write(number % 4 == 0 ? bytes : Array(bytes[..<250_000] + other), to: "new/\(number)")
    }
    try playground.packstore("add", "client", "old", "--pack", "P", "-q")
    try #require(try playground.shell("cp -R client origin && cp -R client store").status == 0)
    try playground.packstore("add", "origin", "new", "--pack", "P", "-q")
    let options = ["--unsigned", "--level", "fast", "-q"]
    try #require(
      try playground.packstore(["delta", "origin", "P@1", "P@2", "-o", "file.delta"] + options).status == 0)
  }

  /// Applies the delta until the store's folder was seen to change so often, and kills it. `changes` is how often it was.
  private func applyWithKill(after limit: Int) throws -> (wasKilled: Bool, changes: Int) {
    let process = try playground.start(
      ["apply", "store", "file.delta", "--allow-unsigned", "--adopt", "-q"], output: .nullDevice, errors: .nullDevice)
    let (wasKilled, changes) = playground.kill(process, afterChanges: limit, of: "store")
    if !wasKilled { #expect(process.terminationStatus == 0, "seed \(seed)") }
    return (wasKilled, changes)
  }

  /// "old" or "new": which of the two the store has, all of it.
  private func checkedVersion() throws -> String {
    let verified = try playground.packstore("verify", "store", "--deep", "-q")
    #expect(verified.status == 0, "seed \(seed): \(verified.errors)")
    try #require(try playground.shell("rm -rf out && packstore extract store out -q").status == 0)
    return try playground.shell(
      "diff -r old out >&2 && echo old || { diff -r new out >&2 && echo new || echo neither; }"
    ).lines.joined()
  }
}
