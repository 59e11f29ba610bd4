#if Delivery
  import NIOHTTP1
  import PackDelivery
  import PackStore
  import Synchronization
  import Testing

  /// Fetching ranges, with the faults of servers and networks.
  @Suite struct HTTPSourceTests {
    static let content = noise(300_000, seed: 1)
    static let file = SiteFile("segments/a", byteCount: 300_000)

    let time = TestTime()

    /// Runs `body` with a source on a server that has one file, and ends both.
    @discardableResult
    func withSource<Result>(
      hasRanges: Bool = true, options: HTTPSource.Options? = nil, url: ((FaultServer) -> String)? = nil,
      fault: FaultServer.Fault? = nil, _ body: (HTTPSource, FaultServer) async throws -> Result
    ) async throws -> Result {
      let server = try await FaultServer(
        [Self.file.path: Self.content, "root": [1, 2, 3]], hasRanges: hasRanges, time: time, fault: fault)
      var options = options ?? HTTPSource.Options()
      options.clock = time.clock()
      let source = try HTTPSource(url?(server) ?? server.url, options: options)
      do {
        let result = try await body(source, server)
        await source.close()
        await server.close()
        return result
      } catch {
        await source.close()
        await server.close()
        throw error
      }
    }

    /// Reads a range of the file and compares it.
    func read(_ source: HTTPSource, _ range: Range<Int>, isFresh: Bool = false) async throws -> TransferBuffer {
      let memory = TestBuffer(range.count)
      try await source.read(Self.file, at: UInt64(range.lowerBound), into: memory.buffer, isFresh: isFresh)
      #expect(memory.bytes == Array(Self.content[range]))
      return memory.buffer
    }

    func expectError(
      _ code: DeliveryError.Code, sourceLocation: Testing.SourceLocation = #_sourceLocation,
      _ body: () async throws -> some Any
    ) async throws -> DeliveryError? {
      do {
        _ = try await body()
        Issue.record("nothing was thrown", sourceLocation: sourceLocation)
      } catch let error as DeliveryError {
        #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
        return error
      }
      return nil
    }

    // MARK: - Plain

    /// A request may begin before the connection of the one before it is back: then it takes another. So not each of many does.
    @Test func readsRangesByKeptConnections() async throws {
      try await withSource { source, server in
        let begins = (0..<20).map { $0 * 10_000 }
        for begin in begins {
          let buffer = try await read(source, begin..<begin + 5000)
          #expect(buffer.wireByteCount == 5000)
          #expect(buffer.requestCount == 1)
        }
        #expect(server.connectionCount < 20)
        #expect(server.requests.map { $0.header("Range") } == begins.map { "bytes=\($0)-\($0 + 4999)" })
        #expect(server.requests.allSatisfy { $0.header("Accept-Encoding") == "identity" })
        #expect(server.requests.allSatisfy { $0.header("User-Agent")?.hasPrefix("PackStore") == true })
        // Once the server has sent a validator of the file, later requests require the same state.
        #expect(
          server.requests.map { $0.header("If-Range") } == [nil] + [String?](repeating: "\"segments/a-1\"", count: 19))
        #expect(time.delays == [])
      }
    }

    @Test func readsWholeFilesWithoutARange() async throws {
      try await withSource { source, server in
        _ = try await read(source, 0..<300_000)
        #expect(server.requests.map { $0.header("Range") } == [nil])
      }
    }

    @Test func readsSmallFilesOfUnknownLength() async throws {
      for hasRanges in [true, false] {
        try await withSource(hasRanges: hasRanges) { source, server in
          #expect(try await source.readWhole("root", upTo: 1000).bytes == [1, 2, 3])
          #expect(source.hasRanges == hasRanges, "the first answer tells")
          #expect(try await source.readWhole("root", upTo: 3).bytes == [1, 2, 3])
          let error = try await expectError(.badResponse) { try await source.readWhole("root", upTo: 2) }
          #expect(error?.finding == "'\(server.url)/root': longer than 2 B")
        }
      }
    }

    @Test func saysThatThereIsNoSite() async throws {
      try await withSource { source, server in
        let error = try await expectError(.noSite) { try await source.readWhole("rood", upTo: 10) }
        #expect(error?.location == server.url)
      }
    }

    @Test func weakTagsAreNotUsed() async throws {
      let fault: FaultServer.Fault = { _, reply in
        reply.set("ETag", "W/\"weak\"")
        reply.set("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT")
      }
      try await withSource(fault: fault) { source, server in
        _ = try await read(source, 0..<10)
        server.replaceFault { _, reply in reply.set("ETag", "W/\"other\"") }
        // The server takes the time for the tag of another state, and sends everything: it changed.
        await #expect(throws: SourceFault.self) { _ = try await read(source, 10..<20) }
        #expect(server.requests[1].header("If-Range") == "Sun, 06 Nov 1994 08:49:37 GMT")
      }
    }

    // MARK: - Transfers that break

    @Test(arguments: [FaultServer.Reply.End.close, .reset])
    func goesOnWhereTheConnectionBroke(end: FaultServer.Reply.End) async throws {
      let fault: FaultServer.Fault = { request, reply in
        guard request.number < 3 else { return }
        reply.declaredLength = reply.body.count
        reply.sentCount = 10_000
        reply.end = end
      }
      try await withSource(fault: fault) { source, server in
        let buffer = try await read(source, 1000..<100_000)
        // Neither side can determine how many of the bytes sent before a break arrive.
        let firsts = server.requests.compactMap { $0.range?.lowerBound }
        #expect(firsts.count == 4)
        #expect(firsts[0] == 1000 && firsts[3] <= 31_000)
        #expect(buffer.wireByteCount == 99_000, "no byte came twice")
        #expect(firsts == firsts.sorted())
        #expect(buffer.requestCount == 4)
      }
    }

    @Test func aWholeFileGoesOnByRanges() async throws {
      let fault: FaultServer.Fault = { request, reply in
        guard request.number == 0 else { return }
        reply.declaredLength = reply.body.count
        reply.sentCount = 70_000
        reply.end = .stall
      }
      try await withSource(fault: fault) { source, server in
        _ = try await read(source, 0..<300_000)
        #expect(server.requests.count == 2)
        #expect(server.requests[0].range == nil)
        let rest = try #require(server.requests[1].range)
        #expect(rest.lowerBound > 0 && rest.lowerBound <= 70_000 && rest.upperBound == 299_999)
        #expect(server.requests[1].header("If-Range") == "\"segments/a-1\"")
      }
      // And from its beginning if the server has no ranges.
      try await withSource(hasRanges: false, fault: fault) { source, server in
        _ = try await read(source, 0..<300_000)
        #expect(server.requests.map { $0.range == nil } == [true, false, true])
      }
    }

    @Test func aStallIsGivenUp() async throws {
      let fault: FaultServer.Fault = { request, reply in
        guard request.number < 2 else { return }
        reply.declaredLength = reply.body.count
        reply.sentCount = request.number == 0 ? 0 : 4000
        reply.end = .stall
      }
      try await withSource(fault: fault) { source, server in
        let buffer = try await read(source, 0..<10_000)
        #expect(buffer.wireByteCount == 10_000)
        #expect(server.requests.last?.range == 4000...9999)
      }
    }

    @Test func givesUpAfterAttemptsWithoutAByte() async throws {
      try await withSource(fault: { _, reply in reply.status = 503 }) { source, server in
        let error = try await expectError(.unreachable) { try await read(source, 0..<10) }
        #expect(error?.description.contains("the server answered 503") == true)
        #expect(error?.description.contains("\(server.url)/segments/a") == true)
        #expect(server.requests.count == 8)
        #expect(time.delays == [0.5, 1, 2, 4, 8, 16, 30].map { .seconds($0) })
      }
    }

    @Test func delaysDifferByChance() async throws {
      let time = TestTime()
      var retry = Retry(RetryPolicy(), time.clock(random: 0.5))
      func delays(_ count: Int) throws -> [Duration] {
        try (0..<count).map { _ in try retry.delay(after: DeliveryError(.unreachable, "")) }
      }
      #expect(try delays(3) == [.milliseconds(375), .milliseconds(750), .milliseconds(1500)])
      retry.madeProgress(by: 65_535)
      #expect(try delays(1) == [.milliseconds(3000)], "that is not enough to begin again")
      retry.madeProgress(by: 1)
      #expect(try delays(1) == [.milliseconds(375)])
      retry.madeProgress(by: .max)
      #expect(try delays(7).count == 7)
      #expect(throws: DeliveryError.self) { try retry.delay(after: DeliveryError(.unreachable, "")) }
    }

    @Test func honoursRetryAfter() async throws {
      let fault: FaultServer.Fault = { request, reply in
        guard request.number < 2 else { return }
        reply.status = 429
        reply.set("Retry-After", request.number == 0 ? "7" : "Sun, 06 Nov 1994 08:50:37 GMT")
        reply.set("Date", "Sun, 06 Nov 1994 08:49:37 GMT")
      }
      try await withSource(fault: fault) { source, _ in
        _ = try await read(source, 0..<10)
        #expect(time.delays == [.seconds(7), .seconds(60)])
      }
      try await withSource(fault: { _, reply in
        reply.status = 503
        reply.set("Retry-After", "86400")
      }) { source, server in
        _ = try await expectError(.unreachable) { try await read(source, 0..<10) }
        #expect(server.requests.count == 1, "no wait for a day")
      }
    }

    @Test func nobodyListens() async throws {
      let server = try await FaultServer([:])
      let url = server.url
      await server.close()
      var options = HTTPSource.Options()
      options.clock = time.clock()
      let source = try HTTPSource(url, options: options)
      let error = try await expectError(.unreachable) { try await source.readWhole("root", upTo: 10) }
      #expect(error?.reason.hasPrefix("the connection failed") == true)
      #expect(time.delays.count == 2, "who never answered is given up soon")
      await source.close()
    }

    // MARK: - Servers that are wrong

    @Test func refusesWrongRanges() async throws {
      for range in [
        "bytes 1-10/300000", "bytes 10-19/300000", "bytes 0-8/8", "bytes */300000", "items 0-9/300000", nil,
      ] {
        try await withSource(fault: { _, reply in reply.set("Content-Range", range) }) { source, _ in
          _ = try await expectError(.badResponse) { try await read(source, 0..<10) }
        }
      }
    }

    /// Before anything of the site was believed.
    @Test func hugeNumbersInTheFirstAnswer() async throws {
      for range in ["bytes 0-9999999999999999998/*", "bytes 0-9223372036854775807/*", "bytes 0-2/18446744073709551616"]
      {
        try await withSource(fault: { _, reply in
          reply.status = 206
          reply.set("Content-Range", range)
        }) { source, _ in
          _ = try await expectError(.badResponse) { try await source.readWhole("root", upTo: 16 << 20) }
        }
      }
    }

    /// A server may send fewer bytes than requested; the others are requested then.
    @Test func takesShorterRanges() async throws {
      let fault: FaultServer.Fault = { request, reply in
        let first = request.range!.lowerBound
        reply.body = Array(reply.body.prefix(6000))
        reply.set("Content-Range", "bytes \(first)-\(first + reply.body.count - 1)/300000")
      }
      try await withSource(fault: fault) { source, server in
        _ = try await read(source, 0..<10_000)
        #expect(server.requests.count == 2)
      }
    }

    @Test func cutsWhatDoesNotEnd() async throws {
      try await withSource(fault: { _, reply in reply.end = .endless }) { source, server in
        let error = try await expectError(.badResponse) { try await read(source, 0..<100_000) }
        #expect(error?.reason == "the server sent more than requested")
        #expect(server.requests.count == 1)
        _ = try await expectError(.badResponse) { try await source.readWhole("root", upTo: 500_000) }
      }
      try await withSource(fault: { _, reply in
        reply.declaredLength = -1
        reply.body.append(0)
      }) { source, _ in
        _ = try await expectError(.badResponse) { try await read(source, 0..<10) }
      }
    }

    @Test func refusesOtherEncodings() async throws {
      try await withSource(fault: { _, reply in reply.set("Content-Encoding", "gzip") }) { source, server in
        _ = try await expectError(.badResponse) { try await read(source, 0..<10) }
        #expect(server.requests.count == 1)
      }
      try await withSource(fault: { _, reply in reply.set("Content-Encoding", "identity") }) { source, _ in
        _ = try await read(source, 0..<10)
      }
    }

    /// A request that may be refused for its range is repeated once without one.
    @Test(arguments: [400, 401, 403, 405, 451])
    func saysWhatWasDenied(status: Int) async throws {
      try await withSource(fault: { _, reply in reply.status = status }) { source, server in
        let error = try await expectError(.denied) { try await read(source, 0..<10) }
        #expect(error?.description.contains("\(status)") == true)
        #expect(server.requests.map { $0.range != nil } == ([401, 451].contains(status) ? [true] : [true, false]))
      }
    }

    // MARK: - Sites that change

    @Test func noticesThatFilesChange() async throws {
      let faults: [(String, FaultServer.Fault)] = [
        ("gone", { _, reply in reply.status = 404 }),
        ("precondition", { _, reply in reply.status = 412 }),
        (
          "shorter",
          { _, reply in
            reply.status = 416
            reply.set("Content-Range", "bytes */299999")
          }
        ),
        ("another tag", { _, reply in reply.set("ETag", "\"other\"") }),
        ("another length", { request, reply in reply.set("Content-Range", "bytes 10-19/299999") }),
        (
          "all of another state",
          { _, reply in
            reply.status = 200
            reply.set("ETag", "\"other\"")
          }
        ),
      ]
      for (name, fault) in faults {
        try await withSource { source, server in
          _ = try await read(source, 0..<10)
          server.replaceFault(fault)
          do {
            _ = try await read(source, 10..<20)
            Issue.record("\(name): not noticed")
          } catch SourceFault.siteChanged(let error) {
            #expect(error.location == "\(server.url)/segments/a", "\(name)")
          }
          #expect(server.requests.count == 2, "\(name)")
        }
      }
    }

    @Test func wholeFilesOfAnotherLengthChanged() async throws {
      try await withSource(fault: { _, reply in reply.body.removeLast() }) { source, _ in
        await #expect(throws: SourceFault.self) { _ = try await read(source, 0..<300_000) }
      }
    }

    /// Behind one address there may be servers that name the same state differently.
    @Test func validatorsMayBeIgnored() async throws {
      try await withSource(fault: { request, reply in
        reply.set("ETag", "\"\(request.number)\"")
        if request.header("If-Range") != nil { reply.status = 200 }
      }) { source, server in
        _ = try await read(source, 0..<10)
        await #expect(throws: SourceFault.self) { _ = try await read(source, 0..<10) }
        source.restart(ignoringValidators: true)
        _ = try await read(source, 0..<10)
        _ = try await read(source, 0..<10)
        #expect(server.requests.last?.header("If-Range") == nil)
      }
    }

    // MARK: - Servers without ranges

    @Test func noticesThatThereAreNoRanges() async throws {
      try await withSource(hasRanges: false) { source, _ in
        do {
          _ = try await read(source, 10..<20)
          Issue.record("a range came")
        } catch SourceFault.noRanges {}
        #expect(!source.hasRanges)
      }
    }

    /// Each second answer brings more bytes than the one before it, and none brings the file.
    @Test func bytesThatCameBeforeAreNotProgress() async throws {
      let fault: FaultServer.Fault = { request, reply in
        reply.declaredLength = reply.body.count
        reply.sentCount = request.number % 2 == 0 ? 100_000 : 200_000
        reply.end = .close
      }
      try await withSource(hasRanges: false, fault: fault) { source, server in
        _ = try await expectError(.unreachable) { try await read(source, 0..<300_000) }
        #expect(server.requests.count < 20)
      }
    }

    @Test func streamsFromFrontToBack() async throws {
      try await withSource(hasRanges: false) { source, server in
        let stream = try await source.stream(Self.file)
        for range in [0..<10, 10..<11, 5000..<80_000, 100_000..<100_001, 299_990..<300_000] {
          let memory = TestBuffer(range.count)
          try await stream.read(at: UInt64(range.lowerBound), into: memory.buffer)
          #expect(memory.bytes == Array(Self.content[range]))
        }
        #expect(server.requests.count == 1)
      }
    }

    @Test func aStreamThatBreaksBeginsAgain() async throws {
      let fault: FaultServer.Fault = { request, reply in
        guard request.number < 5 else { return }
        reply.declaredLength = reply.body.count
        reply.sentCount = 25_000 * (request.number + 1)
        reply.end = .close
      }
      try await withSource(hasRanges: false, fault: fault) { source, server in
        let stream = try await source.stream(Self.file)
        for range in [20_000..<30_000, 40_000..<300_000] {
          let memory = TestBuffer(range.count)
          try await stream.read(at: UInt64(range.lowerBound), into: memory.buffer)
          #expect(memory.bytes == Array(Self.content[range]))
        }
        #expect(server.requests.count == 6)
        #expect(server.requests.allSatisfy { $0.range == nil })
      }
    }

    // MARK: - Redirections

    @Test func followsRedirections() async throws {
      let fault: FaultServer.Fault = { request, reply in
        guard request.path.hasPrefix("old/") else { return }
        reply = FaultServer.Reply()
        reply.status = 302
        reply.set("Location", "/site/" + request.path.dropFirst("old/".count))
      }
      try await withSource(url: { "http://127.0.0.1:\($0.port)/old/" }, fault: fault) { source, server in
        #expect(try await source.readWhole("root", upTo: 10).bytes == [1, 2, 3])
        _ = try await read(source, 0..<10)
        // Later requests use the address of the redirection.
        #expect(server.requests.map(\.path) == ["old/root", "site/root", "site/segments/a"])
        #expect(source.location == "http://127.0.0.1:\(server.port)/old", "trust stays with the place that was given")
      }
    }

    /// Storage that is not public signs a URL for each file: the query of one redirect opens no other file.
    @Test func redirectsMayBeSignedForOneFile() async throws {
      let fault: FaultServer.Fault = { request, reply in
        if request.path.hasPrefix("old/") {
          let path = request.path.dropFirst("old/".count)
          reply = FaultServer.Reply(status: 302)
          reply.set("Location", "/site/\(path)?sig=\(path)")
        } else if request.uri.split(separator: "?").last.map(String.init)
          != "sig=\(request.path.dropFirst("site/".count))"
        {
          reply = FaultServer.Reply(status: 403)
        }
      }
      for query in ["", "?token=a"] {
        try await withSource(url: { "http://127.0.0.1:\($0.port)/old\(query)" }, fault: fault) { source, server in
          #expect(try await source.readWhole("root", upTo: 10).bytes == [1, 2, 3])
          _ = try await read(source, 0..<10)
          _ = try await read(source, 10..<300_000)
          #expect(server.requests.map(\.path).filter { $0.hasPrefix("old/") }.count == 3)
          #expect(server.requests.allSatisfy { !$0.path.hasPrefix("old/") || $0.uri.hasSuffix(query) })
        }
      }
    }

    /// A place that was learned may refuse the files after the first, or from some time on.
    @Test(arguments: [400, 401, 403, 404, 405, 410, 451])
    func refusalsOfALearnedPlaceAreAskedAtTheSite(status: Int) async throws {
      let fault: FaultServer.Fault = { request, reply in
        if request.path.hasPrefix("old/") {
          reply = FaultServer.Reply(status: 302)
          reply.set("Location", "/\(request.number < 2 ? "first" : "site")/" + request.path.dropFirst("old/".count))
        } else if request.path.hasPrefix("first/") {
          if request.number > 1 { return reply = FaultServer.Reply(status: status) }
          reply = FaultServer.Reply(status: 200)
          reply.set("Accept-Ranges", "bytes")
          reply.body = [1, 2, 3]
        }
      }
      try await withSource(url: { "http://127.0.0.1:\($0.port)/old" }, fault: fault) { source, server in
        #expect(try await source.readWhole("root", upTo: 10).bytes == [1, 2, 3])
        try await withThrowingTaskGroup(of: Void.self) { group in
          for begin in 0..<4 { group.addTask { _ = try await self.read(source, begin..<begin + 1000) } }
          try await group.waitForAll()
        }
        _ = try await read(source, 0..<300_000)
        #expect(server.requests.count { $0.path.hasPrefix("first/") } <= 5, "each request asks there once at most")
        #expect(time.delays.isEmpty)
      }
    }

    /// A refusal at the site's own URL is final.
    @Test func refusalsEverywhereEnd() async throws {
      let fault: FaultServer.Fault = { request, reply in
        guard request.number < 2 else { return reply = FaultServer.Reply(status: 401) }
        guard request.path.hasPrefix("old/") else { return }
        reply = FaultServer.Reply(status: 302)
        reply.set("Location", "/site/" + request.path.dropFirst("old/".count))
      }
      try await withSource(url: { "http://127.0.0.1:\($0.port)/old" }, fault: fault) { source, server in
        _ = try await source.readWhole("root", upTo: 10)
        _ = try await expectError(.denied) { try await read(source, 0..<10) }
        #expect(server.requests.map(\.path) == ["old/root", "site/root", "site/segments/a", "old/segments/a"])
      }
    }

    /// A cache may give a redirect to a URL that has expired.
    @Test(arguments: [400, 401, 403]) func expiredRedirectsAreRequestedAgain(status: Int) async throws {
      let fault: FaultServer.Fault = { request, reply in
        if request.path.hasPrefix("old/") {
          let isFresh = request.header("Cache-Control") == "no-cache" && request.number > 0
          reply = FaultServer.Reply(status: 302)
          reply.set("Location", "/site/\(request.path.dropFirst("old/".count))?expires=\(isFresh ? "later" : "sooner")")
        } else if !request.uri.hasSuffix("later") {
          reply = FaultServer.Reply(status: status)
        }
      }
      try await withSource(url: { "http://127.0.0.1:\($0.port)/old" }, fault: fault) { source, server in
        #expect(try await source.readWhole("root", upTo: 10).bytes == [1, 2, 3])
        _ = try await read(source, 0..<10)
        #expect(server.requests.count == 8)
      }
      // One request more, and no further one.
      try await withSource(url: { "http://127.0.0.1:\($0.port)/old" }) { source, server in
        server.replaceFault { request, reply in
          fault(request, &reply)
          if !request.path.hasPrefix("old/") { reply = FaultServer.Reply(status: 401) }
        }
        _ = try await expectError(.denied) { try await read(source, 0..<10) }
        #expect(server.requests.count == 4)
      }
    }

    /// A site may redirect to one of several mirrors. Each of them may go down.
    @Test func aMirrorThatFailsIsLeft() async throws {
      let fault: FaultServer.Fault = { request, reply in
        if request.path.hasPrefix("old/") {
          reply = FaultServer.Reply(status: 302)
          reply.set("Location", "/\(request.number < 2 ? "first" : "site")/" + request.path.dropFirst("old/".count))
        } else if request.path.hasPrefix("first/") {
          reply = FaultServer.Reply(status: request.number == 1 ? 200 : 503)
          reply.set("Accept-Ranges", "bytes")
          reply.body = [1, 2, 3]
        }
      }
      try await withSource(url: { "http://127.0.0.1:\($0.port)/old" }, fault: fault) { source, server in
        _ = try await source.readWhole("root", upTo: 10)
        _ = try await read(source, 0..<300_000)
        _ = try await read(source, 0..<10)
        #expect(
          server.requests.map(\.path) == [
            "old/root", "first/root", "first/segments/a", "old/segments/a", "site/segments/a", "site/segments/a",
          ])
      }
    }

    @Test func redirectionsEnd() async throws {
      try await withSource(fault: { request, reply in
        reply.status = 301
        reply.set("Location", "/site/\(request.number)")
      }) { source, server in
        _ = try await expectError(.badResponse) { try await read(source, 0..<10) }
        #expect(server.requests.count == 6)
      }
      for target in [
        "ftp://127.0.0.1/", "http://user:secret@127.0.0.1/", "http://user@127.0.0.1/", "http://127.0.0.1:70000/",
        "//[::1]:65536/", nil,
      ] {
        try await withSource(fault: { _, reply in
          reply.status = 307
          reply.set("Location", target)
        }) { source, server in
          let error = try await expectError(.badResponse) { try await read(source, 0..<10) }
          #expect(error?.description.contains("secret") == false)
          #expect(server.requests.count == 1)
        }
      }
    }

    // MARK: - Fresh connections

    @Test func freshReadsUseAConnectionOfTheirOwn() async throws {
      try await withSource { source, server in
        _ = try await read(source, 0..<10)
        _ = try await read(source, 0..<10, isFresh: true)
        _ = try await read(source, 0..<10)
        let connections = server.requests.map(\.connection)
        #expect(connections[..<2] == [0, 1] && connections[2] != 1)
        #expect(server.requests[1].header("Cache-Control") == "no-cache")
      }
    }

    // MARK: - Pace

    @Test func keepsToARate() async throws {
      var options = HTTPSource.Options()
      options.pace = Pace(limit: RateLimit(bytesPerSecond: 10_000, clock: time.clock()))
      try await withSource(options: options) { source, _ in
        _ = try await read(source, 0..<200_000)
        // All that came has to be paid for, a tenth of a second may have been saved.
        #expect(time.now >= .seconds(19.8) && time.now <= .seconds(20.001))
      }
    }

    @Test func pauses() async throws {
      let pause = Store.PullPause()
      var options = HTTPSource.Options()
      options.pace = Pace(pause: pause)
      try await withSource(options: options) { source, server in
        pause.pause()
        let reading = Task { try await read(source, 0..<10).wireByteCount }
        pause.resume()
        let count = try await reading.value
        #expect(count == 10)

        pause.pause()
        let cancelled = Task { try await read(source, 0..<10).wireByteCount }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        #expect(server.requests.count == 1, "nothing was asked for while it was paused")
      }
    }

    @Test func isCancelledWithinABody() async throws {
      let asked = AsyncStream<Void>.makeStream()
      let fault: FaultServer.Fault = { _, reply in
        reply.declaredLength = reply.body.count
        reply.sentCount = 1000
        reply.end = .stall
        asked.continuation.yield()
      }
      try await withSource(fault: fault) { source, server in
        let reading = Task { try await read(source, 0..<10_000).wireByteCount }
        for await _ in asked.stream { break }
        reading.cancel()
        await #expect(throws: CancellationError.self) { try await reading.value }
        #expect(server.requests.count == 1)
      }
    }
  }
#endif
