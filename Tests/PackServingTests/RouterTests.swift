#if Serving
  import HTTPTypes
  import PackAuthoring
  import PackStore
  import Testing

  @testable import PackServer
  @testable import PackServing

  /// Answers to requests: status and fields, without a socket.
  @Suite struct RouterTests {
    /// A request, and its answer. `T` in fields represents the tag of the requested file.
    struct Row {
      let method: HTTPRequest.Method
      let target: String
      let fields: [(HTTPField.Name, String)]
      let host: String?
      let status: Int
      let expected: [HTTPField.Name: String]

      init(
        _ status: Int, _ target: String, _ fields: [(HTTPField.Name, String)] = [], method: HTTPRequest.Method = .get,
        host: String? = "localhost:8443", expecting expected: [HTTPField.Name: String] = [:]
      ) {
        (self.method, self.target, self.fields, self.host) = (method, target, fields, host)
        (self.status, self.expected) = (status, expected)
      }
    }

    /// Ranges of the archive, which has `n` bytes.
    private static func ranges(_ n: UInt64) -> [Row] {
      let archive = "/packs/Tutorial"
      func part(_ range: String, _ from: UInt64, _ to: UInt64) -> Row {
        Row(
          206, archive, [(.range, range)],
          expecting: [.contentRange: "bytes \(from)-\(to)/\(n)", .contentLength: "\(to - from + 1)", .eTag: "T"])
      }
      func whole(_ range: String) -> Row { Row(200, archive, [(.range, range)], expecting: [.contentLength: "\(n)"]) }
      func none(_ range: String) -> Row {
        Row(416, archive, [(.range, range)], expecting: [.contentRange: "bytes */\(n)"])
      }
      return [
        part("bytes=0-0", 0, 0), part("bytes=0-99", 0, 99), part("bytes=100-", 100, n - 1),
        part("bytes=-1", n - 1, n - 1),
        part("bytes=-100", n - 100, n - 1), part("bytes=-99999999999", 0, n - 1), part("bytes=0-99999999999", 0, n - 1),
        part("bytes=\(n - 1)-\(n - 1)", n - 1, n - 1), part("bytes=\(n - 1)-", n - 1, n - 1),
        part("bytes=\(n - 1)-\(n)", n - 1, n - 1), part("BYTES=5-9", 5, 9), part("bytes = 5-9", 5, 9),
        part("bytes= 5-9 ", 5, 9), part("bytes=,5-9,", 5, 9), part("bytes=0-18446744073709551615", 0, n - 1),
        part("bytes=0-99999999999999999999999", 0, n - 1), part("bytes=-99999999999999999999999", 0, n - 1),
        // One of the two exists.
        part("bytes=\(n)-,5-9", 5, 9),
        none("bytes=\(n)-"), none("bytes=\(n)-\(n + 5)"), none("bytes=-0"), none("bytes=99999999999999999999999-"),
        none("bytes=18446744073709551615-18446744073709551615"), none("bytes=\(n)-,\(n + 1)-"),
        // Several, overlapping, out of order: the whole, which costs least.
        whole("bytes=0-1,2-3"), whole("bytes=0-,0-,0-"), whole("bytes=5-9,0-3"), whole("bytes=0-0,-1"),
        whole("bytes=" + (0..<200).map { "\($0)-" }.joined(separator: ",")),
        // No ranges of bytes.
        whole("bytes=9-5"), whole("bytes=a-b"), whole("bytes="), whole("bytes=-"), whole("bytes"), whole("items=0-5"),
        whole("bytes=0x0-0x5"), whole("bytes=+1-5"), whole("bytes=1--5"), whole("bytes=1-5-9"), whole("bytes=0-5;q=1"),
        whole("bytes=٣-٥"), whole(""), whole("=0-5"), whole("bytes=0-1,nonsense"),
      ]
    }

    private static func conditions(_ n: UInt64) -> [Row] {
      let archive = "/packs/Tutorial"
      let range = (HTTPField.Name.range, "bytes=0-9")
      return [
        Row(304, archive, [(.ifNoneMatch, "T")], expecting: [.eTag: "T"]), Row(304, archive, [(.ifNoneMatch, "*")]),
        Row(304, archive, [(.ifNoneMatch, "\"other\", T")]), Row(304, archive, [(.ifNoneMatch, "W/T")]),
        Row(304, archive, [(.ifNoneMatch, "T"), range]),
        Row(304, archive, [(.ifNoneMatch, "T")], method: .head),
        Row(200, archive, [(.ifNoneMatch, "\"other\"")]), Row(200, archive, [(.ifNoneMatch, "other")]),
        Row(200, archive, [(.ifNoneMatch, "")]), Row(200, archive, [(.ifNoneMatch, "\"unterminated")]),
        Row(200, archive, [(.ifMatch, "T")]), Row(200, archive, [(.ifMatch, "*")]),
        Row(200, archive, [(.ifMatch, "\"a\",T,\"b\"")]),
        Row(412, archive, [(.ifMatch, "\"other\"")]), Row(412, archive, [(.ifMatch, "W/T")]),
        Row(412, archive, [(.ifMatch, "")]), Row(412, archive, [(.ifMatch, "nonsense")]),
        Row(412, archive, [(.ifMatch, "\"other\""), (.ifNoneMatch, "T")]),
        Row(304, archive, [(.ifMatch, "T"), (.ifNoneMatch, "T")]),
        Row(412, archive, [(.ifMatch, "\"other\""), range]),
        Row(206, archive, [(.ifMatch, "T"), range]),
        // If-Range: the tag, exactly and strongly, or the whole.
        Row(206, archive, [(.ifRange, "T"), range], expecting: [.contentRange: "bytes 0-9/\(n)"]),
        Row(200, archive, [(.ifRange, "W/T"), range], expecting: [.contentLength: "\(n)"]),
        Row(200, archive, [(.ifRange, "\"other\""), range]), Row(200, archive, [(.ifRange, "T, T"), range]),
        Row(200, archive, [(.ifRange, "Sat, 29 Oct 1994 19:43:31 GMT"), range]),
        Row(200, archive, [(.ifRange, ""), range]), Row(200, archive, [(.ifRange, "T")]),
        Row(200, archive, [(.ifRange, "\"other\""), (.range, "bytes=\(n)-")]),
        Row(416, archive, [(.ifRange, "T"), (.range, "bytes=\(n)-")]),
        // Dates of changes are not given, and mean nothing.
        Row(200, archive, [(.ifModifiedSince, "Sat, 29 Oct 2044 19:43:31 GMT")]),
        Row(200, archive, [(.ifUnmodifiedSince, "Sat, 29 Oct 1994 19:43:31 GMT")]),
        // Ranges are for GET alone.
        Row(200, archive, [range], method: .head, expecting: [.contentLength: "\(n)", .acceptRanges: "bytes"]),
        Row(200, archive, [(.range, "bytes=\(n)-")], method: .head),
      ]
    }

    private static let tricks: [Row] = [
      "/../etc/passwd", "/packs/../root", "/site/..", "/site/../site/root", "/site/segments/../root", "/./site/root",
      "/site/%2e%2e/root", "/site/%2E%2E/%2e%2e/etc", "/site/..%2f..%2fetc%2fpasswd", "/site/segments%2f..",
      "/site/a%00b",
      "/site/%00", "/site/root%00.txt", "/site/a%0d%0aSet-Cookie:x", "/site/%5c..%5cetc", "/site/..%5c", "/site/%",
      "/site/%2", "/site/%zz", "/site/%ff", "/site/%c0%ae%c0%ae/", "/site//root", "//etc/passwd",
      "//site/root", "/sites//root", "/sites/site//root", "/packs//Tutorial", "/status//", "/packs/%2e%2e",
      "/packs/a%2fb", "site/root", "", "*", "?platform=iOS", "/manifest?platform=..",
      "/manifest?platform=%00", "/manifest?platform=a%20b", "/manifest?platform=<script>",
    ].map { Row(400, $0) }

    private static let unknown: [Row] = [
      "/site", "/site/", "/site/root/", "/site/roots", "/site/roots/", "/site/roots/nothing", "/site/ROOT",
      "/site/CONTROL",
      "/site/LOCK", "/site/root.lock", "/site/retired", "/site/index/1", "/site/tmp", "/site/segments",
      "/site/segments/0", "/site/versions/abc", "/sites", "/sites/x", "/sites/Site", "/sites/nothing/root",
      "/sites/Site/..%20", "/packs", "/packs/", "/packs/Nothing", "/packs/Tutorial@1", "/packs/Tutorial/1",
      "/etc/passwd",
      "/root.key", "/authority.key", "/favicon.ico", "/Manifest", "/status/", "/style.css/x",
      "/site/segments/00000000000000000000000000000000", "/%25", "/~root", "/site/root%20",
    ].map { Row(404, $0) }

    private static let methods: [Row] =
      [HTTPRequest.Method.post, .put, .patch, .delete, .trace, .connect].map {
        Row(405, "/packs/Tutorial", method: $0, expecting: [.allow: "GET, HEAD, OPTIONS"])
      } + [
        Row(501, "/", method: HTTPRequest.Method("BREW")!),
        Row(501, "/nothing", method: HTTPRequest.Method("PROPFIND")!),
        Row(204, "/", method: .options, expecting: [.allow: "GET, HEAD, OPTIONS"]),
        Row(404, "/nothing", method: .options),
        Row(413, "/", [(.contentLength, "5")]), Row(413, "/packs/Tutorial", [(.transferEncoding, "chunked")]),
        Row(413, "/", [(.contentLength, "99999999999999999999")]), Row(413, "/", [(.contentLength, "nonsense")]),
        Row(200, "/", [(.contentLength, "0")]), Row(405, "/", [(.contentLength, "5")], method: .post),
        Row(414, "/" + String(repeating: "a", count: 2048)), Row(404, "/" + String(repeating: "a", count: 2047)),
      ]

    private static let hosts: [Row] =
      [
        "localhost", "LOCALHOST", "localhost.", "localhost:1", "dev.example", "127.0.0.1", "127.0.0.1:8443",
        "10.0.2.2:8443",
        "[::1]", "[::1]:8443", "localhost:",
      ].map { Row(200, "/", host: $0) }
      + [
        "evil.example", "localhost.evil.example", "evil-localhost", "127.0.0.1.evil.example", "127.0.0.1.nip.io", "1",
        "localhostx",
      ].map { Row(421, "/", host: $0) }
      + [
        "localhost:x", "localhost:123456", "local host", "user@localhost", "localhost/", "[::1", "[localhost]", ":8443",
        "localhost,evil", String(repeating: "a", count: 400),
      ].map { Row(400, "/", host: $0) }
      + [Row(400, "/", host: nil), Row(400, "/", host: ""), Row(400, "/", [(HTTPField.Name("Host")!, "localhost")])]

    private static let pages: [Row] = [
      Row(200, "/", expecting: [.contentType: "text/html; charset=utf-8", .contentSecurityPolicy: StatusPage.policy]),
      Row(200, "/?x=1"), Row(200, "/", method: .head),
      Row(200, "/style.css", expecting: [.contentType: "text/css; charset=utf-8"]),
      Row(200, "/status.js", expecting: [.contentType: "text/javascript; charset=utf-8"]),
      Row(200, "/events", expecting: [.contentType: "text/event-stream", .cacheControl: "no-store"]),
      Row(200, "/status", expecting: [.contentType: "application/json"]),
      Row(200, "/manifest", expecting: [.contentType: "application/json", .cacheControl: "no-cache"]),
      Row(200, "/manifest?platform=iOS"), Row(200, "/manifest?platform="), Row(200, "/manifest?x=1&platform=macos"),
      Row(200, "/manifest?platform=Plan9"), Row(200, "/manifest", method: .head),
      Row(200, "/site/root", expecting: [.cacheControl: "no-cache"]), Row(200, "/sites/site/root"),
      Row(206, "/site/root", [(.range, "bytes=0-3")], expecting: [.contentLength: "4"]),
      Row(200, "/%73ite/root"), Row(200, "/packs/Tutorial", expecting: [.contentType: "application/octet-stream"]),
    ]

    @Test func aTableOfRequests() async throws {
      let fixture = try ServedFixture()
      let store = try await fixture.install()
      try await fixture.export("Tutorial", from: store, to: "Tutorial.pack")
      try await fixture.publish(store, to: "site")
      let router = fixture.router(try await fixture.content("Tutorial.pack", "site"))
      let archive = await router.get("/packs/Tutorial")
      let tag = try #require(archive.fields[.eTag]), byteCount = try #require(archive.byteCount)
      #expect(archive.status == .ok && !tag.hasPrefix("W/"))
      let rows =
        Self.ranges(byteCount) + Self.conditions(byteCount) + Self.tricks + Self.unknown + Self.methods + Self.hosts
        + Self.pages
      #expect(rows.count >= 200)
      for row in rows {
        var fields = HTTPFields()
        for (name, value) in row.fields {
          fields.append(
            HTTPField(name: name, value: value == "T" ? tag : value.replacing("T", with: tag, unless: name)))
        }
        let reply = await router.get(row.target, fields, method: row.method, host: row.host)
        let name =
          "\(row.method) \(row.target.prefix(60)) \(row.fields.map { "\($0.0): \($0.1.prefix(60))" }) \(row.host ?? "")"
        #expect(reply.status.code == row.status, "\(name)")
        for (field, value) in row.expected {
          #expect(reply.fields[field] == (value == "T" ? tag : value), "\(name): \(field)")
        }
        #expect(reply.fields[.xContentTypeOptions] == "nosniff", "\(name)")
        #expect(reply.fields[.server] == "packstore", "\(name)")
        guard row.method != .head, let sent = reply.byteCount else {
          #expect(reply.content.isEmpty, "\(name)")
          continue
        }
        #expect(UInt64(reply.content.count) == sent, "\(name)")
        if let length = reply.fields[.contentLength] { #expect(length == "\(sent)", "\(name)") }
      }
    }

    /// A part has the bytes of the whole, for any beginning.
    @Test func partsAreOfTheWhole() async throws {
      let fixture = try ServedFixture()
      let store = try await fixture.install()
      try await fixture.export("Tutorial", from: store, to: "Tutorial.pack")
      let router = fixture.router(try await fixture.content("Tutorial.pack"))
      let whole = await router.get("/packs/Tutorial").content
      try #require(whole.count > 300_000)
      for (first, last) in [(0, 0), (1, 511), (65_535, 65_536), (70_000, 200_000), (whole.count - 5, whole.count - 1)] {
        let part = await router.get("/packs/Tutorial", [.range: "bytes=\(first)-\(last)"])
        #expect(part.content == Array(whole[first...last]))
      }
      let end = await router.get("/packs/Tutorial", [.range: "bytes=-7"])
      #expect(end.content == Array(whole.suffix(7)))
    }
  }

  extension String {
    /// Tags within lists; dates and ranges have letters of their own.
    fileprivate func replacing(_ letter: String, with tag: String, unless name: HTTPField.Name) -> String {
      guard [.ifMatch, .ifNoneMatch, .ifRange].contains(name), !hasSuffix("GMT") else { return self }
      return split(separator: ",", omittingEmptySubsequences: false).map { item in
        let item = item.trimmingPrefix(" ")
        return item == "T" ? tag : item == "W/T" ? "W/\(tag)" : String(item)
      }.joined(separator: ",")
    }
  }
#endif
