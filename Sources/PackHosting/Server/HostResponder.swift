#if Hosting
  import HTTPTypes
  import HummingbirdCore
  import NIOCore
  import PackServer
  import PackStore

  /// Answers requests of all kinds: the API, parts of uploads, and files of sites.
  struct HostResponder: Sendable {
    let api: APIHandler
    let uploads: UploadCommands

    /// `nil` if another server serves the sites.
    let sites: SiteFiles?
    let table: ConnectionTable
    let hosts: HostNames
    let options: ServerOptions

    /// Called with method, path without query, and status of each answer. Queries of upload URLs are secrets.
    let onAnswer: @Sendable (String, String, Int) -> Void

    private struct ConnectionEnds: Error {}

    func respond(_ request: Request, _ writer: consuming ResponseWriter, _ channel: any Channel) async throws {
      // Requests after a connection's last one receive no answer (RFC 9112, 9.6).
      guard !table.isClosing(channel) else { throw ConnectionEnds() }
      guard let transfer = table.begin(on: channel) else {
        try await writer.writeResponse(Self.busy)
        throw ConnectionEnds()
      }
      var reader = BodyReader(request, hasBody: RequestHead.hasBody(request.head), table, transfer)
      var asksToClose = true
      var reply: Reply
      do {
        let head = try RequestHead(request.head, options, hosts)
        asksToClose = head.asksToClose
        table.limit(transfer, to: options.duration(for: head.contentLength ?? Assumptions.partByteCount))
        switch await prepare(head, request.head) {
        case .reply(let prepared): reply = prepared
        case .needsBody(let finish):
          // Only now the client may send a body that it announced with `Expect`.
          if head.expectsContinue { try await writer.writeInformationalHead(HTTPResponse(status: .continue)) }
          reply = await finish(&reader)
        }
      } catch let error as APIError {
        reply = api.refusal(error)
      } catch {
        table.end(transfer, closes: true)
        throw error
      }
      if request.head.method == .head { reply.body = .none }
      let closes = asksToClose || reply.closes || !reader.isAtEnd || table.isEnding
      do { try await send(reply, writer, channel, transfer, closes: closes) } catch {
        table.end(transfer, closes: true)
        throw error
      }
      table.end(transfer, closes: closes)
      onAnswer(request.head.method.rawValue, String((request.head.path ?? "").prefix { $0 != "?" }), reply.status.code)
      // An unread body would be read as the next request. The table closes the connection after a moment.
      if !reader.isAtEnd { try await reader.discardRest() }
    }

    private func prepare(_ head: RequestHead, _ request: HTTPRequest) async -> PreparedReply {
      if head.path.hasPrefix("/u/") { return await receive(head) }
      if let sites, head.path.hasPrefix(SiteFiles.prefix) { return .reply(sites.reply(to: request, head.path)) }
      if head.path == "/health", head.method == "GET" { return .reply(Reply(Answer(200, ["status": "ok"]))) }
      return await api.prepare(head)
    }

    /// Streams a part to its file.
    private func receive(_ head: RequestHead) async -> PreparedReply {
      do {
        try head.requireUncompressed()
        let writer = PartReceiver(
          try await uploads.receivePart(method: head.method, target: head.target, contentLength: head.contentLength))
        return .needsBody { body in
          do {
            var reply = Reply(.ok)
            reply.fields[.eTag] = try await writer.receive(&body)
            reply.fields[.contentLength] = "0"
            return reply
          } catch { return api.partRefusal(error) }
        }
      } catch { return .reply(api.partRefusal(error)) }
    }

    // MARK: - Sending

    private func send(
      _ reply: Reply, _ writer: consuming ResponseWriter, _ channel: any Channel, _ transfer: UInt64, closes: Bool
    ) async throws {
      var fields = reply.fields
      fields[.server] = "packstore-host"
      fields[.xContentTypeOptions] = "nosniff"
      if fields[.cacheControl] == nil { fields[.cacheControl] = "no-store" }
      if closes { fields[.connection] = "close" }
      let head = HTTPResponse(status: reply.status, headerFields: fields)
      table.limit(transfer, to: options.duration(for: Int64(clamping: reply.byteCount ?? 0)))
      switch reply.body {
      case .none, .events: try await writer.writeResponse(head)
      case .bytes(let bytes):
        try await writer.write(response: head, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
      case .file(let file, let range): try await send(file, range, head, writer, channel, transfer)
      }
    }

    private static let pieceByteCount: UInt64 = 64 << 10

    private func send(
      _ file: ServedFile, _ range: Range<UInt64>, _ head: HTTPResponse, _ writer: consuming ResponseWriter,
      _ channel: any Channel, _ transfer: UInt64
    ) async throws {
      var body = try await writer.writeHead(head)
      var offset = range.lowerBound
      while offset < range.upperBound {
        let end = min(range.upperBound, offset + Self.pieceByteCount)
        var buffer = ByteBufferAllocator().buffer(capacity: Int(end - offset))
        try file.read(offset..<end, into: &buffer)
        try await body.write(buffer)
        // Writers wait for a slow client only after the connection's thread has seen the data.
        try await channel.eventLoop.submit {}.get()
        table.progress(transfer)
        offset = end
      }
      try await body.finish(nil)
    }

    private static let busy = HTTPResponse(
      status: .serviceUnavailable, headerFields: [.retryAfter: "1", .contentLength: "0", .connection: "close"])
  }
#endif
