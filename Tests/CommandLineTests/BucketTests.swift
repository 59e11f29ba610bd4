import Foundation
import Testing

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The program publishes to object storage, on a substitute for S3; boto3 reads the files that devices fetch.
@Suite(
  .serialized, .enabled(if: StorageServer.python != nil, "Tests/Storage/setup could not install moto"))
struct BucketTests {
  private let playground = try! Playground()

  init() throws {
    for version in 1...3 {
      try playground.write(String(repeating: "same ", count: 4_000), to: "folder/same")
      try playground.write(noise(40_000, seed: UInt64(version)), to: "folder/noise")
      try playground.packstore("add", "Packs", "folder", "--pack", "P", "--keep", "3", "-q")
    }
  }

  /// The server of all tests but the campaign, each with a prefix of its own. It ends with this process.
  private static let server = Result { try StorageServer() }

  /// A prefix in the bucket that no other test uses.
  private let prefix = "packs-\(UUID().uuidString)"
  private var site: String { "s3://assets/\(prefix)" }

  @discardableResult
  private func packstore(_ server: StorageServer, _ arguments: String..., status: Int32 = 0) throws -> Run {
    try packstore(server, arguments, status: status)
  }

  @discardableResult
  private func packstore(_ server: StorageServer, _ arguments: [String], status: Int32 = 0) throws -> Run {
    let run = try playground.run(arguments, server.environment)
    #expect(run.status == status, "\(arguments): \(run.errors)")
    return run
  }

  @Test func aReleaseFromAnEmptyMachine() throws {
    let server = try Self.server.get()
    let check = try packstore(server, "check-bucket", site, "--json")
    #expect(check.output.contains(#""safe" : true"#) || check.output.contains(#""safe":true"#), "\(check.output)")
    try packstore(server, "publish", "Packs", site, "P@2", "--key", "site.key", "--deltas", "0", "-q")
    #expect(try server.verify(prefix, exactly: true).hasPrefix("whole: 1 roots"))
    // Another machine has nothing but the key.
    try packstore(server, "publish", "Packs", site, "P@3", "--key", "site.key", "--no-offer", "-q")
    try packstore(server, "promote", site, "P@3", "--channel", "beta", "--key", "site.key", "-q")
    try packstore(server, "promote", site, "P@3", "--share", "5%", "--key", "site.key", "-q")
    let channels = try packstore(server, "channels", site).output
    #expect(channels.contains("beta") && channels.contains("5%"))
    #expect(try packstore(server, "log", site).output.contains("P@2"))
    try packstore(server, "promote", site, "P@3", "--key", "site.key", "-q")
    try packstore(server, "refresh", site, "--key", "site.key", "-q")
    #expect(try server.verify(prefix, exactly: true).hasPrefix("whole: 2 roots"))
    let again = try packstore(server, "publish", "Packs", site, "P@3", "--key", "site.key", "--deltas", "0")
    #expect(again.output.contains("nothing is new"))
    // A work folder has the site, so the next command fetches only changes.
    try packstore(server, "publish", "Packs", site, "P@1", "--key", "site.key", "--work", "work", "-q")
    let before = try server.control("{}")
    try packstore(server, "demote", site, "P@3", "--channel", "beta", "--key", "site.key", status: 2)
    try packstore(
      server, "unpublish", site, "P", "--all", "--grace", "0", "--key", "site.key", "--work", "work", "-q")
    #expect(try server.control("{}")["received", default: 0] - before["received", default: 0] < 300_000)
    #expect(try server.verify(prefix).hasPrefix("whole: 2 roots, 0 files"))
  }

