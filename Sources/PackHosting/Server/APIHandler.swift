#if Hosting
  import GRDB
  import HTTPTypes
  import Logging
  import PackServer
  import PackStore

  /// Answers requests to the API: credentials, rate, route, rights, parameters, body, operation, in this order.
  struct APIHandler: Sendable {
    let table: RouteTable
    let authenticator: Authenticator
    let limiter: RateLimiter
    let clock: any TimeSource
    let random: any RandomSource
    let bodyByteCount: Int
    private let memory: BodyMemory
    private let logger: Logger

    /// The OpenAPI document of the table.
    private let document: [UInt8]

    init(
      _ table: RouteTable, authenticator: Authenticator, limiter: RateLimiter, clock: any TimeSource,
      random: any RandomSource, bodyByteCount: Int, memory: BodyMemory = BodyMemory(), logger: Logger
    ) {
      self.logger = logger
      self.memory = memory
      (self.table, self.authenticator, self.limiter) = (table, authenticator, limiter)
      (self.clock, self.random, self.bodyByteCount) = (clock, random, bodyByteCount)
      document = OpenAPIDocument(table: table).output.bytes
    }

    /// The document of the API, which needs no credential.
    static let documentPath = "/packstore/v1/openapi.json"

    /// Checks a request before its body is read, so that a refused one is not sent.
    func prepare(_ head: RequestHead) async -> PreparedReply {
      if head.path == Self.documentPath, head.method == "GET" { return .reply(.json(document)) }
      var fields = HTTPFields()
      do {
        let caller = try await authenticator.caller(
          head.fields[values: .authorization], method: head.method, target: head.target)
        let verdict = limiter.admit(caller.credential, at: clock.now)
        fields[.rateLimit] = verdict.field
        guard verdict.isAdmitted else {
          fields[.retryAfter] = String(verdict.retrySeconds)
          throw APIError.rateLimitExceeded(verdict)
        }
        return try await prepare(head, caller, fields)
      } catch {
        return .reply(refusal(error, fields))
      }
    }

    private func prepare(_ head: RequestHead, _ caller: Authenticator.Caller, _ fields: HTTPFields) async throws
      -> PreparedReply
    {
      let principal = caller.principal
      let match = try table.match(head.method, head.path)
      try principal.require(match.route.right)
      let query = try Query(parsing: head.query, match.route.allParameters)
      let call = { @Sendable body in
        Call(principal: principal, id: match.id, query: query, body: body, base: head.base, path: String(head.path))
      }
      guard let schema = match.route.body else {
        return .reply(Reply(try await match.route.handle(call(nil)), fields))
      }
      let limit = match.route.bodyByteCount ?? bodyByteCount
      try checkBody(head, limit)
      let share = BodyMemory.Share(memory, of: caller.credential)
      try share.grow(to: Int(clamping: head.contentLength ?? 0))
      return .needsBody { body in
        defer { withExtendedLifetime(share) {} }
        do {
          let bytes = try await body.all(limit: limit, share)
          let parsed = try Body(parsing: bytes, schema, id: schema.hasID ? match.id : nil)
          return Reply(try await match.route.handle(call(parsed)), fields)
        } catch {
          return refusal(error, fields)
        }
      }
    }

    /// JSON is the only type of bodies, in both directions.
    private func checkBody(_ head: RequestHead, _ limit: Int) throws {
      if let length = head.contentLength, length > Int64(limit) {
        throw APIError.malformed(413, "body: longer than \(limit) bytes; send less")
      }
      try head.requireUncompressed()
      guard let type = head.fields[.contentType], !type.isEmpty else { return }
      let essence = type.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased()
      guard essence == "application/json" || essence == "application/vnd.api+json" else {
        throw APIError(
          415, "UNSUPPORTED_MEDIA_TYPE", "The content type is not supported",
          "Content-Type: not application/json; send JSON")
      }
    }

    /// Returns the answer for a fault. Causes inside of the host are logged, and not shown to clients.
    func refusal(_ error: any Error, _ fields: HTTPFields = HTTPFields()) -> Reply {
      let errors: [APIError] =
        switch error {
        case let error as APIError: [error]
        case let errors as APIErrors: errors.all
        case is ConnectionLost: [.malformed(400, "body: incomplete; send it again")]
        default: [hostFault(error)]
        }
      let status = errors.first?.status ?? 500
      var reply = Reply(Answer(status, ErrorDocument.body(errors, random)), fields)
      switch status {
      case 401: reply.fields[.wwwAuthenticate] = "Bearer"
      case 405: reply.fields[.allow] = "GET, HEAD, POST, PATCH, DELETE"
      case 503: reply.fields[.retryAfter] = "1"
      default: break
      }
      return reply
    }
  }

  extension APIHandler {
    /// Returns the answer for a fault of a part's PUT, with the time after which the client may repeat it.
    func partRefusal(_ error: any Error) -> Reply {
      var reply = refusal(error)
      if reply.status == .serviceUnavailable { reply.fields[.retryAfter] = "60" }
      if reply.status == .methodNotAllowed { reply.fields[.allow] = PartURLSigner.method }
      return reply
    }

    private func hostFault(_ error: any Error) -> APIError {
      logger.error("request: failed", metadata: ["error": "\(error)"])
      let isFull =
        (error as? DatabaseError)?.resultCode == .SQLITE_FULL || (error as? PackStoreError)?.code == .noSpace
      return isFull ? .limitReached("disk of the host: full; ask the operator") : .internalFault
    }
  }

  /// The reply of a request whose head was checked.
  enum PreparedReply: Sendable {
    case reply(Reply)

    /// The reply depends on the body.
    case needsBody(@Sendable (inout BodyReader) async -> Reply)
  }

  extension Reply {
    init(_ answer: Answer, _ fields: HTTPFields = HTTPFields()) {
      self = answer.body.map { .json($0.bytes) } ?? Reply(.noContent)
      status = HTTPResponse.Status(code: answer.status)
      for field in fields { self.fields.append(field) }
      if let location = answer.location { self.fields[.location] = location }
    }

    static func json(_ bytes: [UInt8]) -> Reply {
      var reply = Reply(.ok)
      reply.fields[.contentType] = "application/json"
      reply.fields[.contentLength] = "\(bytes.count)"
      reply.body = .bytes(bytes)
      return reply
    }
  }
#endif
