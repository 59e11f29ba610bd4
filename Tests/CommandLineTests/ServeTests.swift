import Foundation
import Testing

#if Serving
  #if canImport(Darwin)
    import Darwin
  #elseif canImport(Musl)
    import Musl
  #else
    import Glibc
  #endif

  /// `packstore serve` with real clients.
  @Suite struct ServeTests {
    let playground = try! Playground()

    /// An archive of a pack, `Tutorial.pack`, and its content below `Tutorial`.
    private func makeArchive(_ seed: UInt64 = 0, version: Int = 1) throws {
      try playground.write(noise(400_000, seed: 1), to: "Tutorial/same.bin")
      try playground.write(noise(90_000, seed: 10 + seed), to: "Tutorial/changing.bin")
      try playground.write("hello \(version)\n", to: "Tutorial/hello.txt")
      try playground.succeed("add", "work", "Tutorial", "--pack", "Tutorial")
      try? playground.remove("next.pack")
      try playground.succeed("export", "work", "Tutorial", "-o", "next.pack", "--key", "\(playground.path)/site.key")
      _ = try playground.shell("mv next.pack Tutorial.pack")
    }

    private func serve(_ arguments: String...) throws -> ServeProcess { try serve(arguments) }

    private func serve(_ arguments: [String]) throws -> ServeProcess { try ServeProcess(playground, arguments) }

    /// Clients that mean a server harm.
    private static let clients = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
      "../Serving/hostile-clients"
    ).standardizedFileURL.path

    /// The status, version and bytes of a request, as curl reports them.
    private func curl(_ server: ServeProcess, _ words: String, authority: String? = nil) throws -> (String, Run) {
      let run = try playground.boundedShell(
        "curl -sS -o body -w '%{http_code} %{http_version} %{size_download}' --cacert '\(authority ?? server.authority)' "
          + words.replacing("URL", with: server.url).replacing("PORT", with: server.port))
      return (run.output, run)
    }

    @Test func curlFetchesRangesByBothVersions() throws {
      try makeArchive()
      let server = try serve("Tutorial.pack")
      let archive = try playground.read("Tutorial.pack")
      #expect(try curl(server, "--http1.1 URL/packs/Tutorial").0 == "200 1.1 \(archive.count)")
      #expect(try playground.read("body") == archive)
      #expect(try curl(server, "--http2 URL/packs/Tutorial").0 == "200 2 \(archive.count)")
      #expect(try playground.read("body") == archive)
      for version in ["--http1.1", "--http2"] {
        let number = version == "--http2" ? "2" : "1.1"
        #expect(try curl(server, "\(version) -r 70000-199999 URL/packs/Tutorial").0 == "206 \(number) 130000")
        #expect(try playground.read("body") == Array(archive[70_000..<200_000]))
        #expect(try curl(server, "\(version) -r \(archive.count)- URL/packs/Tutorial").0.hasPrefix("416 \(number)"))
        #expect(try curl(server, "\(version) -r 0-1,5-6 URL/packs/Tutorial").0 == "200 \(number) \(archive.count)")
        #expect(try curl(server, "\(version) -I URL/packs/Tutorial").0.hasPrefix("200 \(number)"))
        #expect(try curl(server, "\(version) -X POST -d x URL/").0.hasPrefix("405 \(number)"))
        #expect(try curl(server, "\(version) -H 'Host: evil.example' URL/").0.hasPrefix("421 \(number)"))
        #expect(try curl(server, "\(version) --path-as-is 'URL/site/../../../etc/passwd'").0.hasPrefix("400 \(number)"))
        #expect(try curl(server, "\(version) --path-as-is 'URL/site/%2e%2e/root'").0.hasPrefix("400 \(number)"))
      }
      // An interrupted download goes on where it was.
      try playground.write(Array(archive[..<100_000]), to: "part")
      let resumed = try playground.boundedShell(
        "curl -sS -C - -o part -w '%{http_code}' --cacert '\(server.authority)' \(server.url)/packs/Tutorial")
      #expect(resumed.output == "206")
      #expect(try playground.read("part") == archive)
      #expect(server.prints { $0["protocol_name"] as? String == "HTTP/2" && $0["status"] as? Int == 206 })
      #expect(server.prints { $0["range"] as? String == "bytes=100000-" })
    }

    @Test func wgetAndOpensslBelieveTheAuthority() throws {
      try makeArchive()
      let server = try serve("Tutorial.pack")
      let wget = try playground.boundedShell(
        "wget -q --ca-certificate='\(server.authority)' -O fetched \(server.url)/packs/Tutorial")
      #expect(wget.status == 0, "\(wget.errors)")
      #expect(try playground.read("fetched") == playground.read("Tutorial.pack"))
      // By address, which OpenSSL checks against the constraints of the authority.
      #expect(try curl(server, "https://127.0.0.1:PORT/manifest").0.hasPrefix("200"))
      let chain = try playground.boundedShell(
        "openssl s_client -connect 127.0.0.1:\(server.port) -servername localhost -showcerts </dev/null 2>/dev/null | "
          + "openssl x509 > leaf.pem && openssl verify -purpose sslserver -CAfile '\(server.authority)' leaf.pem")
      #expect(chain.output.contains("OK"), "\(chain.output)\(chain.errors)")
      // Neither another name nor a certificate below it.
      let sha1 = try playground.boundedShell("openssl x509 -in '\(server.authority)' -noout -text")
      #expect(sha1.output.contains("X509v3 Name Constraints: critical") && sha1.output.contains("pathlen:0"))
    }

    @Test func badClientsAreRefused() throws {
      try makeArchive()
      let server = try serve("Tutorial.pack")
      try playground.write("", to: "empty.pem")
      let unknown = try playground.boundedShell("curl -sS \(server.url)/ -o body")
      #expect(unknown.status == 60, "an authority that is not trusted")
      #expect(try playground.boundedShell("curl -sS --tls-max 1.1 -k \(server.url)/ -o body").status != 0)
      #expect(try playground.boundedShell("curl -sS http://localhost:\(server.port)/ -o body").status != 0)
      let plain = try playground.packstore("pull", "client", "http://localhost:\(server.port)/")
      #expect(plain.status == 3 && plain.errors.contains("use 'https://localhost:\(server.port)'"), "\(plain.errors)")
      // The site is not at the root.
      let top = try playground.packstore("pull", "client", "\(server.url)/", "--ca", server.authority)
      #expect(top.status == 3 && top.errors.contains("use '\(server.url)/site'"), "\(top.errors)")
      _ = try playground.boundedShell(
        "head -c 100000 /dev/urandom | openssl s_client -connect 127.0.0.1:\(server.port) -no_ign_eof")
      _ = try playground.boundedShell(
        "python3 -c \"import socket; s=socket.create_connection(('127.0.0.1',\(server.port))); s.sendall(b'\\x16\\x03\\x01\\xff\\xff'+b'A'*70000)\""
      )
      let head = String(repeating: "a", count: 20_000)
      #expect(try curl(server, "--http1.1 -H 'X: \(head)' URL/").0.hasPrefix("400"))
      let many = (0..<200).map { "-H 'X-\($0): y'" }.joined(separator: " ")
      #expect(try curl(server, "--http1.1 \(many) URL/").0.hasPrefix("400"))
      #expect(try curl(server, "--http2 -H 'X: \(head)' URL/").1.status != 0, "its connection or stream ends")
      try playground.write([UInt8](repeating: 0, count: 3_000_000), to: "large")
      #expect(try curl(server, "--http1.1 -T large URL/").0.hasPrefix("405"))
      #expect(try curl(server, "-X GET --data-binary @large URL/").0.hasPrefix("413"))
      #expect(try curl(server, "URL/manifest").0.hasPrefix("200"), "the server is up")
    }

    /// Floods and resets of HTTP/2, slow clients, endless heads: the server still answers others, and its memory is
    /// bounded.
    @Test func floodsDoNoHarm() throws {
      try makeArchive()
      try playground.write(noise(6_000_000, seed: 4), to: "Large/noise.bin")
      try playground.succeed("add", "work", "Large", "--pack", "Large")
      try playground.succeed("export", "work", "Large", "-o", "Large.pack", "--key", "\(playground.path)/site.key")
      let server = try serve("Tutorial.pack", "Large.pack")
      let run = try playground.boundedShell(
        "python3 '\(Self.clients)' \(server.port) '\(server.authority)' --slow 180 --pid \(server.pid)")
      #expect(run.status == 0, "\(run.output)\(run.errors)")
      #expect(run.output.contains("slow clients: 180"), "\(run.output)")
      #expect(server.isRunning)
      #expect(try curl(server, "--http2 URL/manifest").0.hasPrefix("200 2"))
    }

    @Test func ourOwnClientPullsAndUpdates() throws {
      try makeArchive()
      let server = try serve("Tutorial.pack")
      let pull = ["pull", "Packs", "\(server.url)/site", "--ca", server.authority, "--trust", server.key]
      let first = try playground.packstore(pull)
      #expect(first.status == 0, "\(first.errors)")
      #expect(try playground.packstore("cat", "Packs", "hello.txt").output == "hello 1\n")
      try makeArchive(1, version: 2)
      // The server publishes a changed archive in the background, and serves the previous version until then.
      while try !curl(server, "URL/manifest").1.output.isEmpty, try !playground.text("body").contains("\"version\": 2")
      {}
      let second = try playground.packstore(pull)
      #expect(second.status == 0, "\(second.errors)")
      #expect(try playground.packstore("cat", "Packs", "hello.txt").output == "hello 2\n")
      let status = try curl(server, "URL/status")
      #expect(status.0.hasPrefix("200"))
      #expect(
        try String(decoding: playground.read("body"), as: UTF8.self).contains(#""made_at":"2"#),
        "times are in UTC, as elsewhere")
      let totals = try #require(
        (JSONSerialization.jsonObject(with: Data(playground.read("body"))) as? NSDictionary)?["totals"] as? NSDictionary
      )
      let sent = totals["pack_bytes"] as? Int ?? 0, whole = totals["whole_bytes"] as? Int ?? 0
      #expect(sent > 490_000 && whole > 980_000 && totals["saved_bytes"] as? Int == whole - sent, "\(totals)")
      #expect(try playground.packstore(["pull", "Other", "\(server.url)/site"]).status == 3, "not trusted")
      #expect(try playground.packstore("verify", "Packs", "--deep").status == 0)
    }

    /// It is not tried again: another attempt would find the same certificate.
    @Test func aServerThatIsNotTrusted() throws {
      try makeArchive()
      let server = try serve("Tutorial.pack")
      let run = try playground.packstore("pull", "device", "\(server.url)/site")
      #expect(run.status == 3)
      #expect(
        run.errors.contains("'\(server.url)/site/root': the server's certificate is not trusted"), "\(run.errors)")
      #expect(run.errors.contains("--ca FILE") && !run.errors.contains("try again"), "\(run.errors)")
    }

    @Test func sitesAndStoresAreServed() throws {
      try makeArchive()
      try playground.succeed("publish", "work", "Site", "--key", "\(playground.path)/site.key")
      let server = try serve("Site", "work")
      #expect(server.ready["sites"] as? [String] == ["\(server.url)/sites/Site"])
      for (store, site) in [("A", "site"), ("B", "sites/Site")] {
        let run = try playground.packstore("pull", store, "\(server.url)/\(site)", "--ca", server.authority)
        #expect(run.status == 0, "\(run.errors)")
        #expect(try playground.packstore("cat", store, "hello.txt").output == "hello 1\n")
      }
    }

    @Test func itEndsWhenAskedTo() throws {
      try makeArchive()
      let server = try serve("Tutorial.pack")
      #expect(try curl(server, "URL/").0.hasPrefix("200"))
      server.interrupt()
      #expect(server.end() == 0, "\(server.warnings)")
      #expect(try playground.boundedShell("curl -sS \(server.url)/").status == 7)
      // The same authority serves again.
      let again = try serve("Tutorial.pack")
      #expect(again.ready["is_new_authority"] as? Bool == false)
      #expect(try curl(again, "URL/", authority: server.authority).0.hasPrefix("200"))
    }

    /// Every line conforms to `Docs/schemas/serve.json`, and every property of the schema is printed.
    @Test func linesAreAsTheSchemaSays() throws {
      try makeArchive()
      let server = try serve("Tutorial.pack")
      _ = try curl(server, "URL/packs/Tutorial -r 0-5")
      _ = try playground.boundedShell(
        "curl -sS --max-filesize 5 --cacert '\(server.authority)' \(server.url)/packs/Tutorial -o body")
      server.interrupt()
      _ = server.end()
      let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
        "../../Docs/schemas/serve.json")
      let schema = JSONSchema(root: try JSON(Data(contentsOf: file)))
      var seen: Set<String> = []
      for line in server.lines {
        let faults = schema.faults(of: try JSON(line.utf8), seen: &seen)
        #expect(faults.isEmpty, "\(line)")
      }
      #expect(schema.described().subtracting(seen).subtracting(["sites[]", "failure"]).isEmpty)
    }

    /// Makes an archive that is larger than the buffers of connections.
    private func makeLargeArchive() throws {
      // Bytes that do not compress, the same each time, and sooner than by `noise`.
      let made = try playground.boundedShell(
        """
        mkdir Large
        zero=00000000000000000000000000000000
        openssl enc -aes-128-ctr -K $zero -iv $zero -in /dev/zero | head -c 30000000 > Large/noise.bin
        """)
      #expect(made.status == 0, "\(made.errors)")
      try playground.succeed("add", "work", "Large", "--pack", "Large", "--level", "1")
      try playground.succeed(
        "export", "work", "Large", "-o", "Large.pack", "--key", "\(playground.path)/site.key", "--level", "1")
    }

    /// A transfer that is under way comes to its end, by each protocol: its client reads on when nothing is taken in any more.
    @Test(arguments: [["--http1.1"], ["--http2"], ["--http1.1", "--http"]])
    func transfersEndBeforeTheServer(protocols: [String]) throws {
      try makeLargeArchive()
      let server = try serve(["Large.pack", "--grace", "900"] + protocols.dropFirst())
      let run = try playground.boundedShell(
        """
        set -e
        curl() { command curl -sS --max-time 900 --cacert '\(server.authority)' \(protocols[0]) "$@"; }
        mkfifo body
        curl -o - \(server.url)/packs/Large > body & client=$!
        exec 3< body
        dd bs=4096 count=1 <&3 > slow 2>/dev/null
        kill -TERM \(server.pid)
        # The client keeps reading: the server closes clients that read nothing for 30 seconds.
        while curl -o /dev/null \(server.url)/ 2>/dev/null; do dd bs=4096 count=8 <&3 >> slow 2>/dev/null; done
        kill -0 \(server.pid)
        cat <&3 >> slow
        wait $client
        """)
      #expect(run.status == 0, "\(run.errors)")
      #expect(try playground.read("slow") == playground.read("Large.pack"))
      #expect(server.end() == 0)
      #expect(server.prints { $0["target"] as? String == "/packs/Large" && $0["failure"] == nil })
      #expect(server.warnings.isEmpty, "\(server.warnings)")
    }

    /// Unfinished transfers are cut off then.
    @Test func theEndHasALimit() throws {
      try makeLargeArchive()
      let server = try serve("Large.pack", "--http", "--grace", "0")
      let client = Process(), pipe = Pipe()
      client.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      client.arguments = ["curl", "-sS", "--max-time", "900", "\(server.url)/packs/Large"]
      client.standardOutput = pipe
      client.standardError = FileHandle.nullDevice
      try client.run()
      // Nothing more of it is read.
      #expect(try pipe.fileHandleForReading.read(upToCount: 100)?.count == 100)
      server.interrupt()
      #expect(server.end() == 0)
      kill(client.processIdentifier, SIGKILL)
      client.waitUntilExit()
      #expect(server.prints { $0["failure"] as? String == "the client closed the connection" })
    }

    /// A program inherits the blocked signals of its parent.
    @Test func itEndsWhereSignalsAreBlocked() throws {
      try makeArchive()
      let run = try playground.boundedShell(
        """
        export XDG_DATA_HOME="$PWD/data"
        python3 -c '
        import os, signal, sys
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
        os.execvp(sys.argv[1], sys.argv[1:])' packstore serve Tutorial.pack --port 0 > log & server=$!
        trap 'kill -KILL $server 2>/dev/null' EXIT
        until grep -q ^next log; do kill -0 $server || exit 9; done
        kill -TERM $server
        wait $server
        """)
      #expect(run.status == 0, "\(run.errors)")
    }

    @Test func anIdentityOfOnesOwn() throws {
      try makeArchive()
      let made = try playground.boundedShell(
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key.pem -out cert.pem -days 2 "
          + "-subj /CN=dev -addext subjectAltName=DNS:localhost,DNS:dev.test")
      #expect(made.status == 0, "\(made.errors)")
      let server = try serve("Tutorial.pack", "--identity", "cert.pem", "key.pem")
      #expect(server.ready["authority"] == nil)
      #expect(try curl(server, "URL/", authority: "cert.pem").0.hasPrefix("200"))
      #expect(
        try curl(server, "--resolve dev.test:PORT:127.0.0.1 https://dev.test:PORT/", authority: "cert.pem").0
          .hasPrefix("200"))
      try playground.succeed("keygen", "other.key")
      #expect(try playground.packstore("serve", "Tutorial.pack", "--identity", "cert.pem", "other.key").status == 7)
    }

    @Test func withoutTLS() throws {
      try makeArchive()
      let server = try serve("Tutorial.pack", "--http")
      #expect(server.url.hasPrefix("http://localhost:"))
      let run = try playground.packstore("pull", "Packs", "\(server.url)/site")
      #expect(run.status == 0, "\(run.errors)")
      #expect(
        try playground.boundedShell("curl -sS \(server.url)/manifest").output.contains(
          "\"url\": \"\(server.url)/packs/Tutorial\""))
    }

    @Test func wrongUse() throws {
      try makeArchive()
      let environment = ["XDG_DATA_HOME": "\(playground.path)/data"]
      func serve(_ words: String...) throws -> Run { try playground.run(["serve"] + words, environment) }
      #expect(try serve().status == 2)
      #expect(try serve("Tutorial.pack", "--print-authority").status == 2)
      #expect(try serve("Tutorial.pack", "--identity", "one.pem").status == 2)
      #expect(try serve("nothing.pack").status == 1)
      #expect(try serve("Tutorial").errors.contains("neither a store nor a site"))
      let printed = try serve("--print-authority")
      #expect(printed.status == 0 && printed.output.hasPrefix("-----BEGIN CERTIFICATE-----"))
      #expect(try serve("--print-authority").output == printed.output)
      #expect(try serve("--print-authority", "--host", "127.0.0.1").output == printed.output)
      // The authority of a server with the same options.
      try playground.write(try serve("--print-authority", "--host", "192.0.2.7", "--name", "dev.test").output, to: "it")
      let text = try playground.boundedShell("openssl x509 -noout -text -in it").output
      #expect(text.contains("IP:192.0.2.7/255.255.255.255") && text.contains("DNS:dev.test"), "\(text)")
      let server = try ServeProcess(playground, ["Tutorial.pack"])
      let taken = try serve("Tutorial.pack", "--port", server.port)
      #expect(taken.status == 6 && taken.errors.contains("--port"), "\(taken.errors)")
      #expect(try serve("Tutorial.pack", "--host", "203.0.113.1").status != 0)
    }
  }
#else
  @Suite struct ServeTests {
    let playground = try! Playground()

    /// A program built without the server reports that, with the way to build it.
    @Test func itSaysThatItIsNotThere() throws {
      try playground.write("", to: "Tutorial.pack")
      let run = try playground.packstore("serve", "Tutorial.pack")
      #expect(run.status == 1 && run.errors.contains("--traits default,Serving"), "\(run.errors)")
    }
  }
#endif
