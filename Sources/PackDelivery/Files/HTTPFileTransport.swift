#if Delivery
  import AsyncHTTPClient
  import NIOCore
  import NIOHTTP1
  import PackStore

  /// Fetches files from web servers: one request for the missing bytes, and more for redirects and requests for credentials.
  ///
  /// - Present bytes are used only if the server confirms that its file is in the same state: `If-Range` with a strong validator,
  ///   and a range that begins after these bytes. After any other answer, the file begins again.
  /// - `http` is accepted only from this machine, and never after `https`; a public server must not redirect to a private address.
  /// - The caller's fields and credentials are sent only to their server.
  package struct HTTPFileTransport: FileTransport {
    private let options: HTTPSource.Options

    /// The maximum number of refused credentials.
    private static let challengeLimit = 5

    package init(_ options: HTTPSource.Options = .init()) { self.options = options }

    package func fetch(_ request: FileRequest, to sink: any FileSink) async throws {
      let clients: HTTPClients, watch = TransferWatch(stallLimit: options.stallLimit, options.limits, options.clock)
      do {
        clients = try HTTPClients(options)
      } catch let error as DeliveryError {
        throw FileFault(error, isTemporary: false)
      }
      do {
        try await watch.run { pulse in
          var visit = FileVisit(
            request, to: sink, by: clients, options.pace, options.network, options.limits.redirectLimit,
            Self.challengeLimit)
          try await visit.receive(pulse)
        }
      } catch {
        await clients.shutdown()
        try Task.checkCancellation()
        throw translated(error, request.url)
      }
      await clients.shutdown()
    }

    private func translated(_ error: any Error, _ url: String) -> any Error {
      let place = withoutSecrets(url)
      func fault(_ code: DeliveryError.Code, _ reason: String, isTemporary: Bool = true) -> FileFault {
        FileFault(DeliveryError(code, reason, at: place), isTemporary: isTemporary)
      }
      switch error {
      case let failure as SinkFailure: return failure.error
      case let fault as FileFault: return fault
      case is CancellationError: return error
      case let error as DeliveryError: return FileFault(error, isTemporary: false)
      case is TransferFault: return fault(.unreachable, "the server is silent or too slow")
      case let refusal as RefusedAddress:
        return fault(
          .badResponse,
          "a public server redirects to the private address \(refusal.address), which is refused",
          isTemporary: false)
      case let refusal as ProxyFault: return FileFault(refusal.error(at: place), isTemporary: refusal.isTemporary)
      case let malformed as HTTPParserError where malformed != .invalidEOFState:
        return fault(.badResponse, "the server's answer is not HTTP (\(ConnectionFault(malformed)))")
      default:
        if let refused = CertificateFault(error) { return FileFault(refused.error(at: place), isTemporary: false) }
        return fault(.unreachable, "the connection failed (\(ConnectionFault(error)))")
      }
    }
  }

  /// An error of a sink, which the transport must not explain.
  private struct SinkFailure: Error {
    let error: any Error
  }

  private func ofSink<Result>(_ body: () throws -> Result) throws -> Result {
    do { return try body() } catch { throw SinkFailure(error: error) }
  }

  /// The requests for one file.
  private struct FileVisit {
    private let request: FileRequest
    private let sink: any FileSink
    private let clients: HTTPClients
    private let pace: Pace
    /// A simulated network; `nil` for the real one.
    private let network: ShapedNetwork?
    private let redirectLimit: Int
    private let challengeLimit: Int
    /// The offset requested now; 0 if the present bytes cannot be used.
    private var offset: Int
    private var authorization: (authority: String, value: String)?
    private var failureCount = 0

    init(
      _ request: FileRequest, to sink: any FileSink, by clients: HTTPClients, _ pace: Pace, _ network: ShapedNetwork?,
      _ redirectLimit: Int, _ challengeLimit: Int
    ) {
      self.request = request
      self.sink = sink
      self.clients = clients
      self.pace = pace
      self.network = network
      self.redirectLimit = redirectLimit
      self.challengeLimit = challengeLimit
      offset = request.validator == nil ? 0 : max(request.offset, 0)
    }

    mutating func receive(_ pulse: Pulse) async throws {
      while true {
        try await pulse.hold { [pace] in try await pace.pass() }
        let (response, url) = try await ask(pulse)
        switch response.status {
        case .ok: return try await take(response, FileAnswer(headers: response.headers), url, pulse)
        case .partialContent:
          guard let answer = try partialAnswer(response, url) else {
            offset = 0
            continue
          }
          return try await take(response, answer, url, pulse)
        // The server refuses ranges, or the file is shorter than the bytes received before.
        case let status where status.mayRefuseRange && offset > 0: offset = 0
        case .unauthorized:
          guard try await authorize(response, url, pulse) else { throw refusal(response, url) }
        default: throw refusal(response, url)
        }
      }
    }

    // MARK: - Asking

    /// Sends a request, and follows redirects.
    private func ask(_ pulse: Pulse) async throws -> (HTTPClientResponse, SiteURL) {
      let start = try SiteURL(request.url)
      var way = Redirections(from: start, mayBePrivate: true, limit: redirectLimit)
      while true {
        guard way.url.isSafe else {
          throw DeliveryError(.badResponse, "not https, and not http from this machine", at: way.url.text)
        }
        let host = way.url.plainHost
        try ofSink { try sink.permit(host: host) }
        let headers = headers(for: way.url, from: start)
        let response = try await pulse.awaitAnswer { [way, network, clients] in
          guard let network else { return try await clients.get(way.url, headers, mayBePrivate: way.mayBePrivate) }
          return try await network.get(String(way.url.target), range: headers.first(name: "Range")) {
            try await clients.get(way.url, headers, mayBePrivate: way.mayBePrivate)
          }
        }
        guard try way.follow(response, by: clients) else { return (response, way.url) }
      }
    }

    private func headers(for url: SiteURL, from start: SiteURL) -> HTTPHeaders {
      let isOwn = url.authority == start.authority && url.scheme == start.scheme
      var headers = HTTPHeaders(isOwn ? request.fields.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } : [])
      headers.replaceOrAdd(name: "Accept-Encoding", value: "identity")
      if !headers.contains(name: "User-Agent") { headers.add(name: "User-Agent", value: "PackStore") }
      if let authorization, authorization.authority == url.authority {
        headers.replaceOrAdd(name: "Authorization", value: authorization.value)
      }
      headers.remove(name: "Range")
      headers.remove(name: "If-Range")
      if offset > 0, let validator = request.validator {
        headers.add(name: "Range", value: "bytes=\(offset)-")
        headers.add(name: "If-Range", value: validator)
      }
      return headers
    }

    /// Requests credentials from the sink; false if the server's scheme is unknown, or the sink returns none.
    private mutating func authorize(_ response: HTTPClientResponse, _ url: SiteURL, _ pulse: Pulse) async throws -> Bool
    {
      guard failureCount <= challengeLimit, let realm = response.headers.basicRealm else { return false }
      let challenge = FileChallenge(
        scheme: url.scheme, host: url.plainHost, port: url.port ?? (url.scheme == "https" ? 443 : 80), realm: realm,
        failureCount: failureCount)
      failureCount += 1
      switch try await pulse.hold({ [sink] in await sink.answer(challenge) }) {
      case .credential(let user, let password):
        // A user's name ends at the first colon.
        guard !user.contains(":") else { return false }
        authorization = (url.authority, "Basic " + Data("\(user):\(password)".utf8).base64EncodedString())
        return true
      case .none: return false
      case .cancel: throw CancellationError()
      }
    }

    // MARK: - Receiving

    /// - Returns: `nil` if the range does not specify the length of the file, and may therefore end before the file.
    private func partialAnswer(_ response: HTTPClientResponse, _ url: SiteURL) throws -> FileAnswer? {
      guard let range = ContentRange(response.header("Content-Range")) else {
        throw bad(url, "the answer does not name its range")
      }
      if range.range.lowerBound == 0, range.total == range.range.upperBound {
        var whole = FileAnswer(headers: response.headers)
        whole.byteCount = Int(clamping: range.range.upperBound)
        return whole
      }
      guard offset > 0, range.range.lowerBound == UInt64(offset),
        range.total ?? range.range.upperBound == range.range.upperBound
      else { throw bad(url, "requested bytes \(offset)-, got \(range.range.httpText)") }
      // Servers that do not know If-Range ignore it.
      if let tag = Validator(response.headers), tag.isTag, tag.value != request.validator,
        request.validator?.hasPrefix("\"") == true
      {
        throw bad(url, "the range belongs to another state of the file")
      }
      guard range.total != nil else { return nil }
      return FileAnswer(
        offset: offset, byteCount: Int(clamping: range.range.upperBound), validator: request.validator)
    }

    private func take(
      _ response: HTTPClientResponse, _ answer: FileAnswer, _ url: SiteURL, _ pulse: Pulse
    ) async throws {
      guard response.headers.isIdentity else {
        throw DeliveryError(
          .badResponse, "the server applied a content encoding to the file", at: url.text)
      }
      try ofSink { try sink.begin(answer) }
      var missing = answer.byteCount.map { $0 - answer.offset }
      for try await buffer in response.body {
        pulse.beat(buffer.readableBytes)
        if let left = missing {
          guard buffer.readableBytes <= left else { throw bad(url, "the answer is longer than announced") }
          missing = left - buffer.readableBytes
        }
        try ofSink { try buffer.withUnsafeReadableBytes { try sink.take($0) } }
        try await pulse.hold { [pace] in try await pace.pay(buffer.readableBytes) }
      }
      try Task.checkCancellation()
      if missing ?? 0 > 0 { throw bad(url, "the connection ended early") }
    }

    // MARK: - Faults

    private func bad(_ url: SiteURL, _ what: String) -> FileFault {
      FileFault(
        DeliveryError(.badResponse, "invalid answer of the server (\(what))", at: url.text), isTemporary: true)
    }

    private func refusal(_ response: HTTPClientResponse, _ url: SiteURL) -> FileFault {
      let status = response.status, text = "the server answered \(status.code) \(status.reasonPhrase)"
      let isTemporary = [408, 425, 429].contains(status.code) || (500...599).contains(status.code)
      return FileFault(
        DeliveryError(isTemporary ? .unreachable : .denied, text, at: url.text), isTemporary: isTemporary,
        demandedDelay: isTemporary ? response.headers.retryAfter : nil)
    }
  }

  extension FileAnswer {
    /// The maximum length of a validator in bytes.
    private static let validatorByteCountLimit = 1024

    fileprivate init(headers: HTTPHeaders) {
      // A validator that cannot be stored or sent is ignored.
      let validator = Validator(headers).flatMap { validator -> Validator? in
        let bytes = validator.value.utf8
        let isOfUse = bytes.count <= Self.validatorByteCountLimit && bytes.allSatisfy { $0 >= 0x20 && $0 <= 0x7e }
        return isOfUse ? validator : nil
      }
      // A time is strong only if it is long past.
      let isStrong = validator.map { $0.isTag || FileValidators(headers)?.changedAt != nil } ?? false
      self.init(
        byteCount: headers.contentLength.map { Int(clamping: $0) },
        validator: isStrong ? validator?.value : nil)
    }
  }

  extension HTTPHeaders {
    /// The realm of a challenge that a name and a password answer; `nil` if there is no such challenge.
    var basicRealm: String? {
      for challenge in self["WWW-Authenticate"] where challenge.lowercased().hasPrefix("basic") {
        let realm = challenge.firstMatch(of: /[Rr][Ee][Aa][Ll][Mm]="(?<text>[^"\\]{0,256})"/)
        return realm.map { String($0.text) } ?? ""
      }
      return nil
    }
  }
#endif
