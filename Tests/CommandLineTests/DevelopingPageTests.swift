#if Serving
  import Foundation
  import Testing

  /// Runs the commands of `Docs/Developing.md`.
  @Suite struct DevelopingPageTests {
    let playground = try! Playground()

    private static let docs = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("Docs")

    private static func page() throws -> String {
      try String(contentsOf: docs.appendingPathComponent("Developing.md"), encoding: .utf8)
    }

    /// The commands of the page. One shell runs them all: the server is a job of it.
    private static func script() throws -> String {
      try page().components(separatedBy: "```sh\n").dropFirst().map {
        String($0.prefix(upTo: $0.range(of: "```")?.lowerBound ?? $0.endIndex))
      }.joined(separator: "\n")
    }

    @Test func theCommandsWork() throws {
      let port = try WebServer.freePort()
      let program = packstoreURL.deletingLastPathComponent().path
      let data = "\(playground.path)/data"
      // The server ends after any failure. Steps with `certutil`, which is in a separate package, are skipped without
      // it.
      let setting = """
        set -e; export PATH='\(program)':"$PATH" XDG_DATA_HOME='\(data)'
        trap '[ -z "$server" ] || kill -KILL "$server" 2>/dev/null || true' EXIT
        command -v certutil >/dev/null || certutil() { :; }

        """
      // The server publishes a changed archive in the background, and serves the previous version until then.
      let copy = "cp Game-2.pack Game.pack\n",
        manifest = "curl -sS --cacert authority.pem https://localhost:8443/manifest"
      let script = try Self.script()
        .replacing(copy, with: copy + "until \(manifest) | grep -q '\"version\": 2'; do :; done\n")
        .replacing("8443", with: "\(port)")
      #expect(script.contains("until "))
      #expect(script.contains("certutil -A") && script.contains("packstore serve Game.pack"))
      let run = try playground.boundedShell(setting + script)
      #expect(run.status == 0, "\(run.output)\(run.errors)")
      #expect(run.output.contains("\na cave\n") && run.output.contains("a second cave\n"), "\(run.output)")
      #expect(run.output.contains("next: packstore pull Packs https://localhost:\(port)/site --ca"))
      #expect(run.output.contains("\"id\": \"Game\""), "the manifest")
      #expect(try playground.text("page.html").contains("<h2>Packs</h2>"))
      #expect(try playground.text("authority.pem").hasPrefix("-----BEGIN CERTIFICATE-----"))
    }

    @Test func thePictureIsThere() throws {
      let picture = try #require(try Self.page().firstMatch(of: /!\[[^\]]+\]\(([^)]+)\)/)).output.1
      let bytes = try Data(contentsOf: Self.docs.appendingPathComponent(String(picture)))
      #expect(bytes.starts(with: [0x89, 0x50, 0x4e, 0x47]))
    }
  }
#endif
