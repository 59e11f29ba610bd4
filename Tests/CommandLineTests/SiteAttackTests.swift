import Foundation
import PackAuthoring
import PackFormats
import PackStore
import Testing

/// A mirror, a network, or the thief of a key can only delay a client that pulls over HTTP. Each attack is refused or
/// reported as stale, the client keeps its version, and the next honest root reaches it.
@Suite struct SiteAttackTests {
  let playground = try! Playground()
  let server: WebServer

  init() throws {
    try playground.makeFolder("web")
    server = try WebServer.nginx(playground, serving: "web")
    try playground.succeed("keygen", "root.key", "-q")
    try playground.succeed("delegate", "root.key", "release.key", "-q")
    try publish("one")
    #expect(try pull().status == 0)
  }

  // MARK: - The publisher, the client

  private func publish(
    _ content: String, to site: String = "web/site", key: String = "release.key", store: String = "author",
    version: Int? = nil, _ options: String...
  ) throws {
    try playground.write(content, to: "folder/file")
    let added = try playground.packstore(
      ["add", store, "folder", "--pack", "P", "-q"] + (version.map { ["--version", "\($0)"] } ?? []))
    #expect(added.status == 0, "\(added.errors)")
    let run = try playground.packstore(
      ["publish", store, site, "--key", key, "--deltas", "0", "--level", "1", "-q"] + options)
    #expect(run.status == 0, "\(run.errors)")
  }

  private func pull(_ device: String = "device", from site: String = "site", _ options: String...) throws -> Run {
    try playground.packstore(["pull", device, "\(server.url)/\(site)", "--json"] + options)
  }

  private func file(_ device: String = "device") throws -> String {
    try playground.packstore("cat", device, "file").output
  }

  /// The pull is refused by name.
  private func expectRefused(
    _ run: Run, _ code: String, status: Int32 = 4, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    #expect(run.status == status, "\(run.errors)", sourceLocation: sourceLocation)
    let error = try run.errors.split(separator: "\n").last.map { try JSON($0.utf8) }
    #expect(error?["code"]?.string == code, "\(run.errors)", sourceLocation: sourceLocation)
  }

  /// The pull changes nothing, and reports that the root is older than an accepted one.
  private func expectStale(_ run: Run, sourceLocation: SourceLocation = #_sourceLocation) throws {
    #expect(try run.status == 0 && run.json["stale"] as? Bool == true, "\(run.errors)", sourceLocation: sourceLocation)
  }

  /// The client still has all bytes of its version, and follows its publisher.
  private func expectGoesOn(
    after content: String, key: String = "release.key", sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    #expect(try file() == content, sourceLocation: sourceLocation)
    try publish("\(content) and on", key: key)
    let run = try pull()
    #expect(run.status == 0, "\(run.errors)", sourceLocation: sourceLocation)
    #expect(try file() == "\(content) and on", sourceLocation: sourceLocation)
    #expect(try playground.packstore("verify", "device", "--deep").status == 0, sourceLocation: sourceLocation)
  }

  // MARK: - The attacker's means

  /// The root that is served, as the owner of a key would have it, who is bound by no rule of a publisher.
  private func serveForged(by key: String = "release.key", _ change: (inout SiteRoot) -> Void) throws {
    var root = try SignedSiteRoot(decoding: playground.read("web/site/root"), file: "root").root
    change(&root)
    root.highest.merge(SiteRoot.highest(of: root.packs)) { .init(number: max($0.number, $1.number), epoch: $0.epoch) }
    try playground.write(root.encode(signedBy: secret(key)), to: "web/site/root")
  }

  /// The root that is served, with another word in the place of the last that is like it, signed once more.
  private func serveForged(by key: String, _ word: String, replacedBy other: String) throws {
    var bytes = try playground.read("web/site/root").dropLast(64)
    let word = Array(word.utf8), other = Array(other.utf8)
    try #require(word.count == other.count)
    let place = try #require(bytes.indices.last { bytes[$0...].starts(with: word) })
    bytes.replaceSubrange(place..<(place + word.count), with: other)
    try playground.write(bytes + secret(key).signature(of: Array(bytes), as: .root), to: "web/site/root")
  }

  private func secret(_ name: String) throws -> SiteKey {
    try SiteKey(contentsOf: FilePath("\(playground.path)/\(name)"))
  }

  /// Serves the files of another folder, and moves the served ones away.
  private func serve(_ folder: String, puttingAside aside: String) throws {
    #expect(try playground.shell("mv web/site web/\(aside) && mv web/\(folder) web/site").status == 0)
  }

  // MARK: - Keys

