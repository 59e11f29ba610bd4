#if Delivery
  import NIOHTTP1
  import PackStore
  import Testing

  @testable import PackDelivery

  /// Servers that answer requests for ranges with more, with less, with nothing, or in other letters.
  extension HTTPSourceTests {
    /// Sends `range` of the file, as the server sees fit.
    private static func sending(_ range: @escaping @Sendable (ClosedRange<Int>) -> Range<Int>) -> FaultServer.Fault {
      { request, reply in
        guard let asked = request.range, request.path == "site/segments/a" else { return }
        let given = range(asked)
        reply.status = 206
        reply.body = Array(content[given])
        reply.set("Content-Range", "bytes \(given.lowerBound)-\(given.upperBound - 1)/\(content.count)")
      }
    }

    @Test func unitsHaveNoCase() async throws {
      let fault: FaultServer.Fault = { request, reply in
        guard let range = reply.headers.first(where: { $0.0 == "Content-Range" })?.1 else { return }
        reply.set("Content-Range", range.replacing("bytes", with: "Bytes"))
      }
      try await withSource(fault: fault) { source, server in
        _ = try await read(source, 5..<20)
        #expect(try await source.readWhole("root", upTo: 10).bytes == [1, 2, 3])
        #expect(server.requests.count == 2)
      }
    }

    @Test func answersWithMoreAreCut() async throws {
      let grown = Self.sending { max($0.lowerBound - 100, 0)..<min($0.upperBound + 1000, 300_000) }
      let toTheEnd = Self.sending { $0.lowerBound..<300_000 }
      for fault in [grown, toTheEnd] {
        try await withSource(fault: fault) { source, server in
          for begin in [0, 50, 5000, 299_900] { _ = try await read(source, begin..<begin + 100) }
          #expect(server.requests.count == 4 && source.hasRanges)
        }
      }
    }

    /// The answer begins before the range and ends within it.
    @Test func theBeginningOfARangeIsKept() async throws {
      try await withSource(
        fault: Self.sending { $0.lowerBound / 4096 * 4096..<min($0.lowerBound / 4096 * 4096 + 4096, 300_000) }
      ) {
        source, server in
        _ = try await read(source, 5000..<10_000)
        #expect(server.requests.compactMap { $0.range?.lowerBound } == [5000, 8192])
        #expect(time.delays.isEmpty)
      }
    }

    /// Each range would bring the file from its beginning: then it is read once, from front to back.
    @Test func wholeFilesInPlaceOfRangesAreStreamed() async throws {
      try await withSource(fault: Self.sending { _ in 0..<300_000 }) { source, server in
        await #expect(throws: SourceFault.self) { _ = try await read(source, 200_000..<200_010) }
        #expect(!source.hasRanges && server.requests.count == 1)
        _ = try await read(source, 0..<300_000)
      }
    }

    /// One useful byte in each answer, and thousands before it.
    @Test func excessIsBounded() async throws {
      try await withSource(fault: Self.sending { max($0.lowerBound - 20_000, 0)..<$0.lowerBound + 1 }) {
        source, server in
        await #expect(throws: SourceFault.self) { _ = try await read(source, 100_000..<100_400) }
        #expect(server.requests.count < 10)
      }
    }

    /// 416 with the length of the file, and filters that refuse each request with a range.
    @Test(arguments: [400, 403, 405, 406, 416, 501])
    func refusedRangesAreRequestedWhole(status: Int) async throws {
      let fault: FaultServer.Fault = { request, reply in
        guard request.header("Range") != nil else { return }
        reply = FaultServer.Reply(status: status)
        if status == 416 { reply.set("Content-Range", "bytes */\(request.path == "site/root" ? 3 : 300_000)") }
      }
      try await withSource(fault: fault) { source, server in
        #expect(try await source.readWhole("root", upTo: 10).bytes == [1, 2, 3])
        #expect(!source.hasRanges && server.requests.count == 2)
        #expect(try await source.readWhole("root", upTo: 10).bytes == [1, 2, 3])
        #expect(server.requests.count == 3, "the refusal is remembered")
        let memory = TestBuffer(10)
        try await source.stream(Self.file).read(at: 70, into: memory.buffer)
        #expect(memory.bytes == Array(Self.content[70..<80]))
        #expect(time.delays.isEmpty)
      }
      // Later than at the root.
      try await withSource(fault: { request, reply in
        if request.path != "site/root" { fault(request, &reply) }
      }) { source, server in
        _ = try await source.readWhole("root", upTo: 10)
        await #expect(throws: SourceFault.self) { _ = try await read(source, 10..<20) }
        #expect(!source.hasRanges && server.requests.map { $0.range != nil } == [true, true, false])
        _ = try await read(source, 0..<300_000)
      }
    }

    @Test func emptyFilesAreNamed() async throws {
      for range in ["bytes */0", nil] {
        try await withSource(fault: { request, reply in
          reply = FaultServer.Reply(status: request.header("Range") == nil ? 200 : 416)
          reply.set("Content-Range", range)
        }) { source, _ in
          let error = try await expectError(.noSite) { try await source.readWhole("root", upTo: 10) }
          #expect(error?.reason == "not a site (the file 'root' is empty)")
        }
      }
    }

    @Test func smallFilesMayComeInParts() async throws {
      let parts: FaultServer.Fault = { request, reply in
        guard let first = request.range?.lowerBound, first < 3 else { return }
        reply.status = 206
        reply.body = [UInt8(first + 1)]
        reply.set("Content-Range", "bytes \(first)-\(first)/3")
      }
      try await withSource(fault: parts) { source, server in
        #expect(try await source.readWhole("root", upTo: 10).bytes == [1, 2, 3])
        #expect(server.requests.compactMap { $0.range?.lowerBound } == [0, 1, 2])
        #expect(server.requests[1].header("If-Range") != nil)
        _ = try await expectError(.badResponse) { try await source.readWhole("root", upTo: 2) }
      }
      // The file changes after its first part.
      try await withSource(fault: { request, reply in
        parts(request, &reply)
        if request.number == 1 { reply.set("ETag", "\"other\"") }
      }) { source, _ in
        let root = try await source.readWhole("root", upTo: 10)
        #expect(root.bytes == [1, 2, 3])
      }
    }

    /// Sends one range as several, which RFC 9110 forbids, and some servers do.
    private static func multipart(_ boundary: String, type: String? = nil, _ head: String) -> FaultServer.Fault {
      { request, reply in
        guard request.range != nil, reply.status == 206 else { return }
        let range = reply.headers.first { $0.0 == "Content-Range" }?.1 ?? ""
        let body = reply.body
        let head = head.replacing("@", with: range)
        reply.body = Array("preamble\r\n--\(boundary)\r\n\(head)\r\n\r\n".utf8) + body
        reply.body += Array("\r\n--\(boundary)\r\nContent-Range: bytes 0-0/300000\r\n\r\n?\r\n--\(boundary)--\r\n".utf8)
        reply.set("Content-Range", nil)
        reply.set("Content-Type", type ?? "multipart/byteranges; boundary=\(boundary)")
      }
    }

    @Test(arguments: [
      ("x", nil, "Content-Type: a/b\r\nContent-Range: @"),
      ("a b", "Multipart/ByteRanges; q=1; boundary=\"a b\"", "content-range:@"),
      ("-", nil, "CONTENT-RANGE:  @\r\nX: y"),
    ])
    func oneRangeMayComeAsSeveral(boundary: String, type: String?, head: String) async throws {
      try await withSource(fault: Self.multipart(boundary, type: type, head)) { source, server in
        for range in [0..<20, 64..<3_460, 299_990..<300_000] { _ = try await read(source, range) }
        #expect(try await source.readWhole("root", upTo: 10).bytes == [1, 2, 3])
        #expect(server.requests.count == 4)
      }
    }

    @Test(arguments: [
      "X: y", "Content-Range: bytes 1-0/2", "Content-Range: @\r\nX: " + String(repeating: "x", count: 9_000),
    ])
    func otherFormsOfSeveralRangesAreRefused(head: String) async throws {
      try await withSource(fault: Self.multipart("x", head)) { source, _ in
        _ = try await expectError(.badResponse) { try await read(source, 64..<3_460) }
      }
    }

    @Test func errorsShowTheRanges() async throws {
      try await withSource(fault: Self.sending { _ in 100_000..<100_010 }) { source, _ in
        let error = try await expectError(.badResponse) { try await read(source, 64..<3460) }
        #expect(error?.reason.contains("requested bytes 64-3459, got 100000-100009") == true)
      }
    }

    /// A complete range is as good as the answer 200.
    @Test func wholeFilesMayComeAsRanges() async throws {
      try await withSource(fault: { request, reply in
        reply.status = 206
        reply.set("Content-Range", "bytes 0-299999/300000")
      }) { source, _ in _ = try await read(source, 0..<300_000) }
    }
  }
#endif
