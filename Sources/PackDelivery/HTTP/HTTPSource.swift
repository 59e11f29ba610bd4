#if Delivery
  import AsyncHTTPClient
  import NIOCore
  import NIOHTTP1
  package import PackStore
  import Synchronization

  /// A site on a web server.
  ///
  /// Requests one range at a time and keeps connections open. A request with a temporary failure is repeated for the missing bytes;
  /// see ``RetryPolicy``. The server is not trusted: excess bytes are cut off, and the caller checks the bytes against signed
  /// digests.
  package final class HTTPSource: SiteSource {
    package struct Options: Sendable {
      /// A transfer without a byte for this long is cancelled and tried again.
      package var stallLimit: Duration = .seconds(20)
      package var connectLimit: Duration = .seconds(15)
      /// A connection without a byte in either direction for this long is closed; `nil`: only the stall limit applies.
      package var idleLimit: Duration?
      /// The maximum number of connections.
      package var connectionCount = 6
      package var limits = Store.PullOptions.NetworkLimits()
      /// Whether any server may redirect to an address. Tests replace it.
      package var isPublic: @Sendable (IPAddress) -> Bool = { $0.isPublic }
      package var retry = RetryPolicy()
      package var clock = TransferClock.system
      package var pace = Pace()
      /// Environment variables with the proxies and the certificates to trust.
      package var environment: [String: String] = [:]
      /// PEM certificates to trust instead of those.
      package var authority: String?
      /// Whether the site's own server may be in a private network; false for a place to which a public site moved.
      package var siteMayBePrivate = true
      /// Called before a server is contacted, also after a redirection; an error ends the transfer.
      package var permitsHost: (@Sendable (String) throws -> Void)?
      /// Sent to the site's own server. A name and a password in its URL override it.
      package var authorization: SiteAuthorization?
      /// Simulates a network in place of the real one.
      package var network: ShapedNetwork?

      package init() {}
    }

    /// State learned about the server.
    struct ServerState {
      /// The URL of later requests: the URL that the user gave, or the target of a file's redirect.
      var base: SiteURL
      /// Whether a redirect of one file applies to other files; false after such a place lacked a file.
      var adoptsRedirections = true
      /// Whether ``base`` may be in a private network: no public server redirected there.
      var mayBePrivate: Bool
      /// Whether the site's own URL may be in a private network.
      let startMayBePrivate: Bool
      /// `nil`: no range was requested yet.
      var hasRanges: Bool?
      /// Whether a request with a range was refused, and the same request without one was not.
      var refusesRanges = false
      /// The validators of partly received files.
      var validators: [String: Validator] = [:]
      var ignoresValidators = false
      /// The `Date` of the last answer without a change, in nanoseconds since 1970.
      var confirmedAt: Int64?

      init(base: SiteURL, mayBePrivate: Bool) {
        self.base = base
        self.mayBePrivate = mayBePrivate
        startMayBePrivate = mayBePrivate
      }

      /// Returns to the site's own URL.
      ///
      /// - Parameter permanently: whether later redirects are ignored too.
      mutating func leave(for start: SiteURL, permanently: Bool) {
        base = start
        mayBePrivate = startMayBePrivate
        if permanently { adoptsRedirections = false }
      }

      /// Records that the server sends whole files only, and refuses ranges.
      mutating func didRefuseRanges() {
        refusesRanges = true
        hasRanges = false
      }
    }

    package let location: String
    package let isLocal = false
    /// The URL of the site that the user gave.
    let start: SiteURL
    let options: Options
    let clients: HTTPClients
    let watch: TransferWatch
    let knowledge: Mutex<ServerState>
    private let authenticator: SiteAuthenticator

    /// - Throws: `invalidLocation`.
    package init(_ url: String, options: Options = Options()) throws {
      let named = SiteUserInfo(url)
      let start = try SiteURL(named?.url ?? url)
      authenticator = SiteAuthenticator(try named?.authorization ?? options.authorization)
      self.start = start
      location = start.canonical
      self.options = options
      knowledge = Mutex(ServerState(base: start, mayBePrivate: options.siteMayBePrivate))
      watch = TransferWatch(stallLimit: options.stallLimit, options.limits, options.clock)
      clients = try HTTPClients(options)
    }

    package var hasRanges: Bool { knowledge.withLock { $0.hasRanges ?? true } }

    package func place(of path: String) -> String { knowledge.withLock { $0.base.file(path) } }

    package func restart(ignoringValidators: Bool) {
      knowledge.withLock { knowledge in
        if knowledge.base != start { knowledge.leave(for: start, permanently: true) }
        knowledge.validators = [:]
        knowledge.ignoresValidators = knowledge.ignoresValidators || ignoringValidators
      }
    }

    package func close() async { await clients.shutdown() }
  }

  // MARK: - Parts

  extension HTTPSource {
    package func read(
      _ file: SiteFile, at offset: UInt64, into buffer: TransferBuffer, isFresh: Bool
    ) async throws {
      buffer.clear()
      var retry = Retry(options.retry, options.clock)
      // The most bytes of any attempt: without ranges, each attempt begins again, and bytes that came before are not progress.
      var furthest = 0
      while !buffer.isFull {
        do {
          try await watch.run { [self] pulse in
            try await readOnce(file, at: offset, into: buffer, isFresh: isFresh, pulse)
          }
        } catch SourceFault.noRanges where UInt64(buffer.count) == file.byteCount {
          // Its end was requested after a break; the next attempt requests the whole file.
        } catch {
          let fault = try transient(error, file.path)
          retry.madeProgress(by: max(buffer.filledCount - furthest, 0))
          furthest = max(furthest, buffer.filledCount)
          try await pause(before: &retry, after: fault, file.path)
        }
      }
    }

    /// Waits before another attempt.
    func pause(
      before retry: inout Retry, after fault: TransientFault, _ path: String, _ budget: TimeBudget? = nil
    ) async throws {
      let delay = try retry.delay(after: fault.error, demanded: fault.demandedDelay)
      // The mirror that the site redirected to may be down; the site may choose another one.
      leaveLearnedPlace(permanently: false)
      do {
        try await watch.pause(delay, isDemanded: fault.demandedDelay != nil, budget)
      } catch let error as TransferFault {
        throw try transient(error, path)
      }
    }

    /// Requests the missing bytes of `buffer`, and appends them.
    private func readOnce(
      _ file: SiteFile, at offset: UInt64, into buffer: TransferBuffer, isFresh: Bool, _ pulse: Pulse
    ) async throws {
      let isWhole = offset == 0 && UInt64(buffer.count) == file.byteCount
      if isWhole, !hasRanges { buffer.clear() }
      // A whole file needs no range: some servers are faster without, and caches can store the answer.
      if isWhole, buffer.filledCount == 0 {
        return try await request(file, nil, into: buffer, isFresh: isFresh, pulse)
      }
      guard hasRanges else { throw SourceFault.noRanges }
      let first = offset + UInt64(buffer.filledCount)
      try await request(file, first..<offset + UInt64(buffer.count), into: buffer, isFresh: isFresh, pulse)
    }

    private func request(
      _ file: SiteFile, _ range: Range<UInt64>?, into buffer: TransferBuffer, isFresh: Bool, _ pulse: Pulse
    ) async throws {
      buffer.requestCount += 1
      guard isFresh else { return try await request(file, range, into: buffer, [], by: clients, pulse) }
      try await clients.withFreshClients { clients in
        try await request(file, range, into: buffer, [("Cache-Control", "no-cache")], by: clients, pulse)
      }
    }

    private func request(
      _ file: SiteFile, _ range: Range<UInt64>?, into buffer: TransferBuffer, _ fields: [(String, String)],
      by clients: HTTPClients, _ pulse: Pulse
    ) async throws {
      guard let range else {
        let response = try await get(file.path, fields: fields, with: clients, pulse)
        try checkWhole(response, file)
        remember(response.headers, file)
        return try await receive(response, file, RangeAnswer(wholeOf: file), into: buffer, pulse)
      }
      let known = knowledge.withLock { $0.ignoresValidators ? nil : $0.validators[file.path] }
      let condition = known.map { [("If-Range", $0.value)] } ?? []
      let response = try await get(
        file.path, fields: fields + [("Range", "bytes=\(range.httpText)")] + condition, with: clients, pulse)
      if response.status.mayRefuseRange {
        throw try await refusalOfRange(response, file, fields, into: buffer, by: clients, pulse)
      }
      let answer = try rangeAnswer(response, file, range, known)
      try payForExcess(of: answer, buffer)
      knowledge.withLock { if !$0.refusesRanges { $0.hasRanges = true } }
      remember(response.headers, file)
      try await receive(response, file, answer, into: buffer, pulse)
    }

    /// Appends the requested part of a body to the buffer.
    private func receive(
      _ response: HTTPClientResponse, _ file: SiteFile, _ answer: RangeAnswer, into buffer: TransferBuffer,
      _ pulse: Pulse
    ) async throws {
      var expected = answer.given.count, skipped = answer.skippedCount, useful = answer.useful.count
      for try await bytes in response.body {
        pulse.beat(bytes.readableBytes)
        buffer.wireByteCount += bytes.readableBytes
        guard bytes.readableBytes <= expected else {
          throw DeliveryError(.badResponse, "the server sent more than requested", at: place(of: file.path))
        }
        expected -= bytes.readableBytes
        bytes.withUnsafeReadableBytes { bytes in
          let part = bytes.dropFirst(skipped).prefix(useful)
          skipped -= min(skipped, bytes.count)
          useful -= part.count
          buffer.append(UnsafeRawBufferPointer(rebasing: part))
        }
        try await pulse.hold { try await options.pace.pay(bytes.readableBytes) }
        // The body ends here, or after a few bytes, and the connection can be reused.
        if useful == 0, expected > Self.excessByteLimit { break }
      }
      try Task.checkCancellation()
      if useful > 0 { throw bad(file.path, "the connection ended early") }
    }

    /// Returns the part of the file in an answer to a request for `range`.
    private func rangeAnswer(
      _ response: HTTPClientResponse, _ file: SiteFile, _ range: Range<UInt64>, _ known: Validator?
    ) throws -> RangeAnswer {
      switch response.status {
      case .partialContent: break
      case .ok:
        // If-Range failed, or the server does not support ranges. The tag distinguishes the two.
        if let known, Validator(response.headers) != known { throw changed(file, "changed since it was opened") }
        try checkLength(response, file)
        knowledge.withLock { $0.hasRanges = false }
        throw SourceFault.noRanges
      default: throw fileRefusal(response, file)
      }
      guard let given = ContentRange(response.header("Content-Range")) else {
        throw bad(file.path, "the answer does not name its range")
      }
      if let total = given.total, total != file.byteCount {
        throw changed(file, "has another length than the site records")
      }
      guard let answer = RangeAnswer(given, to: range) else {
        throw bad(file.path, "requested bytes \(range.httpText), got \(given.range.httpText)")
      }
      // Servers that do not know If-Range ignore it.
      if let known, known.isTag, let tag = Validator(response.headers), tag.isTag, tag != known {
        throw changed(file, "changed since it was opened")
      }
      return answer
    }

    /// Counts excess bytes of an answer. Many of them cost more than reading the file sequentially.
    ///
    /// - Throws: `SourceFault.noRanges`.
    private func payForExcess(of answer: RangeAnswer, _ buffer: TransferBuffer) throws {
      // Bytes after the range are received only up to a limit.
      let after = answer.excessCount - answer.skippedCount
      let received = answer.skippedCount.addingClamped(min(after, Self.excessByteLimit))
      buffer.excessByteCount = buffer.excessByteCount.addingClamped(received)
      guard buffer.excessByteCount > buffer.count.addingClamped(Self.excessByteLimit) else { return }
      knowledge.withLock { $0.didRefuseRanges() }
      throw SourceFault.noRanges
    }

    /// Fewer excess bytes than this cost less than another request.
    private static let excessByteLimit = 64 << 10

    /// Returns the error for a refused range. Requests the file once without a range: if that succeeds, the server refuses ranges.
    private func refusalOfRange(
      _ response: HTTPClientResponse, _ file: SiteFile, _ fields: [(String, String)], into buffer: TransferBuffer,
      by clients: HTTPClients, _ pulse: Pulse
    ) async throws -> any Error {
      let isUnsatisfied = response.status == .rangeNotSatisfiable
      if isUnsatisfied, let length = ContentRange.lengthOfUnsatisfied(response.header("Content-Range")),
        length != file.byteCount
      {
        return changed(file, "has another length than the site records")
      }
      buffer.requestCount += 1
      let whole = try await get(file.path, fields: fields, with: clients, pulse)
      if isUnsatisfied, whole.status == .rangeNotSatisfiable {
        return changed(file, "shorter than the site records")
      }
      try checkWhole(whole, file)
      knowledge.withLock { $0.didRefuseRanges() }
      return SourceFault.noRanges
    }

    /// Checks that a response is the whole of a file.
    func checkWhole(_ response: HTTPClientResponse, _ file: SiteFile) throws {
      switch response.status {
      case .ok: break
      case .partialContent:
        guard let given = ContentRange(response.header("Content-Range")) else { throw fileRefusal(response, file) }
        guard given.range == 0..<file.byteCount else {
          throw bad(file.path, "requested the whole file, got bytes \(given.range.httpText)")
        }
      default: throw fileRefusal(response, file)
      }
      try checkLength(response, file)
    }

    private func checkLength(_ response: HTTPClientResponse, _ file: SiteFile) throws {
      if let length = response.headers.contentLength, length != file.byteCount {
        throw changed(file, "has another length than the site records")
      }
    }

    private func remember(_ headers: HTTPHeaders, _ file: SiteFile) {
      guard let validator = Validator(headers) else { return }
      knowledge.withLock { $0.validators[file.path] = validator }
    }
  }

  // MARK: - Requests

  extension HTTPSource {
    /// Sends one request, and follows redirects. The body is still to come.
    ///
    /// The target of an earlier redirect may refuse a file that the site has: its URL may be signed for another file, or have
    /// expired. Such a file, and all later ones, are requested at the site's own URL.
    ///
    /// Releasing the response ends the transfer.
    func get(
      _ path: String, fields: [(String, String)], with clients: HTTPClients? = nil, _ pulse: Pulse
    ) async throws -> HTTPClientResponse {
      try await pulse.hold { try await options.pace.pass() }
      let clients = clients ?? self.clients
      let now = knowledge.withLock { $0 }
      var answer = try await follow(path, from: now.base, mayBePrivate: now.mayBePrivate, fields, clients, pulse)
      if now.base != start, answer.response.status.mayDependOnPlace {
        leaveLearnedPlace(permanently: true)
        answer = try await follow(path, from: start, mayBePrivate: options.siteMayBePrivate, fields, clients, pulse)
      }
      if answer.wasRedirected, answer.response.status.mayBeOfAnExpiredURL {
        // A cache may keep a redirect longer than its signature is valid.
        let fresh = fields.filter { $0.0 != "Cache-Control" } + [("Cache-Control", "no-cache")]
        answer = try await follow(path, from: start, mayBePrivate: options.siteMayBePrivate, fresh, clients, pulse)
      }
      for _ in 0..<SiteAuthenticator.refusalLimit {
        guard try await isAuthorizedAgain(after: answer, pulse) else { break }
        answer = try await follow(path, from: start, mayBePrivate: options.siteMayBePrivate, fields, clients, pulse)
      }
      do {
        return try await MultipartAnswer.firstPart(of: answer.response)
      } catch is MultipartAnswer.Malformed {
        throw bad(path, "the server sent several ranges in an invalid form")
      }
    }

    /// A response, and its request.
    private struct Answer {
      let response: HTTPClientResponse
      let url: SiteURL
      let wasRedirected: Bool
      let issue: SiteAuthenticator.Issue
    }

    /// Whether the site's server refused a request without an authorization, and a new authorization is available.
    private func isAuthorizedAgain(after answer: Answer, _ pulse: Pulse) async throws -> Bool {
      guard answer.response.status == .unauthorized, answer.url.hasSameOrigin(as: start) else { return false }
      return try await pulse.hold { [authenticator] in
        try await authenticator.renew(after: answer.issue, answer.response.headers, at: answer.url)
      }
    }

    private func follow(
      _ path: String, from base: SiteURL, mayBePrivate: Bool, _ fields: [(String, String)], _ clients: HTTPClients,
      _ pulse: Pulse
    ) async throws -> Answer {
      var way = Redirections(
        from: try SiteURL(base.file(path)), mayBePrivate: mayBePrivate, limit: options.limits.redirectLimit)
      let issue = authenticator.issue
      while true {
        do { try options.permitsHost?(way.url.plainHost) } catch { throw RefusedHost(error: error) }
        let headers = headers(fields, issue, to: way.url)
        let response = try await pulse.awaitAnswer { [way] in
          guard let network = options.network else {
            return try await clients.get(way.url, headers, mayBePrivate: way.mayBePrivate)
          }
          return try await network.get(String(way.url.target), range: headers.first(name: "Range")) {
            try await clients.get(way.url, headers, mayBePrivate: way.mayBePrivate)
          }
        }
        if try way.follow(response, by: clients) { continue }
        if [.ok, .partialContent, .notModified].contains(response.status) {
          authenticator.didSucceed(issue)
          if way.count > 0 { adopt(way.url, path, mayBePrivate: way.mayBePrivate) }
        }
        guard response.headers.isIdentity else {
          throw DeliveryError(
            .badResponse, "the server applied a content encoding to the file", at: way.url.text)
        }
        return Answer(response: response, url: way.url, wasRedirected: way.count > 0, issue: issue)
      }
    }

    /// An authorization is sent only to the server in the user's URL, not to redirect targets.
    private func headers(
      _ fields: [(String, String)], _ issue: SiteAuthenticator.Issue, to url: SiteURL
    ) -> HTTPHeaders {
      var headers = HTTPHeaders(fields)
      headers.add(name: "Accept-Encoding", value: "identity")
      let own = url.hasSameOrigin(as: start) ? issue.fields : []
      if !own.contains(where: { $0.name.lowercased() == "user-agent" }) {
        headers.add(name: "User-Agent", value: "PackStore")
      }
      for field in own { headers.add(name: field.name, value: field.value) }
      return headers
    }

    /// Adopts the target of a redirect: if one file moved and exists there, the whole site has probably moved, and later requests
    /// go there directly.
    ///
    /// A query in the target belongs to that file only: it may sign the file's path, or expire. Such a target is not adopted, and
    /// each file is requested at the site's own URL.
    private func adopt(_ url: SiteURL, _ path: String, mayBePrivate: Bool) {
      guard let folder = url.folder(of: path), folder.query.isEmpty || folder.query == start.query else { return }
      knowledge.withLock { knowledge in
        guard knowledge.adoptsRedirections else { return }
        knowledge.base = folder
        knowledge.mayBePrivate = mayBePrivate
      }
    }

    /// Returns to the site's own URL.
    private func leaveLearnedPlace(permanently: Bool) {
      knowledge.withLock { knowledge in
        if knowledge.base != start || permanently { knowledge.leave(for: start, permanently: permanently) }
      }
    }
  }

  extension HTTPResponseStatus {
    /// Whether a file may be refused with this status at one URL, and served at another.
    fileprivate var mayDependOnPlace: Bool {
      // The excluded statuses concern the state of the file, the range, or the time of the request.
      (400...499).contains(code) && ![408, 412, 416, 425, 429].contains(code)
    }

    /// Whether object storage returns this status for a URL whose signature has expired.
    fileprivate var mayBeOfAnExpiredURL: Bool { [400, 401, 403].contains(code) }
  }

  // MARK: - Errors

  /// A fault that may disappear in another attempt.
  struct TransientFault: Error {
    let error: DeliveryError
    var demandedDelay: Duration?
  }

  extension HTTPSource {
    /// Creates a fault of a server that violates a rule, or of a broken connection: worth another attempt.
    func bad(_ path: String, _ what: String) -> TransientFault {
      TransientFault(
        error: DeliveryError(.badResponse, "invalid answer of the server (\(what))", at: place(of: path)))
    }

    func changed(_ file: SiteFile, _ what: String) -> SourceFault {
      .siteChanged(DeliveryError(.siteChanged, what, at: place(of: file.path)))
    }

    /// Returns the error for an unexpected status.
    func refusal(_ response: HTTPClientResponse, _ path: String) -> any Error {
      let status = response.status
      let text = "the server answered \(status.code) \(status.reasonPhrase)"
      switch status.code {
      case 408, 425, 429, 500...599:
        return TransientFault(
          error: DeliveryError(.unreachable, text, at: place(of: path)), demandedDelay: response.headers.retryAfter)
      case 401:
        var error = DeliveryError(.denied, text, at: place(of: path))
        error.needsAuthorization = true
        return error
      case 400...499: return DeliveryError(.denied, text, at: place(of: path))
      default: return DeliveryError(.badResponse, text, at: place(of: path))
      }
    }

    /// Returns the error for an unexpected status of a file in a signed root.
    func fileRefusal(_ response: HTTPClientResponse, _ file: SiteFile) -> any Error {
      switch response.status {
      case .notFound, .gone: changed(file, "does not exist")
      case .preconditionFailed: changed(file, "changed since it was opened")
      default: refusal(response, file.path)
      }
    }

    /// - Throws: `error` if another attempt is useless.
    func transient(_ error: any Error, _ path: String) throws -> TransientFault {
      try Task.checkCancellation()
      switch error {
      case let fault as TransientFault: return fault
      case is SourceFault, is DeliveryError, is CancellationError: throw error
      case let fault as TransferFault: return try transient(fault, path)
      case let refusal as RefusedHost: throw refusal.error
      case let refusal as RefusedAddress:
        throw DeliveryError(
          .badResponse,
          "a public server redirects to the private address \(refusal.address), which is refused",
          at: place(of: path), limit: .privateRedirects)
      // Also if it arrives with the previous answer on a kept connection: either request may observe it.
      case let malformed as HTTPParserError where malformed != .invalidEOFState:
        return bad(path, "not HTTP: \(ConnectionFault(malformed))")
      case let fault as ProxyFault:
        guard fault.isTemporary else { throw fault.error(at: place(of: path)) }
        return TransientFault(error: fault.error(at: place(of: path)))
      default:
        if let fault = CertificateFault(error) { throw fault.error(at: place(of: path)) }
        return TransientFault(
          error: DeliveryError(.unreachable, "the connection failed (\(ConnectionFault(error)))", at: place(of: path)))
      }
    }

    private func transient(_ fault: TransferFault, _ path: String) throws -> TransientFault {
      let limits = options.limits
      func error(_ reason: String, _ limit: DeliveryError.Limit? = nil) -> DeliveryError {
        DeliveryError(.unreachable, reason, at: place(of: path), limit: limit)
      }
      let slow = "received less than \(formatBytes(limits.minimumByteRate)) a second for \(limits.slowLimit)"
      switch fault {
      case .stalled: return TransientFault(error: error("received no byte for \(options.stallLimit)"))
      case .unanswered: return TransientFault(error: error("received no answer for \(limits.answerLimit)", .answer))
      case .slow: return TransientFault(error: error(slow, .rate))
      case .slowAgain: throw error(slow + ", twice", .rate)
      case .overdue: throw error("not received within \(limits.rootLimit)", .root)
      }
    }
  }

  /// The caller does not permit requests to a host.
  private struct RefusedHost: Error {
    let error: any Error
  }

  extension HTTPClientResponse {
    func header(_ name: String) -> String { headers.first(name: name) ?? "" }
  }
#endif
