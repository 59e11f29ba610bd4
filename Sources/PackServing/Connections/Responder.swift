#if Serving
  import HTTPTypes
  import HummingbirdCore
  import NIOCore
  import PackServer
  import PackStore

  /// Sends replies, logs them, and keeps the table of connections up to date.
  struct Responder: Sendable {
    let router: Router
    let table: ConnectionTable
    let status: ServerStatus
    let log: @Sendable (RequestNote) -> Void

    /// The number of bytes read from a file at a time: the memory of a transfer, buffered here or being sent.
    static let pieceByteCount = 64 << 10

    func respond(_ request: Request, _ writer: consuming ResponseWriter, _ channel: any Channel) async throws {
      // Requests after a connection's last one receive no answer (RFC 9112, 9.6).
      guard !table.isClosing(channel) else { throw ConnectionEnds() }
      let head = request.head
      let isHTTP2 = Self.isStream(channel)
      var note = RequestNote(head, client: Self.client(of: channel), isHTTP2: isHTTP2)
      guard let transfer = table.begin(on: channel) else {
        var busy = Self.busy
        if !isHTTP2, table.isEnding { busy.headerFields[.connection] = "close" }
        try await writer.writeResponse(busy)
        note.status = 503
        log(note)
        return
      }
      var reply = await router.reply(to: head)
      if case .events = reply.body, !table.beginStream() {
        reply = .refusal(.serviceUnavailable, "too many pages are open")
      }
      // HTTP/2 does not have this field.
      let closes = reply.closes || (!isHTTP2 && Self.asksToClose(head))
      if !isHTTP2, closes || table.isEnding { reply.fields[.connection] = "close" }
      note.status = reply.status.code
      note.subject = reply.subject
      let id = status.begin(note, of: reply.byteCount)
      let begin = ContinuousClock.now
      do {
        try await send(reply, writer, channel, transfer, id)
      } catch {
        note.failure = (error as? PackStoreError)?.reason ?? "the client closed the connection"
        finish(&note, id, begin, transfer, closes: true)
        throw error
      }
      finish(&note, id, begin, transfer, closes: closes)
      if reply.closes { try await Self.takeRest(of: request) }
    }

    private struct ConnectionEnds: Error {}

    /// Returns whether one of the connection options is `close`, ignoring case.
    private static func asksToClose(_ head: HTTPRequest) -> Bool {
      head.headerFields[values: .connection].flatMap { $0.split(separator: ",") }
        .contains { $0.filter { $0 != " " && $0 != "\t" }.lowercased() == "close" }
    }

    /// The maximum number of bytes of a request's body that are read and discarded. Requests to this server should not have a body.
    private static let bodyByteCountLimit = 16 << 20

    private struct BodyTooLong: Error {}

    /// Reads and discards the rest of a body up to a limit: a client may read the refusal only after it has sent its body.
    private static func takeRest(of request: Request) async throws {
      var byteCount = 0
      for try await piece in request.body {
        byteCount += piece.readableBytes
        guard byteCount <= bodyByteCountLimit else { throw BodyTooLong() }
      }
    }

    private func finish(
      _ note: inout RequestNote, _ id: UInt64, _ begin: ContinuousClock.Instant, _ transfer: UInt64, closes: Bool
    ) {
      table.end(transfer, closes: closes)
      note.duration = .now - begin
      note.byteCount = status.end(id, failed: note.failure != nil)
      log(note)
    }

    private func send(
      _ reply: Reply, _ writer: consuming ResponseWriter, _ channel: any Channel, _ transfer: UInt64, _ id: UInt64
    ) async throws {
      let head = HTTPResponse(status: reply.status, headerFields: reply.fields)
      switch reply.body {
      case .none: try await writer.writeResponse(head)
      case .bytes(let bytes):
        var body = try await writer.writeHead(head)
        try await body.write(ByteBuffer(bytes: bytes))
        try await Self.handOver(channel)
        status.sent(bytes.count, by: id)
        await Self.end(body)
      case .file(let file, let range) where range.count <= Self.pieceByteCount && Self.isStream(channel):
        // Sent in one call, because frames, TLS records and system calls cost more here than bytes. The end of the stream ends the
        // transfer. With HTTP/1.1 no event shows that a connection has sent everything before it may be closed.
        try await writer.write(response: head, body: ResponseBody(byteBuffer: try Self.read(range, of: file)))
        try await Self.handOver(channel)
        status.sent(range.count, by: id)
      case .file(let file, let range):
        let body = try await writer.writeHead(head)
        try await send(file, range, body, channel, transfer, id)
      case .events:
        defer { table.endStream() }
        try await sendEvents(head, writer, transfer, id)
      }
    }

    private func send(
      _ file: ServedFile, _ range: Range<UInt64>, _ body: consuming some ResponseBodyWriter, _ channel: any Channel,
      _ transfer: UInt64, _ id: UInt64
    ) async throws {
      var body = body
      var offset = range.lowerBound
      while offset < range.upperBound {
        // Waits until the channel has room: otherwise a slow client would keep two pieces in memory, one here and one being sent.
        if !channel.isWritable { try await body.write(contentsOf: EmptyCollection()) }
        let end = min(range.upperBound, offset + UInt64(Self.pieceByteCount))
        try await body.write(try Self.read(offset..<end, of: file))
        try await Self.handOver(channel)
        table.progress(transfer)
        status.sent(Int(end - offset), by: id)
        offset = end
      }
      await Self.end(body)
    }

    /// Ends a body after all its bytes were sent. Ignores errors, because the client may have closed its connection after the last
    /// byte.
    private static func end(_ body: consuming some ResponseBodyWriter) async { try? await body.finish(nil) }

    private static func read(_ range: Range<UInt64>, of file: ServedFile) throws -> ByteBuffer {
      var buffer = ByteBufferAllocator().buffer(capacity: range.count)
      try file.read(range, into: &buffer)
      return buffer
    }

    /// Returns whether a channel is an HTTP/2 stream, whose parent is its connection.
    private static func isStream(_ channel: any Channel) -> Bool { channel.parent?.parent != nil }

    /// Waits until the connection's thread has processed the written data.
    ///
    /// A writer waits for its client only after that thread has found that the connection does not accept more data. Reading is
    /// faster than encryption: without this wait, a whole file would be buffered for the thread.
    private static func handOver(_ channel: any Channel) async throws { try await channel.eventLoop.submit {}.get() }

    /// Sends the changed sections of the page, at most once a second.
    private func sendEvents(
      _ head: HTTPResponse, _ writer: consuming ResponseWriter, _ transfer: UInt64, _ id: UInt64
    ) async throws {
      var body = try await writer.writeHead(head)
      var shown: [String: String] = [:]
      var lastWrite = ContinuousClock.now - Self.heartbeat
      while !table.isEnding {
        await router.content.refresh()
        let sections = StatusPage(router.content.state, status.snapshot()).sections
        let changed = sections.filter { shown[$0.id] != $0.html }
        if !changed.isEmpty || .now - lastWrite >= Self.heartbeat {
          for section in changed { shown[section.id] = section.html }
          let text = changed.isEmpty ? ": still here\n\n" : StatusPage.event(changed)
          try await body.write(ByteBuffer(string: text))
          lastWrite = .now
        }
        table.progress(transfer)
        try await Task.sleep(for: .seconds(1))
      }
      try await body.finish(nil)
    }

    private static let heartbeat: Duration = .seconds(15)

    private static let busy = HTTPResponse(
      status: .serviceUnavailable, headerFields: [.retryAfter: "1", .contentLength: "0"])

    private static func client(of channel: any Channel) -> String {
      guard let address = channel.remoteAddress, let host = address.ipAddress else { return "-" }
      return host
    }
  }
#endif