  /// A mirror continues to serve files that a replaced key signed, and its thief adds others.
  @Test func anOldDelegation() throws {
    _ = try playground.shell("cp -R web/site web/old")
    try playground.succeed("delegate", "root.key", "new.key", "-q")
    try publish("two", key: "new.key")
    #expect(try pull().status == 0)
    try expectRefused(pull(from: "old"), "other_key")
    try serve("old", puttingAside: "good")
    try expectStale(pull())
    try publish("stolen", key: "release.key", store: "thief", version: 900)
    try expectStale(pull())
    try serve("good", puttingAside: "old")
    try expectGoesOn(after: "two", key: "new.key")
  }

  /// The numbers of a thief are the highest that there are, and die with the key.
  @Test(arguments: [1 << 53, .max] as [UInt64]) func theSequenceOfAThief(_ sequence: UInt64) throws {
    let honest = try playground.read("web/site/root")
    try serveForged { $0.sequence = sequence }
    #expect(try pull().status == 0)
    try playground.write(honest, to: "web/site/root")
    try expectStale(pull())
    // A later key alone begins no sequence again: only a revocation does.
    try playground.succeed("delegate", "root.key", "renewed.key", "-q")
    try publish("not yet", key: "renewed.key")
    try expectStale(pull())
    try playground.succeed("delegate", "root.key", "new.key", "--revoke", "-q")
    try publish("two", key: "new.key")
    #expect(try pull().status == 0)
    try expectGoesOn(after: "two", key: "new.key")
  }

  /// The root that set the floor offers a lower version to a device that lost its record of roots. Once, the pull counted as
  /// successful, as for a mirror that lags.
  @Test func theRootOfTheFloor() throws {
    _ = try playground.shell("cp -R web/site web/old")
    try publish("two")
    #expect(try pull().status == 0)
    let floor = try SignedSiteRoot(decoding: playground.read("web/site/root"), file: "root").root.sequence
    try serve("old", puttingAside: "good")
    try serveForged { $0.sequence = floor }
    #expect(try playground.shell("rm device/trust").status == 0)
    try expectRefused(pull(), "publisher_out_of_date", status: 1)
    try serveForged { $0.sequence = floor - 1 }
    #expect(try playground.shell("rm -f device/trust").status == 0)
    #expect(try pull().status == 0, "a mirror lags")
    #expect(try file() == "two")
    try serve("good", puttingAside: "old")
    try expectGoesOn(after: "two")
  }

  /// Two rotations that a client missed are followed; from the first root key leads no other way.
  @Test func rotations() throws {
    try playground.succeed("rotate", "root.key", "second.key", "-q")
    try playground.succeed("rotate", "second.key", "third.key", "-q")
    try playground.succeed("delegate", "third.key", "release.key", "-q")
    try publish("two")
    #expect(try pull().status == 0)
    #expect(try file() == "two")
    for (root, key) in [("root.key", "first-release.key"), ("second.key", "second-release.key")] {
      try playground.succeed("delegate", root, key, "-q")
      let honest = try playground.read("web/site/root")
      try serveForged(by: key) { $0.sequence += 1 }
      try expectRefused(pull(), "other_key")
      try playground.write(honest, to: "web/site/root")
    }
    try expectGoesOn(after: "two")
  }

  /// Another product of the same publisher in the place of this one: as it was signed, and as its key would have it.
  @Test func anotherProduct() throws {
    try playground.succeed("delegate", "root.key", "another.key", "--product", "another", "-q")
    try publish("another", to: "web/another", key: "another.key", store: "other-author", "--product", "another")
    try serve("another", puttingAside: "good")
    try expectRefused(pull(), "other_key")
    try serveForged(by: "another.key", "another", replacedBy: "default")
    try expectRefused(pull(), "bad_signature")
    try serve("good", puttingAside: "another")
    try expectGoesOn(after: "one")
  }

  /// A key that may sign 'beta' alone signs the root of 'live'.
  @Test func theKeyOfAnotherChannel() throws {
    let honest = try playground.read("web/site/root")
    try playground.succeed("delegate", "root.key", "beta.key", "--channel", "beta", "-q")
    try serveForged(by: "beta.key") {
      $0.channel = try! SiteChannel("beta")
      $0.sequence += 1
    }
    try expectRefused(pull(), "other_channel")
    try serveForged(by: "beta.key", "beta", replacedBy: "live")
    try expectRefused(pull(), "bad_signature")
    try expectRefused(pull("fresh"), "bad_signature")
    #expect(!playground.exists("fresh"))
    try playground.write(honest, to: "web/site/root")
    try expectGoesOn(after: "one")
  }

  // MARK: - Time

  private static let day: Int64 = 86_400_000_000_000

