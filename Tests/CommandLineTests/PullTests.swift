import Foundation
import Testing

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// `pull` from folders and from servers that others made.
@Suite struct PullTests {
  let playground = try! Playground()

  /// Makes a site `web/site` of a folder `folder`, signed by the key in `key`.
  func publish(_ folder: String = "folder", pack: String = "Game", arguments: [String] = []) throws {
    try playground.makeFolder("web")
    let added = try playground.packstore("add", "origin", folder, "--pack", pack, "-q")
    try #require(added.status == 0, "\(added.errors)")
    let published = try playground.packstore(["publish", "origin", "web/site", "--key", "key", "-q"] + arguments)
    try #require(published.status == 0, "\(published.errors)")
  }

  /// Makes a folder of many files, some of them large.
  func writeFolder() throws {
    for number in 0..<200 {
      try playground.write(noise(500 + 37 * number, seed: UInt64(number)), to: "folder/small/\(number)")
    }
    for number in 0..<6 {
      try playground.write(noise(700_000, seed: 1000 + UInt64(number)), to: "folder/large/\(number)")
    }
    try playground.write(String(repeating: "All work and no play. ", count: 50_000), to: "folder/text")
  }

  /// Expects that a store has all bytes of the folder.
  func expectWhole(_ store: String = "store", pack: String = "Game", _ folder: String = "folder") throws {
    let verified = try playground.packstore("verify", store, "--deep", "-q")
    #expect(verified.status == 0, "\(verified.errors)")
    let target = "extracted-\(UUID().uuidString)"
    #expect(try playground.packstore("extract", store, target, "--pack", pack, "-q").status == 0)
    let difference = try playground.shell("diff -r \(folder) \(target)")
    #expect(difference.status == 0, "\(difference.output)")
    try playground.remove(target)
    #expect(playground.tree("\(store)/incoming").filter { !$0.hasSuffix("/") } == [], "nothing is left of the pull")
  }

  @discardableResult
  func pull(_ arguments: String...) throws -> NSDictionary {
    let run = try playground.packstore(["pull", "store"] + arguments + ["--json"])
    try #require(run.status == 0, "\(run.errors)")
    return try run.json
  }

  func refuses(_ arguments: String..., saying text: String, status: Int32 = 1) throws {
    let run = try playground.packstore(["pull", "store"] + arguments)
    #expect(run.status == status)
    #expect(run.errors.hasPrefix("packstore: ") && run.errors.contains(text), "\(run.errors)")
  }

  func pack(_ report: NSDictionary, _ index: Int = 0) throws -> NSDictionary {
    try #require((report["packs"] as? [NSDictionary])?[index])
  }

  // MARK: - Servers

  @Test func nginxServesRanges() throws {
    try writeFolder()
    try publish()
    let server = try WebServer.nginx(playground, serving: "web")
    let first = try pull("\(server.url)/site")
    #expect(try pack(first)["outcome"] as? String == "updated")
    try expectWhole()
    let wire = first["wire_bytes"] as! Int
    #expect(first["requests"] as! Int == server.requests.count)
    #expect(wire == server.requests.reduce(0) { $0 + $1.byteCount }, "the report tells what came")

    // Nothing changed: the root alone is read.
    let second = try pull("\(server.url)/site")
    #expect(try pack(second)["outcome"] as? String == "unchanged")
    #expect(second["requests"] as! Int == 1)

    // One file of many.
    try playground.write(noise(9_000, seed: 77), to: "folder/small/100")
    try publish()
    let third = try pull("\(server.url)/site")
    #expect((third["wire_bytes"] as! Int) < wire / 10)
    #expect(try pack(third)["from"] as? Int == 1 && pack(third)["to"] as? Int == 2)
    try expectWhole()
    #expect(server.requests.allSatisfy { [200, 206].contains($0.status) })
  }

  @Test func pythonHasNoRanges() throws {
    try writeFolder()
    try publish()
    let server = try WebServer.python(playground, serving: "web")
    try pull("\(server.url)/site")
    try expectWhole()
    let paths = server.pythonPaths
    #expect(paths.count == Set(paths).count, "each file was read once: \(paths)")
    try playground.write(noise(9_000, seed: 77), to: "folder/small/100")
    try publish()
    try pull("\(server.url)/site")
    try expectWhole()
  }