  /// Commands that read stores read the versions of a site in a bucket as well. Once, they reported damage.
  @Test func versionsAreRead() throws {
    let server = try Self.server.get()
    try playground.write(noise(60_000, seed: 3), to: "folder/labelled")
    try packstore(server, "add", "Packs", "folder", "--pack", "P", "--label", "1.4.2", "-q")
    try packstore(server, "publish", "Packs", site, "P@3", "--key", "site.key", "-q")
    try packstore(server, "publish", "Packs", site, "P@1.4.2", "--key", "site.key", "-q")
    try playground.succeed("publish", "Packs", "folder-site", "P@3", "--key", "site.key", "-q")
    try playground.succeed("publish", "Packs", "folder-site", "P@1.4.2", "--key", "site.key", "-q")
    for work in [[], ["--work", "work"], ["--work", "work"]] {
      let log = try packstore(server, ["log", site] + work)
      #expect(log.output.contains("1.4.2"), "\(log.output)")
      let stat = try packstore(server, ["stat", site, "--json"] + work).json
      let local = try playground.packstore("stat", "folder-site", "--json").json
      let packs = try #require(stat["packs"] as? [NSDictionary]),
        localPacks = try #require(local["packs"] as? [NSDictionary])
      for name in ["pack", "version", "usage", "own_unique_bytes"] {
        #expect(packs[0][name] as? NSObject == localPacks[0][name] as? NSObject, "\(name)")
      }
      for options in [[], ["--from", "3"]] {
        let inspected = try packstore(server, ["inspect", site, "P"] + options + work)
        #expect(inspected.output.contains("KIND"), "\(inspected.output)")
      }
      let diff = try packstore(server, ["diff", site, "P@3", "@1.4.2"] + work)
      #expect(diff.output.contains("labelled"), "\(diff.output)")
      let both = try packstore(server, ["diff", "\(site)#P@3", "\(site)#P@1.4.2"] + work)
      #expect(both.output == diff.output)
    }
  }

  /// A machine that has the key and nothing else publishes one changed file of a site.
  @Test func anEmptyMachineFetchesLittle() throws {
    let server = try Self.server.get()
    for index in 0..<100 { try playground.write(noise(60_000, seed: UInt64(1_000 + index)), to: "folder/\(index)") }
    try packstore(server, "add", "Packs", "folder", "--pack", "P", "-q")
    try packstore(server, "publish", "Packs", site, "--key", "site.key", "-q")
    try playground.write(noise(60_000, seed: 7), to: "folder/50")
    try packstore(server, "add", "Packs", "folder", "--pack", "P", "-q")
    let before = try server.control("{}")
    let run = try packstore(server, "publish", "Packs", site, "--key", "site.key", "--json")
    let after = try server.control("{}")
    func count(_ name: String) -> Int { after[name, default: 0] - before[name, default: 0] }
    #expect(count("sent") < 6_000_000 / 20, "\(count("sent")) bytes down")
    #expect(count("received") < 60_000 + 300_000, "\(count("received")) bytes up")
    let traffic = try #require(try run.json["storage"] as? [String: Int])
    #expect(traffic["content_bytes"] == 0)
    #expect((1...count("sent")).contains(try #require(traffic["fetched_bytes"])))
    #expect((60_000...count("received")).contains(try #require(traffic["uploaded_bytes"])))
    #expect(try server.verify(prefix, exactly: true).hasPrefix("whole: 1 roots"))
    // A delta is made of content, which is fetched for it, and counted apart.
    try playground.write(noise(60_000, seed: 8), to: "folder/51")
    try packstore(server, "add", "Packs", "folder", "--pack", "P", "-q")
    let second = try packstore(server, "publish", "Packs", site, "--key", "site.key", "--deltas", "1", "--json")
    let content = try #require((try second.json["storage"] as? [String: Int])?["content_bytes"])
    #expect(content > 6_000_000, "\(content)")
    #expect(try (second.json["deltas"] as? [Any])?.count == 1)
    // The content of the site is found by its table, without a download.
    try packstore(server, "promote", site, "P@4", "--channel", "beta", "--key", "site.key", "-q")
    let other = try packstore(server, "add", "Other", "folder", "--pack", "Q")
    #expect(other.status == 0)
    let copied = try packstore(server, "publish", "Other", site, "--key", "site.key", "--json")
    let uploaded = try #require((try copied.json["storage"] as? [String: Int])?["uploaded_bytes"])
    #expect(uploaded < 300_000, "\(uploaded)")
    #expect(try server.verify(prefix, exactly: true).hasPrefix("whole: 2 roots"))
  }

