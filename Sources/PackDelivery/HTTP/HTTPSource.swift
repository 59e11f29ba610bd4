#if Delivery
  import AsyncHTTPClient
  import NIOCore
  import NIOHTTP1
  package import PackStore
  import Synchronization

  /// A site on a web server.
  ///
  /// Asks for one range with each request and keeps connections. A request that failed in a way that may pass is made
  /// again for what is still missing; see ``RetryPolicy``. Nothing is believed of a server: what comes is cut where it
  /// should end, and compared by the caller with what was signed.
  package final class HTTPSource: SiteSource {
    package struct Options: Sendable {
      /// A transfer in which no byte came for this long is given up and tried again.
      package var stallLimit: Duration = .seconds(20)
      package var connectLimit: Duration = .seconds(15)
      /// A connection that neither takes nor gives a byte for so long is ended; nil: the stall limit alone counts.
      package var idleLimit: Duration?
      /// How many connections there are at most.
      package var connectionCount = 6
      package var limits = Store.PullOptions.NetworkLimits()
      /// Whether an address is one that servers anywhere may redirect to. Tests have their own idea.
      package var isPublic: @Sendable (IPAddress) -> Bool = { $0.isPublic }
      package var retry = RetryPolicy()
      package var clock = TransferClock.system
      package var pace = Pace()
      /// Names the proxies and the certificates to trust.
      package var environment: [String: String] = [:]
      /// In PEM: the certificates to trust in place of these.
      package var authority: String?
      /// What plays another network than the real one.
      package var network: ShapedNetwork?

      package init() {}
    }

    /// What is known of the server.
    struct Knowledge {
      /// Where requests begin: the URL that the user gave, or the place that a redirect of a file led to.
      var base: SiteURL
      /// Whether a redirection of one file counts for the others: not where one that did led to a place that lacks
      /// some.
      var adoptsRedirections = true
      /// Whether ``base`` may be in a private network: no public server led there.
      var mayBePrivate = true
      /// Nil: no range was asked for yet.
      var hasRanges: Bool?
      /// Of files of which a part came.
      var validators: [String: Validator] = [:]
      var ignoresValidators = false

      /// Begins requests at the site's own URL again.
      ///
      /// - Parameter permanently: whether no other place is learned afterwards.
      mutating func leave(for start: SiteURL, permanently: Bool) {
        base = start
        mayBePrivate = true
        if permanently { adoptsRedirections = false }
      }
    }

    package let location: String
    package let isLocal = false
    /// Where the user says that the site is.
    private let start: SiteURL
    let options: Options
    let clients: HTTPClients
    let watch: TransferWatch
    let knowledge: Mutex<Knowledge>

    /// - Throws: `invalidLocation`.
    package init(_ url: String, options: Options = Options()) throws {
      let start = try SiteURL(url)
      self.start = start
      location = start.canonical
      self.options = options
      knowledge = Mutex(Knowledge(base: start))
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

  // MARK: - Whole small files

  extension HTTPSource {
    /// Asks for the range of all bytes, which tells whether the server has ranges before any is needed.
    package func readWhole(
      _ path: String, upTo limit: Int, unless known: FileValidators?, counting tally: WireTally
    ) async throws -> WholeFile? {
      var policy = options.retry
      // No server seems to be there: say so soon.
      if knowledge.withLock({ $0.hasRanges == nil }) { policy.attemptLimit = min(policy.attemptLimit, 3) }
      var retry = Retry(policy, options.clock)
      let budget = TimeBudget(options.limits.rootLimit)
      while true {
        do {
          return try await watch.run(budget) { [self] pulse in
            try await readWholeOnce(path, upTo: limit, unless: known, tally, pulse)
          }
        } catch {
          let fault = try transient(error, path)
          try await pause(before: &retry, after: fault, path, budget)
        }
      }
    }

    private func readWholeOnce(
      _ path: String, upTo limit: Int, unless known: FileValidators?, _ tally: WireTally, _ pulse: Pulse
    ) async throws -> WholeFile? {
      tally.beginRequest()
      let fields = [("Range", "bytes=0-\(limit - 1)"), ("Cache-Control", "no-cache")] + (known?.requestFields ?? [])
      let response = try await get(path, fields: fields, pulse)
      if response.status == .notModified, known != nil {
        // To its end, which is here, so that the connection is used again.
        for try await _ in response.body {}
        return nil
      }
      let expected = try wholeByteCount(response, path, upTo: limit)
      let bytes = try await receiveWhole(response, path, expected, upTo: limit, tally, pulse)
      let isFromCache = response.headers.contains(name: "Age")
      return WholeFile(
        bytes: bytes, validators: FileValidators(response.headers),
        date: isFromCache ? nil : response.headers.first(name: "Date"))
    }

    /// How many bytes an answer to a request for a whole file is to bring; nil: it does not say.
    private func wholeByteCount(
      _ response: HTTPClientResponse, _ path: String, upTo limit: Int
    ) throws -> UInt64? {
      var expected = response.headers.contentLength
      switch response.status {
      case .ok:
        // A server may have ranges and none for a range that is all.
        let mayHaveRanges = response.header("Accept-Ranges").lowercased() == "bytes"
        knowledge.withLock { $0.hasRanges = mayHaveRanges ? nil : false }
      case .partialContent:
        guard let range = ContentRange(response.header("Content-Range")), range.range.lowerBound == 0,
          range.total == nil || range.total == range.range.upperBound || range.range.upperBound == UInt64(limit)
        else { throw bad(path, "it sent another range than it was asked for") }
        if let total = range.total, total > UInt64(limit) { throw tooLong(path, limit) }
        expected = UInt64(range.range.count)
        knowledge.withLock { $0.hasRanges = true }
      case .notFound, .gone: throw DeliveryError(.noSite, "there is no site (no file '\(path)')", at: location)
      case .rangeNotSatisfiable: throw DeliveryError(.noSite, "the file '\(path)' is empty", at: location)
      default: throw refusal(response, path)
      }
      if let expected, expected > UInt64(limit) { throw tooLong(path, limit) }
      return expected
    }

    private func receiveWhole(
      _ response: HTTPClientResponse, _ path: String, _ expected: UInt64?, upTo limit: Int, _ tally: WireTally,
      _ pulse: Pulse
    ) async throws -> [UInt8] {
      var bytes: [UInt8] = []
      for try await buffer in response.body {
        pulse.beat(buffer.readableBytes)
        tally.receive(buffer.readableBytes)
        bytes += buffer.readableBytesView
        guard bytes.count <= limit else { throw tooLong(path, limit) }
        try await pulse.hold { try await options.pace.pay(buffer.readableBytes) }
      }
      try Task.checkCancellation()
      if let expected, UInt64(bytes.count) != expected { throw bad(path, "the connection ended early") }
      return bytes
    }

    private func tooLong(_ path: String, _ limit: Int) -> DeliveryError {
      DeliveryError(.badResponse, "the file is longer than \(formatBytes(limit))", at: place(of: path))
    }
  }

  // MARK: - Parts

  extension HTTPSource {
    package func read(
      _ file: SiteFile, at offset: UInt64, into buffer: TransferBuffer, isFresh: Bool
    ) async throws {
      buffer.clear()
      var retry = Retry(options.retry, options.clock)
      while !buffer.isFull {
        let before = buffer.filledCount
        do {
          try await watch.run { [self] pulse in
            try await readOnce(file, at: offset, into: buffer, isFresh: isFresh, pulse)
          }
        } catch SourceFault.noRanges where UInt64(buffer.count) == file.byteCount {
          // Its end was asked for after a break; the next attempt asks for all of it.
        } catch {
          let fault = try transient(error, file.path)
          retry.madeProgress(by: max(buffer.filledCount - before, 0))
          try await pause(before: &retry, after: fault, file.path)
        }
      }
    }

    /// Waits before another attempt.
    func pause(
      before retry: inout Retry, after fault: TransientFault, _ path: String, _ budget: TimeBudget? = nil
    ) async throws {
      let delay = try retry.delay(after: fault.error, demanded: fault.demandedDelay)
      // The mirror that the site chose may be down; the site may choose another one.
      leaveLearnedPlace(permanently: false)
      do {
        try await watch.pause(delay, isDemanded: fault.demandedDelay != nil, budget)
      } catch let error as TransferFault {
        throw try transient(error, path)
      }
    }

    /// Asks for what is missing in `buffer`, and appends what comes.
    private func readOnce(
      _ file: SiteFile, at offset: UInt64, into buffer: TransferBuffer, isFresh: Bool, _ pulse: Pulse
    ) async throws {
      let isWhole = offset == 0 && UInt64(buffer.count) == file.byteCount
      if isWhole, !hasRanges { buffer.clear() }
      // A whole file needs no range, which some servers serve faster and caches keep.
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
      var fields: [(String, String)] = isFresh ? [("Cache-Control", "no-cache")] : []
      let known = knowledge.withLock { $0.ignoresValidators ? nil : $0.validators[file.path] }
      if let range {
        fields.append(("Range", "bytes=\(range.lowerBound)-\(range.upperBound - 1)"))
        if let known { fields.append(("If-Range", known.value)) }
      }
      buffer.requestCount += 1
      guard isFresh else {
        let response = try await get(file.path, fields: fields, pulse)
        return try await receive(response, file, range, known, into: buffer, pulse)
      }
      try await clients.withFreshClients { clients in
        let response = try await get(file.path, fields: fields, with: clients, pulse)
        try await receive(response, file, range, known, into: buffer, pulse)
      }
    }

    /// Appends the body of a response to what was filled.
    private func receive(
      _ response: HTTPClientResponse, _ file: SiteFile, _ range: Range<UInt64>?, _ known: Validator?,
      into buffer: TransferBuffer, _ pulse: Pulse
    ) async throws {
      var expected: Int
      if let range {
        let given = try partialRange(response, file, range, known)
        expected = given.count
        knowledge.withLock { $0.hasRanges = true }
      } else {
        try checkWhole(response, file)
        expected = buffer.count
      }
      remember(response.headers, file)
      for try await bytes in response.body {
        pulse.beat(bytes.readableBytes)
        buffer.wireByteCount += bytes.readableBytes
        guard bytes.readableBytes <= expected else {
          throw DeliveryError(.badResponse, "the server sent more than it was asked for", at: place(of: file.path))
        }
        bytes.withUnsafeReadableBytes { buffer.append($0) }
        expected -= bytes.readableBytes
        try await pulse.hold { try await options.pace.pay(bytes.readableBytes) }
      }
      try Task.checkCancellation()
      if expected > 0 { throw bad(file.path, "the connection ended early") }
    }

    /// What a response to a request for `range` brings: all of it, or its beginning.
    private func partialRange(
      _ response: HTTPClientResponse, _ file: SiteFile, _ range: Range<UInt64>, _ known: Validator?
    ) throws -> Range<UInt64> {
      switch response.status {
      case .partialContent: break
      case .ok:
        // If-Range failed, or there are no ranges. The tag tells which.
        if let known, Validator(response.headers) != known { throw changed(file, "the file changed") }
        if let length = response.headers.contentLength, length != file.byteCount {
          throw changed(file, "the file has another length")
        }
        knowledge.withLock { $0.hasRanges = false }
        throw SourceFault.noRanges
      case .rangeNotSatisfiable: throw changed(file, "the file is shorter than the site says")
      default: throw fileRefusal(response, file)
      }
      guard let given = ContentRange(response.header("Content-Range")) else {
        throw bad(file.path, "it did not say which range it sent")
      }
      if let total = given.total, total != file.byteCount { throw changed(file, "the file has another length") }
      guard given.range.lowerBound == range.lowerBound, given.range.upperBound <= range.upperBound else {
        throw bad(file.path, "it sent another range than it was asked for")
      }
      // Servers that do not know If-Range ignore it.
      if let known, known.isTag, let tag = Validator(response.headers), tag.isTag, tag != known {
        throw changed(file, "the file changed")
      }
      return given.range
    }

    /// That a response is the whole of a file.
    func checkWhole(_ response: HTTPClientResponse, _ file: SiteFile) throws {
      guard response.status == .ok else { throw fileRefusal(response, file) }
      if let length = response.headers.contentLength, length != file.byteCount {
        throw changed(file, "the file has another length")
      }
    }

    private func remember(_ headers: HTTPHeaders, _ file: SiteFile) {
      guard let validator = Validator(headers) else { return }
      knowledge.withLock { $0.validators[file.path] = validator }
    }
  }

  // MARK: - Requests

  extension HTTPSource {
    /// One request, and more if the server redirects. The body is still to come.
    ///
    /// A place that was learned from a redirect may refuse a file that the site has: its URL may be signed for another
    /// file, or have expired. Such a file is requested once more at the site's own URL, and so are all files after it.
    ///
    /// Dropping the response ends the transfer.
    func get(
      _ path: String, fields: [(String, String)], with clients: HTTPClients? = nil, _ pulse: Pulse
    ) async throws -> HTTPClientResponse {
      try await pulse.hold { try await options.pace.pass() }
      let clients = clients ?? self.clients
      let now = knowledge.withLock { $0 }
      let response = try await follow(path, from: now.base, mayBePrivate: now.mayBePrivate, fields, clients, pulse)
      guard now.base != start, response.status.mayDependOnPlace else { return response }
      leaveLearnedPlace(permanently: true)
      return try await follow(path, from: start, mayBePrivate: true, fields, clients, pulse)
    }

    private func follow(
      _ path: String, from base: SiteURL, mayBePrivate: Bool, _ fields: [(String, String)], _ clients: HTTPClients,
      _ pulse: Pulse
    ) async throws -> HTTPClientResponse {
      var way = Redirections(
        from: try SiteURL(base.file(path)), mayBePrivate: mayBePrivate, limit: options.limits.redirectLimit)
      var headers = HTTPHeaders(fields)
      headers.add(name: "Accept-Encoding", value: "identity")
      headers.add(name: "User-Agent", value: "PackStore")
      while true {
        let response = try await pulse.awaitAnswer { [way, headers] in
          guard let network = options.network else {
            return try await clients.get(way.url, headers, mayBePrivate: way.mayBePrivate)
          }
          return try await network.get(String(way.url.target), range: headers.first(name: "Range")) {
            try await clients.get(way.url, headers, mayBePrivate: way.mayBePrivate)
          }
        }
        if try way.follow(response, by: clients) { continue }
        if way.count > 0, [.ok, .partialContent, .notModified].contains(response.status) {
          adopt(way.url, path, mayBePrivate: way.mayBePrivate)
        }
        guard response.headers.isIdentity else {
          throw DeliveryError(
            .badResponse, "the server sends it in another encoding than it is stored", at: way.url.text)
        }
        return response
      }
    }

    /// The site moved as a whole if a file of it did, and is there: later requests go there at once.
    ///
    /// A query that the redirect added belongs to that file alone: it may sign the file's path, or expire. Such a place is
    /// not learned, and each file is requested at the site's own URL.
    private func adopt(_ url: SiteURL, _ path: String, mayBePrivate: Bool) {
      guard let folder = url.folder(of: path), folder.query.isEmpty || folder.query == start.query else { return }
      knowledge.withLock { knowledge in
        guard knowledge.adoptsRedirections else { return }
        knowledge.base = folder
        knowledge.mayBePrivate = mayBePrivate
      }
    }

    /// Begins requests at the site's own URL again.
    private func leaveLearnedPlace(permanently: Bool) {
      knowledge.withLock { knowledge in
        if knowledge.base != start || permanently { knowledge.leave(for: start, permanently: permanently) }
      }
    }
  }

  extension HTTPResponseStatus {
    /// Whether a file may be refused with this status at one URL, and served at another.
    fileprivate var mayDependOnPlace: Bool {
      // The others concern the state of the file, the range or the time of the request.
      (400...499).contains(code) && ![408, 412, 416, 425, 429].contains(code)
    }
  }

  // MARK: - Errors

  /// What may pass when it is tried again.
  struct TransientFault: Error {
    let error: DeliveryError
    var demandedDelay: Duration?
  }

  extension HTTPSource {
    /// The server breaks a rule, or the connection broke: worth another attempt.
    func bad(_ path: String, _ what: String) -> TransientFault {
      TransientFault(
        error: DeliveryError(.badResponse, "the server gave no proper answer: \(what)", at: place(of: path)))
    }

    func changed(_ file: SiteFile, _ what: String) -> SourceFault {
      .siteChanged(DeliveryError(.siteChanged, what, at: place(of: file.path)))
    }

    /// What a status other than the one that was hoped for means.
    func refusal(_ response: HTTPClientResponse, _ path: String) -> any Error {
      let status = response.status
      let text = "the server answered \(status.code) \(status.reasonPhrase)"
      switch status.code {
      case 408, 425, 429, 500...599:
        return TransientFault(
          error: DeliveryError(.unreachable, text, at: place(of: path)), demandedDelay: response.headers.retryAfter)
      case 400...499: return DeliveryError(.denied, text, at: place(of: path))
      default: return DeliveryError(.badResponse, text, at: place(of: path))
      }
    }

    /// The same for a file that a signed root leads to.
    func fileRefusal(_ response: HTTPClientResponse, _ file: SiteFile) -> any Error {
      switch response.status {
      case .notFound, .gone: changed(file, "there is no such file")
      case .preconditionFailed: changed(file, "the file changed")
      default: refusal(response, file.path)
      }
    }

    /// - Throws: `error` when another attempt makes no sense.
    func transient(_ error: any Error, _ path: String) throws -> TransientFault {
      try Task.checkCancellation()
      switch error {
      case let fault as TransientFault: return fault
      case is SourceFault, is DeliveryError, is CancellationError: throw error
      case let fault as TransferFault: return try transient(fault, path)
      case let refusal as RefusedAddress:
        throw DeliveryError(
          .badResponse,
          "a public server leads to \(refusal.address), an address of a private network, which is refused",
          at: place(of: path), limit: .privateRedirects)
      // Also when it comes with the answer before this one, whose connection was kept: which of the two requests sees it
      // first is chance.
      case let malformed as HTTPParserError where malformed != .invalidEOFState:
        return bad(path, "it is not HTTP (\(malformed))")
      default:
        if let fault = CertificateFault(error) { throw fault.error(at: place(of: path)) }
        return TransientFault(
          error: DeliveryError(.unreachable, "the connection failed (\(Self.describe(error)))", at: place(of: path)))
      }
    }

    private func transient(_ fault: TransferFault, _ path: String) throws -> TransientFault {
      let limits = options.limits
      func error(_ reason: String, _ limit: DeliveryError.Limit? = nil) -> DeliveryError {
        DeliveryError(.unreachable, reason, at: place(of: path), limit: limit)
      }
      let slow = "less than \(formatBytes(limits.minimumByteRate)) a second came for \(limits.slowLimit)"
      switch fault {
      case .stalled: return TransientFault(error: error("no byte came for \(options.stallLimit)"))
      case .unanswered: return TransientFault(error: error("no answer came for \(limits.answerLimit)", .answer))
      case .slow: return TransientFault(error: error(slow, .rate))
      case .slowAgain: throw error(slow + ", twice", .rate)
      case .overdue: throw error("the file did not come within \(limits.rootLimit)", .root)
      }
    }

    static func describe(_ error: any Error) -> String {
      (error as? HTTPClientError)?.shortDescription ?? (error as? IOError).map { "\(Errno(rawValue: $0.errnoCode))" }
        ?? "\(error)"
    }
  }

  extension HTTPClientResponse {
    fileprivate func header(_ name: String) -> String { headers.first(name: name) ?? "" }
  }
#endif