  /// What came by a server with ranges, one without, and from a folder is the same, byte for byte.
  @Test func allWaysLeadToTheSameStore() throws {
    try writeFolder()
    try publish()
    let nginx = try WebServer.nginx(playground, serving: "web"),
      python = try WebServer.python(playground, serving: "web")
    var listings: [[String]] = []
    for (index, site) in ["\(nginx.url)/site", "\(python.url)/site", "web/site", "file://\(playground.path)/web/site"]
      .enumerated()
    {
      let run = try playground.packstore("pull", "store\(index)", site, "-q")
      #expect(run.status == 0 && run.errors == "", "\(site): \(run.errors)")
      try expectWhole("store\(index)")
      listings.append(playground.tree("store\(index)/segments"))
    }
    #expect(listings.allSatisfy { $0 == listings[0] && !$0.isEmpty })
  }

  @Test func aSlowServerIsNoTrouble() throws {
    try playground.write(noise(400_000, seed: 1), to: "folder/a")
    try publish()
    let server = try WebServer.nginx(playground, serving: "web", "limit_rate 2m; keepalive_requests 2;")
    try pull("\(server.url)/site")
    try expectWhole()
  }

  @Test func redirectionsAndErrors() throws {
    try playground.write("x", to: "folder/a")
    try publish()
    let server = try WebServer.nginx(
      playground, serving: "web",
      """
      location /old/ { rewrite ^/old/(.*)$ http://127.0.0.1:$server_port/site/$1 permanent; }
      location /closed/ { return 403; }
      """)
    try refuses("\(server.url)/closed", saying: "403", status: 3)
    try refuses("\(server.url)/nothing", saying: "not a site", status: 3)
    try refuses("nowhere", saying: "'nowhere': the folder does not exist", status: 3)
    try refuses("ftp://127.0.0.1/", saying: "not an http or https URL", status: 2)
    try refuses("http://me:secret@127.0.0.1:1/", saying: "Connection refused", status: 3)
    try pull("\(server.url)/old/")
    try expectWhole()
  }

  @Test func asksTheProxy() throws {
    try playground.write("x", to: "folder/a")
    try publish()
    // A proxy receives whole URLs; nginx uses only their path.
    let server = try WebServer.nginx(playground, serving: "web")
    let run = try playground.shell(
      """
      http_proxy=\(server.url) packstore pull store http://packs.invalid/site -q || exit 9
      http_proxy=\(server.url) no_proxy=packs.invalid packstore pull store http://packs.invalid/site -q --json
      """)
    #expect(run.status == 3, "without the proxy there is no such host")
    try expectWhole()
  }