  /// A work folder with all content is not a copy without frames: deltas that others made since then stay in the roots.
  @Test func deltasOfOthersStay() throws {
    let server = try Self.server.get()
    try packstore(server, "publish", "Packs", site, "P@1", "--key", "site.key", "--work", "work", "-q")
    try packstore(server, "publish", "Packs", site, "P@2", "--key", "site.key", "--work", "work", "-q")
    try packstore(server, "deltas", site, "--key", "site.key", "-q")
    try packstore(server, "refresh", site, "--key", "site.key", "--work", "work", "-q")
    let missing = try packstore(server, "deltas", site, "--key", "site.key", "--dry-run")
    #expect(missing.output.contains("no delta is missing"), "\(missing.output)")
    #expect(try server.verify(prefix, exactly: true).hasPrefix("whole: 1 roots"))
  }

  /// Write access to the bucket cannot make a publisher sign anything that its tables do not contain.
  @Test func damagedTablesAreRefused() throws {
    let server = try Self.server.get()
    try packstore(server, "publish", "Packs", site, "P@2", "--key", "site.key", "-q")
    try server.change("tables/", prefix: prefix, to: "damaged")
    let before = try server.verify(prefix)
    let refused = try packstore(server, "publish", "Packs", site, "P@3", "--key", "site.key", status: 7)
    #expect(
      refused.errors.contains("the object has other content than the site's publisher stored"), "\(refused.errors)")
    #expect(try server.verify(prefix) == before && before.hasPrefix("whole: 1 roots"))
  }

  @Test func whatIsWrongIsSaid() throws {
    let server = try Self.server.get()
    let none = try packstore(server, "promote", site, "P@1", "--key", "site.key", status: 3)
    #expect(none.errors.contains("not a site with a ledger"))
    try packstore(server, "publish", "Packs", site, "--key", "site.key", "-q")
    let other = try packstore(server, "refresh", site, "--key", "other.key", status: 4)
    #expect(other.errors.contains("does not exist"))
    try packstore(server, "keygen", "other.key", "-q")
    let stranger = try packstore(server, "refresh", site, "--key", "other.key", status: 4)
    #expect(stranger.errors.contains("signed by another key"), "\(stranger.errors)")
    try server.control(#"{"fault": "expired"}"#)
    let expired = try packstore(server, "refresh", site, "--key", "site.key", status: 3)
    #expect(expired.errors.contains("the credentials have expired"))
    #expect(!expired.errors.contains("not-a-secret"))
    let top = try packstore(server, "publish", "Packs", "s3://assets", "--key", "site.key", status: 2)
    #expect(top.errors.contains("leaves no place for private files"), "\(top.errors)")
    var environment = server.environment
    environment["AWS_SECRET_ACCESS_KEY"] = "wrong"
    let wrong = try playground.run(["channels", site], environment)
    #expect(wrong.errors.contains("does not accept these credentials"), "\(wrong.errors)")
    let folder = try packstore(server, "channels", "folder", "--region", "x", status: 2)
    #expect(folder.errors.contains("a folder, but the options of object storage are set"))
  }

  /// An object that is lost is named, and not taken for the work of another publisher.
  @Test func aLostObjectIsNamed() throws {
    let server = try Self.server.get()
    try packstore(server, "publish", "Packs", site, "--key", "site.key", "-q")
    try server.change("tables/", prefix: prefix, to: "lost")
    let run = try packstore(server, "refresh", site, "--key", "site.key", "-q", status: 7)
    #expect(run.errors.contains("is missing in the storage") && run.errors.contains("blobs/"), "\(run.errors)")
    try packstore(server, "channels", site)
  }

  /// Where the ledger is gone, a work folder's copy of the site is not replaced by a new site.
  @Test func aWorkFolderKnowsThatThereWasALedger() throws {
    let server = try Self.server.get()
    try packstore(server, "publish", "Packs", site, "--key", "site.key", "--work", "work", "-q")
    let before = playground.tree("work")
    let other = try packstore(
      server, "publish", "Packs", "\(site)-other", "--key", "site.key", "--work", "work", status: 4)
    #expect(other.errors.contains("the ledger is missing, but the work folder contains image"), "\(other.errors)")
    #expect(playground.tree("work") == before)
    try packstore(server, "refresh", site, "--key", "site.key", "--work", "work", "-q")
    try packstore(server, "publish", "Packs", "\(site)-other", "--key", "site.key", "-q")
    let kept = playground.tree("work")
    let third = try packstore(server, "refresh", "\(site)-other", "--key", "site.key", "--work", "work", status: 2)
    #expect(third.errors.contains("the work folder is a copy of another site"), "\(third.errors)")
    #expect(playground.tree("work") == kept)
  }

  /// A copied root that is newer than the ledger's root is not overwritten.
  @Test func aRootThatIsNotInTheLedgerStays() throws {
    let server = try Self.server.get()
    try packstore(server, "publish", "Packs", site, "P@1", "--key", "site.key", "-q")
    try playground.succeed("publish", "Packs", "folder-site", "P@2", "--key", "site.key", "-q")
    try server.put(playground.read("folder-site/root"), at: "\(prefix)/root")
    for _ in 0..<2 {
      let run = try packstore(server, "publish", "Packs", site, "P@3", "--key", "site.key", "-q", status: 6)
      #expect(run.errors.contains("replaced by a newer one that is not in the ledger"), "\(run.errors)")
    }
    #expect(try server.get("\(prefix)/root") == playground.read("folder-site/root"))
  }

  /// Three publishers race through faults and kills; devices always see a complete site. `PACKSTORE_SEED` repeats a
  /// campaign, except for the scheduling of processes; `PACKSTORE_KILLS` sets the number of real kills (default: 3).
  @Test func killedPublishersLeaveAWholeSite() throws {
    let environment = ProcessInfo.processInfo.environment
    let seed = environment["PACKSTORE_SEED"].flatMap { UInt32($0) } ?? UInt32.random(in: 1...99_999)
    let kills = environment["PACKSTORE_KILLS"].flatMap { Int($0) } ?? 3
    print("BucketTests: PACKSTORE_SEED=\(seed) PACKSTORE_KILLS=\(kills)")
    let server = try StorageServer(seed: seed)
    var chance = SplitMix(seed: UInt64(seed))
    try packstore(server, "publish", "Packs", site, "P@1", "--key", "site.key", "--deltas", "0", "-q")
    var killed = 0, round = 0
    // Some publishers end before their time has come.
    while killed < kills, round < 2 * kills {
      round += 1
      try server.control(#"{"rate": 100}"#)
      var running: [Process] = []
      for publisher in 0..<3 {
        let work = publisher == 0 ? [] : ["--work", "work-\(publisher)"]
        running.append(
          try playground.start(
            [
              "publish", "Packs", site, "P@\(1 + chance.below(3))", "--key", "site.key", "--deltas", "0",
              "--grace", "0", "-q",
            ]
              + (publisher == 2 ? ["--channel", "beta"] : []) + work, output: .nullDevice, errors: .nullDevice,
            environment: server.environment))
      }
      // Each dies when the server has had so many more requests.
      for process in running {
        let limit = try server.control("{}")["requests", default: 0] + 2 + chance.below(25)
        while process.isRunning, try server.control("{}")["requests", default: 0] < limit {}
        if process.isRunning {
          kill(process.processIdentifier, SIGKILL)
          killed += 1
        }
        process.waitUntilExit()
      }
      try server.control(#"{"rate": 0}"#)
      #expect(try server.verify(prefix).hasPrefix("whole: "), "seed \(seed), round \(round)")
    }
    // A repeated command finishes, and files of killed commands are deleted hours later.
    for _ in 0..<3 {
      try packstore(
        server, "publish", "Packs", site, "P@3", "--key", "site.key", "--deltas", "0", "--grace", "0", "-q")
      try server.control(#"{"advance": 250}"#)
    }
    #expect(try server.verify(prefix).hasPrefix("whole: "))
    let found = try packstore(server, "channels", site, "--json")
    #expect(found.output.contains(#""version" : 3"#) || found.output.contains(#""version":3"#))
    let counts = try server.control("{}")
    print(
      "BucketTests: \(killed) kills, \(counts.filter { $0.key.hasPrefix("fault") }) in \(counts["requests", default: 0]) requests"
    )
  }
}

/// Random numbers that a seed determines.
private struct SplitMix {
  private var state: UInt64
  init(seed: UInt64) { state = seed }

  mutating func below(_ limit: UInt64) -> Int {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return Int((z ^ (z >> 31)) % limit)
  }
}