  /// A mirror that hides new roots is noticed: by the root's own end, or by the age that the client allows.
  @Test func freeze() throws {
    let now = Int64(Date().timeIntervalSince1970 * 1e9)
    try serveForged {
      $0.sequence += 1
      $0.madeAt = now - 2 * Self.day
      $0.expiresAfter = Self.day
    }
    try expectRefused(pull(), "expired")
    try serveForged { $0.expiresAfter = nil }
    try expectRefused(pull("device", from: "site", "--max-age", "1d"), "too_old")
    let told = try pull()
    #expect(try #require(told.json["age"] as? Int) > 2 * 86_000, "the age is told without being asked")
    // A date ahead of all clocks would outlast every root to come.
    try serveForged {
      $0.sequence += 1
      $0.madeAt = now + 3 * Self.day
    }
    try expectRefused(pull(), "from_the_future")
    try expectGoesOn(after: "one")
  }

  @Test func rollback() throws {
    _ = try playground.shell("cp -R web/site web/old")
    try publish("two")
    #expect(try pull().status == 0)
    try serve("old", puttingAside: "good")
    try expectStale(pull())
    try serve("good", puttingAside: "old")
    // Two roots of one number: one of them is a forgery.
    let honest = try playground.read("web/site/root")
    try serveForged { $0.packs[0].priority = 7 }
    try expectRefused(pull(), "forked_root")
    try playground.write(honest, to: "web/site/root")
    try expectGoesOn(after: "two")
  }

  // MARK: - Files

  /// Files of a kind are exchanged: of versions with other content, and of two that differ in nothing but attributes.
  @Test func mixAndMatch() throws {
    try publish("two, which is longer")
    for language in ["de", "en"] {
      try playground.write(#"{ "language": "\#(language)" }"#, to: "\(language).json")
      try playground.succeed("attributes", "author", "P", "--set", "\(language).json", "-q")
      try playground.succeed(
        "publish", "author", "web/site", "--key", "release.key", "--deltas", "0", "--keep", "9", "-q")
    }
    var exchangeCount = 0, refusedKinds: [String] = []
    // Clients of a platform read sheets of attributes, which contain the platforms of each version.
    for kind in ["versions", "frames", "segments", "attributes"] {
      let names = playground.tree("web/site/\(kind)")
      try #require(names.count >= 2)
      for (one, other) in zip(names, names.dropFirst()) {
        let exchange = "cd web/site/\(kind) && mv \(one) kept && mv \(other) \(one) && mv kept \(other)"
        #expect(try playground.shell(exchange).status == 0)
        exchangeCount += 1
        let device = "device-\(exchangeCount)", run = try pull(device, from: "site", "--platform", "iOS")
        // Not every file is needed to have the current version.
        if run.status == 0 {
          #expect(try file(device) == "two, which is longer")
          #expect(try attributes(device) == "en" && playground.packstore("verify", device, "--deep").status == 0)
        } else {
          // Files of another length count as files of a site that changes.
          let isLonger = run.errors.contains("site_changed")
          try expectRefused(run, isLonger ? "site_changed" : "site_corrupt", status: isLonger ? 3 : 7)
          #expect(try playground.packstore("log", device, "P").status == 1, "nothing of it is there")
          refusedKinds.append(kind)
        }
        #expect(try playground.shell(exchange).status == 0)
        #expect(try pull(device).status == 0 && file(device) == "two, which is longer" && attributes(device) == "en")
      }
    }
    #expect(Set(refusedKinds).count == 4, "of \(exchangeCount) exchanges: \(refusedKinds)")
    #expect(try pull().status == 0)
    try expectGoesOn(after: "two, which is longer")
  }

  private func attributes(_ device: String) throws -> String? {
    try playground.packstore("attributes", device, "P", "--json").json["language"] as? String
  }

  /// A file of 100 GB is not read to its end: neither the root, whose size is unknown, nor segments, whose size the root specifies.
  /// HostileAnswerTests has endless answers for manifests and frame tables.
  @Test(arguments: ["root", "changes", "segments", "attributes"])
  func endlessData(_ kind: String) throws {
    try publish("two")
    try playground.write(#"{ "language": "de" }"#, to: "de.json")
    try playground.succeed("attributes", "author", "P", "--set", "de.json", "-q")
    try playground.succeed("publish", "author", "web/site", "--key", "release.key", "--deltas", "0", "-q")
    let honest = try playground.shell("cp -R web/site web/good")
    #expect(honest.status == 0)
    let files = "web/site/\(kind)" + (kind == "root" ? "" : "/*")
    #expect(try playground.shell("for file in \(files); do truncate -s 100G $file; done").status == 0)
    let run = try pull("device", from: "site", "--platform", "iOS")
    if run.status != 0 { #expect([3, 7].contains(run.status), "\(run.errors)") }
    #expect(try run.status == 0 || file() == "one")
    #expect(server.requests.reduce(0) { $0 + $1.byteCount } < 64 << 20, "it was not read")
    try serve("good", puttingAside: "endless")
    #expect(try pull().status == 0)
    try expectGoesOn(after: "two")
  }
}