  /// By https, from a server whose certificate is known only to clients that were given it.
  @Test func certificatesAreChecked() throws {
    try playground.write("x", to: "folder/a")
    try publish()
    let made = try playground.shell(
      """
      openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost \
        -addext subjectAltName=IP:127.0.0.1,DNS:localhost -keyout tls.key -out tls.pem
      """)
    try #require(made.status == 0, "\(made.errors)")
    let folder = playground.path
    let server = try WebServer.nginx(
      playground, serving: "web",
      "ssl_certificate \(folder)/tls.pem; ssl_certificate_key \(folder)/tls.key;", hasTLS: true)
    let site = "https://localhost:\(server.port)/site"
    let stranger = try playground.packstore("pull", "store", site)
    #expect(stranger.status == 3 && stranger.errors.lowercased().contains("certificate"), "\(stranger.errors)")
    // The server answers 400 to a request without TLS, or closes the connection.
    let plain = try playground.packstore("pull", "store", site.replacing("https:", with: "http:"))
    #expect(
      plain.status == 3 && plain.errors.contains("the server requires TLS") && plain.errors.contains("use 'https://"))
    let known = try playground.shell("SSL_CERT_FILE=tls.pem packstore pull store \(site) --json")
    #expect(known.status == 0, "\(known.errors)")
    try expectWhole()
    let other = try playground.shell("SSL_CERT_FILE=tls.pem packstore pull store https://127.0.0.2:\(server.port)/site")
    #expect(other.status == 3, "another name than the certificate's")
    let none = try playground.shell("SSL_CERT_FILE=folder/a packstore pull store \(site)")
    #expect(
      none.status == 1 && none.errors.contains("not a PEM file of trusted certificates (--ca or SSL_CERT_FILE)"))
  }

  // MARK: - Trust

  @Test func keysArePinned() throws {
    try playground.write("x", to: "folder/a")
    try publish()
    let first = try playground.packstore("pull", "store", "web/site")
    #expect(first.status == 0)
    #expect(first.errors.contains("is trusted from now on"))
    let key = try #require(first.errors.firstMatch(of: /[A-Za-z0-9+\/]{43}=/)).output
    #expect(try playground.packstore("pull", "store", "web/site", "--trust", String(key)).errors == "")
    #expect(try playground.packstore("pull", "store", "web/site").errors == "", "it is known now")
    #expect(try playground.text("store/trust").contains(key))

    // Another publisher's site takes its place.
    try playground.remove("web/site")
    for key in ["key", "key-root"] { try playground.remove(key) }
    try publish()
    try refuses("web/site", saying: "another", status: 4)
    try refuses("web/site", "--trust", String(key), saying: "not by the given key", status: 4)
    try refuses("web/site", "--allow-unsigned", saying: "another", status: 4)
    try refuses("web/site", "--trust", "xyz", saying: "44 characters", status: 2)
    let wrong = try playground.packstore("keygen", "key").output.firstMatch(of: /[A-Za-z0-9+\/]{43}=/)!.output
    try refuses("web/site", "--trust", String(wrong), saying: "packstore trust store forget ", status: 4)
    let theirs = try playground.packstore("keygen", "other").output.firstMatch(of: /[A-Za-z0-9+\/]{43}=/)!.output
    try refuses("web/site", "--trust", String(theirs), saying: "not by the given key", status: 4)
  }

  @Test func rootsDoNotGoBack() throws {
    try playground.write("x", to: "folder/a")
    try publish()
    let old = try playground.read("web/site/root")
    try playground.write("y", to: "folder/a")
    try publish()
    try pull("web/site")
    try playground.write(old, to: "web/site/root")
    let lagging = try playground.packstore("pull", "store", "web/site", "--json")
    #expect(try lagging.status == 0 && lagging.json["stale"] as? Bool == true)
    #expect(try playground.packstore("pull", "store", "web/site").errors.contains("mirror may be out of date"))
    #expect(try playground.packstore("cat", "store", "a").output == "y")
  }

  @Test func signaturesAreChecked() throws {
    try playground.write("x", to: "folder/a")
    try publish()
    var root = try playground.read("web/site/root")
    root[root.count - 70] ^= 1
    try playground.write(root, to: "web/site/root")
    try refuses("web/site", saying: "signature", status: 4)
    try refuses("web/site", "--allow-unsigned", saying: "signature", status: 4)
    #expect(!playground.exists("store/trust"), "nothing of it is believed")
  }

  // MARK: - Damage

  /// Each file of a site, damaged: an error that names it, and no store that shows any of it.
  @Test func damageIsNamed() throws {
    try writeFolder()
    try publish()
    var names = 0
    for file in playground.tree("web/site") where file.contains("/") && !file.hasSuffix("/") {
      guard ["frames/", "segments/", "versions/"].contains(where: file.hasPrefix) else { continue }
      let whole = try playground.read("web/site/\(file)")
      var bytes = whole
      bytes[bytes.count / 3] ^= 4
      try playground.write(bytes, to: "web/site/\(file)")
      let run = try playground.packstore("pull", "store-\(names)", "web/site")
      if run.status == 0 {
        // Not every byte of a segment is fetched: it has tables of its own.
        #expect(file.hasPrefix("segments/"))
        try expectWhole("store-\(names)")
      } else {
        #expect(run.status == 7 && run.errors.contains(file), "\(file): \(run.errors)")
        #expect(try playground.packstore("log", "store-\(names)", "Game").status == 1)
        names += 1
      }
      try playground.write(whole, to: "web/site/\(file)")
    }
    #expect(names >= 4, "a manifest, two tables, data")
    try pull("web/site")
    try expectWhole()
  }

  @Test func missingFilesAreNamed() throws {
    try playground.write("x", to: "folder/a")
    try publish()
    for file in playground.tree("web/site/versions") {
      try playground.remove("web/site/versions/\(file)")
      try refuses("web/site", saying: "/web/site/versions/\(file)", status: 3)
    }
  }

  // MARK: - Packs

  @Test func choosesPacks() throws {
    for pack in ["A", "B"] {
      try playground.write(pack, to: "folder\(pack)/\(pack)")
      try publish("folder\(pack)", pack: pack)
    }
    try refuses("web/site", "A", "C", saying: "the pack 'C' is not offered")
    #expect(try pull("web/site", "B")["packs"] as! [NSDictionary] != [])
    #expect(try playground.packstore("ls", "store").lines == ["B"])
    #expect(try pull("web/site")["others"] as? [String] == ["A"])
    #expect(try playground.packstore("ls", "store").lines == ["B"])
    try pull("web/site", "--all")
    #expect(try playground.packstore("ls", "store").lines == ["A", "B"])
  }

  @Test func heldPacksStay() throws {
    try playground.write("1", to: "folder/a")
    try publish()
    try pull("web/site")
    try playground.write("2", to: "folder/a")
    try publish()
    try pull("web/site")
    try playground.packstore("rollback", "store", "Game")
    try playground.write("3", to: "folder/a")
    try publish()
    let run = try playground.packstore("pull", "store", "web/site")
    #expect(run.status == 0)
    #expect(run.errors.contains("Game is held at version 1"))
    #expect(try playground.packstore("cat", "store", "a").output == "1")
    try playground.packstore("unpin", "store", "Game")
    try pull("web/site")
    #expect(try playground.packstore("cat", "store", "a").output == "3")
  }

  // MARK: - Dry runs

  @Test func dryRunSaysWhatWouldBeFetched() throws {
    try writeFolder()
    try publish()
    let plan = try pull("web/site", "--dry-run")
    #expect(!playground.exists("store"), "no store is made")
    #expect(plan["dry_run"] as? Bool == true)
    try pull("web/site")
    try playground.write(noise(900_000, seed: 5), to: "folder/large/1")
    try publish()
    let update = try pull("web/site", "--dry-run")
    #expect(try playground.packstore("log", "store", "Game").output.contains("\n") && pack(update)["from"] as? Int == 1)
    let remaining = try pack(update)["remaining_bytes"] as! Int
    let done = try pull("web/site")
    #expect(try pack(done)["total_bytes"] as! Int == remaining)
    #expect(remaining >= 850_000 && remaining < 2_000_000)
    try expectWhole()
  }

  // MARK: - Interruptions

  @Test func controlCCanBeGoneOnWith() throws {
    try playground.write(noise(14_000_000, seed: 1), to: "folder/a")
    try publish()
    // This is more than can be in flight, so the store has received some of it.
    let server = try WebServer.gated(playground, serving: "web", byteCount: 5_500_000), errors = Pipe()
    let process = try playground.start(
      ["pull", "store", "\(server.url)/site"], output: .nullDevice, errors: errors.fileHandleForWriting)
    try errors.fileHandleForWriting.close()
    server.waitUntilHeld { process.isRunning }
    kill(process.processIdentifier, SIGINT)
    let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 130)
    #expect(text.hasSuffix("packstore: cancelled; run the same command again to continue\n"))
    try server.openGate()
    let rest = try pack(pull("\(server.url)/site"))
    #expect(rest["resumed_bytes"] as! Int > 0)
    try expectWhole()
  }

  /// Both want the same version: one fetches, the other waits and finds it there.
  @Test func twoProcessesFetchOnce() throws {
    try playground.write(noise(4_000_000, seed: 1), to: "folder/a")
    try publish()
    let server = try WebServer.nginx(playground, serving: "web")
    let processes = try (0..<2).map { _ in
      try playground.start(
        ["pull", "store", "\(server.url)/site", "--limit-rate", "20M"], output: .nullDevice, errors: .nullDevice)
    }
    for process in processes {
      process.waitUntilExit()
      #expect(process.terminationStatus == 0)
    }
    try expectWhole()
    let frames = server.requests.filter { $0.range != nil && $0.path.hasPrefix("/site/segments/") }
    #expect(frames.reduce(0) { $0 + $1.byteCount } < 6_000_000)
  }
}
