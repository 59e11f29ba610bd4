#if Delivery
  import Foundation
  import PackStore
  import Synchronization
  import Testing

  @testable import ManagedPacks
  @testable import PackDelivery

  /// U1, U3: files from a real web server: ranges, redirections, passwords.
  @Suite struct UnmanagedHTTPTests {
    /// Records received bytes.
    final class Bytes: FileSink {
      let state = Mutex((bytes: [UInt8](), answers: [FileAnswer](), hosts: [String](), challenges: 0))
      let password: String?
      let stops: Int?

      init(_ bytes: [UInt8] = [], password: String? = nil, stops: Int? = nil) {
        self.password = password
        self.stops = stops
        state.withLock { $0.bytes = bytes }
      }

      func permit(host: String) throws { state.withLock { $0.hosts.append(host) } }
      func answer(_ challenge: FileChallenge) async -> FileChallengeReply {
        state.withLock { $0.challenges += 1 }
        return password.map { .credential(user: "player", password: $0) } ?? .none
      }
      func begin(_ answer: FileAnswer) throws {
        state.withLock { state in
          state.answers.append(answer)
          state.bytes = Array(state.bytes.prefix(answer.offset))
        }
      }
      func take(_ bytes: UnsafeRawBufferPointer) throws {
        let count = state.withLock { state in
          state.bytes += Array(bytes)
          return state.bytes.count
        }
        if let stops, count >= stops { throw CancellationError() }
      }

      var all: [UInt8] { state.withLock { $0.bytes } }
      var answers: [FileAnswer] { state.withLock { $0.answers } }
    }

    private func serve(_ directives: String = "") throws -> (Playground, WebServer, [UInt8]) {
      let playground = Playground()
      let bytes = (0..<300_000).map { UInt8($0 * 7 % 251) }
      let folder = URL(fileURLWithPath: "\(playground.path)/files")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try Data(bytes).write(to: folder.appendingPathComponent("file"))
      return (playground, try WebServer.nginx(playground, serving: "files", directives), bytes)
    }

    /// Present bytes are not fetched again if the file is unchanged; otherwise the file begins again.
    @Test func ranges() async throws {
      let (place, server, bytes) = try serve()
      defer { withExtendedLifetime(place) {} }
      let transport = HTTPFileTransport(), url = "\(server.url)/file"
      let first = Bytes(stops: 1)
      await #expect(throws: CancellationError.self) { try await transport.fetch(FileRequest(url), to: first) }
      let answer = try #require(first.answers.first)
      #expect(answer.offset == 0 && answer.byteCount == bytes.count && answer.validator?.hasPrefix("\"") == true)
      let rest = Bytes(Array(bytes[..<1000]))
      try await transport.fetch(FileRequest(url, offset: 1000, validator: answer.validator), to: rest)
      #expect(rest.all == bytes && rest.answers.map(\.offset) == [1000])
      for (offset, validator) in [(1000, #""other""#), (1000, nil), (bytes.count + 7, answer.validator)] {
        let again = Bytes(Array(bytes.prefix(offset)))
        try await transport.fetch(FileRequest(url, offset: offset, validator: validator), to: again)
        #expect(again.all == bytes && again.answers.last?.offset == 0)
      }
      let missing = Bytes()
      await #expect { try await transport.fetch(FileRequest("\(server.url)/none"), to: missing) } throws: {
        ($0 as? FileFault)?.isTemporary == false
      }
    }

    /// A range that does not specify the length of the file may end before the file.
    @Test func rangeWithoutLengthOfFileBeginsAgain() async throws {
      let (place, server, _) = try serve(
        #"""
        location = /part {
          if ($http_range) { add_header Content-Range "bytes 3-4/*"; return 206 "de"; }
          return 200 "abcdefgh";
        }
        """#)
      defer { withExtendedLifetime(place) {} }
      let sink = Bytes(Array("abc".utf8))
      try await HTTPFileTransport().fetch(
        FileRequest("\(server.url)/part", offset: 3, validator: #""a""#), to: sink)
      #expect(sink.all == Array("abcdefgh".utf8) && sink.answers.map(\.offset) == [0])
    }

    /// Redirections are followed up to a limit, and never to an insecure address.
    @Test func redirections() async throws {
      let (place, server, bytes) = try serve(
        """
        location = /moved { return 302 /file; }
        location = /loop { return 302 /loop; }
        location = /away { return 302 http://example.com/file; }
        location = /nowhere { return 302 ftp://127.0.0.1/file; }
        location = /down { return 503; }
        """)
      defer { withExtendedLifetime(place) {} }
      let transport = HTTPFileTransport(), moved = Bytes()
      try await transport.fetch(FileRequest("\(server.url)/moved", fields: ["X-Key": "a"]), to: moved)
      #expect(moved.all == bytes && moved.state.withLock { $0.hosts } == ["127.0.0.1", "127.0.0.1"])
      for path in ["loop", "away", "nowhere"] {
        let sink = Bytes()
        await #expect { try await transport.fetch(FileRequest("\(server.url)/\(path)"), to: sink) } throws: {
          ($0 as? FileFault).map { !$0.isTemporary && $0.error.code == .badResponse } ?? false
        }
        #expect(!sink.state.withLock { $0.hosts }.contains("example.com"), "nothing is asked of what is not safe")
      }
      await #expect { try await transport.fetch(FileRequest("\(server.url)/down"), to: Bytes()) } throws: {
        ($0 as? FileFault)?.isTemporary == true
      }
    }

    @Test(
      arguments: [
        ("https://a/b", "a"), ("http://127.0.0.1:80/b", "127.0.0.1"), ("http://localhost/", "localhost"),
        ("http://[::1]/b", "::1"), ("http://a/b", nil), ("ftp://a/b", nil), ("https://u:p@a/b", nil), ("https://", nil),
        ("http://127.0.0.1.example.com/", nil), ("http://localhost.example.com/", nil), ("", nil),
      ] as [(String, String?)])
    func locations(url: String, host: String?) { #expect(FileLocation(url)?.host == host) }

    /// A name and a password, asked for once for each refusal, a few times.
    @Test(arguments: [("secret", true, 1), ("wrong", false, 6), (nil, false, 1)] as [(String?, Bool, Int)])
    func challenges(password: String?, comes: Bool, count: Int) async throws {
      let playground = Playground()
      let users = "\(playground.path)/users"
      try Data("player:{PLAIN}secret\n".utf8).write(to: URL(fileURLWithPath: users))
      try FileManager.default.createDirectory(atPath: "\(playground.path)/files", withIntermediateDirectories: true)
      try Data("a film".utf8).write(to: URL(fileURLWithPath: "\(playground.path)/files/file"))
      let server = try WebServer.nginx(
        playground, serving: "files", "auth_basic \"The Player\"; auth_basic_user_file \(users);")
      let sink = Bytes(password: password)
      let fault = await thrown { try await HTTPFileTransport().fetch(FileRequest("\(server.url)/file"), to: sink) }
      #expect((fault == nil) == comes && (sink.all == Array("a film".utf8)) == comes, "\(String(describing: fault))")
      #expect(sink.state.withLock { $0.challenges } == count)
    }

    private func thrown(_ body: () async throws -> Void) async -> (any Error)? {
      do {
        try await body()
        return nil
      } catch {
        return error
      }
    }

    /// U1: a manager fetches a file from the server, and goes on where a process before it was.
    @Test func managerOverHTTP() async throws {
      let (place, server, bytes) = try serve()
      defer { withExtendedLifetime(place) {} }
      let setup = UnmanagedSetup(), folder = try setup.downloads
      let tag = Bytes(stops: 1)
      _ = await thrown { try await HTTPFileTransport().fetch(FileRequest("\(server.url)/file"), to: tag) }
      var record = DownloadRecord(name: "A", url: "\(server.url)/file", group: "g")
      record.validator = tag.answers.first?.validator
      record.totalByteCount = bytes.count
      record.boot = bootID()
      try folder.update { $0.schedule(record, isForeground: false) }
      let part = try PartFile(folder.part(record.id))
      try Array(bytes[..<200_000]).withUnsafeBytes { try part.write($0, at: 0) }
      let taken = Mutex([UInt8]())
      let delegate = TestDelegate(take: { _, url in
        let data = (try? Data(contentsOf: url)) ?? Data()
        taken.withLock { $0 = Array(data) }
      })
      let manager = try setup.manager { options in
        options.transport = HTTPFileTransport()
        options.clock = .system
      }
      manager.delegate = delegate
      await delegate.log.wait(for: 2)
      #expect(taken.withLock { $0 } == bytes, "\(delegate.log.lines)")
    }
  }
#endif
