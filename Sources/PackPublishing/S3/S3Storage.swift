import PackFormats

#if Delivery
  import AsyncHTTPClient
  import NIOCore
  import NIOHTTP1
  package import PackDelivery
  import PackStore

  /// A bucket of Amazon S3, or of a server with the same protocol.
  ///
  /// Requests with a temporary failure are sent again. Contents are streamed, except objects that are read as a whole, within a
  /// limit.
  package final class S3Storage: ObjectStorage {
    package struct Options: Sendable {
      package var endpoint: String?
      package var region: String?

      /// Whether the bucket is in the host; `nil`: for Amazon's servers only.
      package var usesVirtualHost: Bool?
      package var connectionCount = 8

      /// A connection without traffic for this long is closed.
      package var idleLimit: Duration = .seconds(60)
      package var retry = RetryPolicy()
      package var clock = TransferClock.system
      package var localTime = ServerClock.system
      package var environment: [String: String] = [:]

      package init() {}
    }

    package let location: String
    package let identity: String
    package let needsCheck = true
    private let places: [ObjectKey.Space: S3Location]
    private let endpoint: S3Endpoint
    private let signer: RequestSigner
    private let options: Options
    private let clients: HTTPClients
    private let clock: ServerClock

    /// The number of bytes of an error's body to read.
    private static let errorByteLimit = 64 << 10
    fileprivate static let pieceByteCount = 64 << 10

    /// The largest object that one PUT can write.
    package static let objectByteLimit: UInt64 = 5 * 1024 * 1024 * 1024

    /// - Throws: `invalidLocation`; `denied` without credentials.
    package init(_ shared: S3Location, hidden: S3Location, _ options: Options) throws {
      guard !shared.contains(hidden) else {
        var error = DeliveryError(
          .invalidLocation, "the publishers' files would be below the public prefix", at: hidden.description)
        error.specificRemedy = "set a location for the ledger that is not below \(shared)"
        throw error
      }
      let profile = try StorageProfile(environment: options.environment)
      signer = RequestSigner(
        credentials: try profile.requireCredentials(),
        region: options.region ?? profile.region ?? S3Endpoint.standardRegion)
      endpoint = try S3Endpoint(
        options.endpoint ?? profile.endpoint, region: signer.region, usesVirtualHost: options.usesVirtualHost)
      places = [.shared: shared, .hidden: hidden]
      location = shared.description
      identity = "\(endpoint.base.authority) \(shared) \(hidden)"
      self.options = options
      clock = ServerClock(local: options.localTime)
      var clientOptions = HTTPSource.Options()
      clientOptions.connectionCount = options.connectionCount
      clientOptions.idleLimit = options.idleLimit
      clientOptions.environment = options.environment
      clients = try HTTPClients(clientOptions)
    }

    package func close() async { await clients.shutdown() }

    deinit {
      // For owners that failed during setup: the network library traps if connections are dropped.
      Task { [clients] in await clients.shutdown() }
    }

    package func now() async throws -> Int64 {
      if !clock.isKnown { _ = try await examine(.ledger) }
      guard clock.isKnown else {
        var error = DeliveryError(.badResponse, "the storage's answers lack a date", at: location)
        error.specificRemedy = "test the storage with 'packstore check-bucket'"
        throw error
      }
      return clock.now
    }

    /// The number of seconds that the server's clock is ahead of this machine's, as far as known.
    package var clockLead: Int64 { clock.lead }

    // MARK: - Requests

    private struct Request {
      var method: HTTPMethod
      var key: ObjectKey
      var query: [(name: String, value: String)] = []
      var headers: [(name: String, value: String)] = []
      var body: ObjectBody?

      /// The latest time for signing.
      var latest: Int64?
    }

    private static let emptyPayload = Digest256(hashing: []).hex

    /// The maximum number of redirects for one request.
    private static let redirectLimit = 3

    /// Sends a request once, signed now.
    ///
    /// - Parameter target: the target of a redirect; `nil`: the object's own URL.
    private func send(_ request: Request, to target: SiteURL?) async throws -> HTTPClientResponse {
      let now = clock.now
      if let latest = request.latest, now > latest { throw LeaseOver() }
      guard let place = places[request.key.space] else { preconditionFailure("each space has its place") }
      var (url, host, path) =
        try target.map(S3Endpoint.parts)
        ?? endpoint.url(of: request.query.isEmpty ? place.key(request.key.path) : "", in: place.bucket)
      if !request.query.isEmpty { url = try SiteURL("\(url.text)?\(RequestSigner.queryText(request.query))") }
      let signed = signer.sign(
        .init(
          method: request.method.rawValue, path: path, query: request.query,
          headers: [("host", host)] + request.headers,
          payload: request.body?.digest.hex ?? Self.emptyPayload), at: now)
      let response = try await clients.send(
        request.method, url, HTTPHeaders(signed.headers), body: try request.body.map(body), mayBePrivate: true,
        within: ReceivingRate.answerLimit(afterSending: request.body?.byteCount ?? 0, idleLimit: options.idleLimit))
      if let date = response.headers.first(name: "date") { clock.take(date: date) }
      return response
    }

    private func body(_ body: ObjectBody) throws -> HTTPClientRequest.Body {
      switch body {
      case .bytes(let bytes): return .bytes(bytes)
      case .file(let place, let byteCount, _):
        return .stream(
          FileBody(file: try InputFile(place.path), byteCount: byteCount, clients: clients),
          length: .known(Int64(clamping: byteCount)))
      }
    }

    /// Sends a request until a conclusive answer arrives.
    ///
    /// - Parameters:
    ///   - unanswered: called for each attempt without a final answer.
    ///   - take: interprets a successful answer; receives `nil` for any other answer.
    private func perform<Result>(
      _ request: Request, unanswered: () -> Void = {}, _ take: (HTTPClientResponse) async throws -> Result,
      otherwise: (S3Answer) throws -> Result
    ) async throws -> Result {
      let place = places[request.key.space]?.description ?? location
      let shown = "\(place)/\(request.key.path)"
      var retry = Retry(options.retry, options.clock)
      var misdatedCount = 0, redirectCount = 0
      var target: SiteURL?
      while true {
        try Task.checkCancellation()
        let failure: DeliveryError
        var demanded: Duration?
        do {
          let response = try await send(request, to: target)
          if redirectCount < Self.redirectLimit, let next = redirect(response) {
            (target, redirectCount) = (next, redirectCount + 1)
            try await Self.drain(response)
            continue
          }
          let answer = try await Self.answer(response, to: request, at: shown)
          switch answer {
          case .done: return try await take(response)
          case .missing, .refused: return try otherwise(answer)
          case .failed(let error): throw PermanentFailure(error: error)
          case .misdated(let error):
            // Dated by this machine's clock before the first answer contained the server's time.
            misdatedCount += 1
            guard misdatedCount < 3 else { throw PermanentFailure(error: error) }
            continue
          case .passing(let error, let time):
            unanswered()
            failure = error
            demanded = time
          }
        } catch let final as PermanentFailure {
          throw final.error
        } catch let error where Self.isOwn(error) {
          throw error
        } catch let error as DeliveryError {
          unanswered()
          failure = error
        } catch {
          unanswered()
          failure = Self.broken(error, at: shown)
        }
        try await options.clock.sleep(try retry.delay(after: failure, demanded: demanded))
      }
    }

    private struct PermanentFailure: Error { let error: any Error }

    /// Returns the target of a redirect by the storage, for instance until its names are known everywhere: a host of the same
    /// storage.
    private func redirect(_ response: HTTPClientResponse) -> SiteURL? {
      guard [307, 308].contains(response.status.code), let text = response.headers.first(name: "location"),
        let url = try? SiteURL(text), endpoint.isOfSameStorage(url), !url.target.contains("?")
      else { return nil }
      return url
    }

    /// Errors that are not from the network: another attempt does not help.
    private static func isOwn(_ error: any Error) -> Bool {
      error is LeaseOver || error is CancellationError || error is PackStoreError
    }

    private static func broken(_ error: any Error, at location: String) -> DeliveryError {
      if let fault = error as? ProxyFault { return fault.error(at: location) }
      let reason = ConnectionFault(error)
      var failure = DeliveryError(.unreachable, "the connection to the storage broke (\(reason))", at: location)
      failure.specificRemedy = "try again later; completed work is kept"
      return failure
    }

    private static func answer(
      _ response: HTTPClientResponse, to request: Request, at location: String
    ) async throws -> S3Answer {
      var code: String?
      var region = response.headers.first(name: "x-amz-bucket-region")
      if response.status.code >= 300 {
        // The beginning of a longer body suffices, and so does the received part of an interrupted one.
        var body: [UInt8] = []
        do {
          for try await piece in response.body {
            body.append(contentsOf: piece.readableBytesView.prefix(errorByteLimit - body.count))
            if body.count >= errorByteLimit { break }
          }
        } catch is CancellationError {
          throw CancellationError()
        } catch {}
        code = S3Answer.code(in: body)
        region = region ?? S3Answer.region(in: body)
      }
      let status = response.status.code
      if S3Answer.isFull(status: status, code: code) {
        let shown = "\(status)" + (code.map { " \($0)" } ?? "")
        var error = PackStoreError(.noSpace, "the storage's quota is used up (\(shown))", about: .site(location))
        error.specificRemedy = "raise the quota, or remove objects from the storage"
        throw PermanentFailure(error: error)
      }
      return S3Answer(
        status: status, code: code, region: region,
        retryAfter: response.headers.first(name: "retry-after").flatMap { Int($0) }.map { min(max($0, 0), 3_600) },
        at: location, isConditional: request.headers.contains { ["if-match", "if-none-match"].contains($0.name) },
        byteCount: request.body?.byteCount)
    }

    private static func tag(_ response: HTTPClientResponse, at location: String) throws -> ObjectTag {
      do {
        return try ObjectTag(header: response.headers.first(name: "etag"), at: location)
      } catch { throw PermanentFailure(error: error) }
    }

    private static func digest(_ response: HTTPClientResponse) -> Digest256? {
      guard let text = response.headers.first(name: "x-amz-checksum-sha256"), let data = Data(base64Encoded: text),
        data.count == Digest256.byteCount
      else { return nil }
      return Array(data).withUnsafeBytes { Digest256(copying: $0) }
    }

    /// Passes on the pieces of an answer's body as they arrive.
    private func receive(
      _ response: HTTPClientResponse, _ key: ObjectKey, _ take: (ByteBuffer) throws -> Void
    ) async throws {
      var pieces = response.body.makeAsyncIterator(), rate = ReceivingRate()
      while true {
        let begin = options.clock.now()
        guard let piece = try await pieces.next() else { return }
        try rate.receive(piece.readableBytes, after: options.clock.now() - begin, at: "\(location)/\(key)")
        try take(piece)
      }
    }

    // MARK: - Operations

    package func read(_ key: ObjectKey, limit: Int) async throws -> StoredObject? {
      try await perform(Request(method: .GET, key: key)) { response in
        var bytes: [UInt8] = []
        try await receive(response, key) { piece in
          guard bytes.count + piece.readableBytes <= limit else {
            throw PermanentFailure(
              error: DeliveryError(.badResponse, "has more than \(formatBytes(limit))", at: "\(location)/\(key)"))
          }
          bytes.append(contentsOf: piece.readableBytesView)
        }
        return StoredObject(bytes: bytes, tag: try Self.tag(response, at: location))
      } otherwise: { _ in
        nil
      }
    }

    package func examine(_ key: ObjectKey) async throws -> ObjectFacts? {
      try await perform(Request(method: .HEAD, key: key, headers: [("x-amz-checksum-mode", "ENABLED")])) { response in
        guard let length = response.headers.first(name: "content-length").flatMap({ UInt64($0) }) else {
          throw PermanentFailure(
            error: DeliveryError(.badResponse, "the storage's answer lacks a length", at: "\(location)/\(key)"))
        }
        return ObjectFacts(byteCount: length, digest: Self.digest(response), tag: try Self.tag(response, at: location))
      } otherwise: { _ in
        nil
      }
    }

    package func fetch(
      _ key: ObjectKey, byteCount: UInt64, restart: () throws -> Void, _ body: (UnsafeRawBufferPointer) throws -> Void
    ) async throws -> Bool {
      try await perform(Request(method: .GET, key: key)) { response in
        try restart()
        var rest = byteCount
        try await receive(response, key) { piece in
          guard UInt64(piece.readableBytes) <= rest else {
            throw PermanentFailure(
              error: DeliveryError(.corrupt, "longer than its image records", at: "\(location)/\(key)"))
          }
          rest -= UInt64(piece.readableBytes)
          try piece.withUnsafeReadableBytes(body)
        }
        return true
      } otherwise: { _ in
        false
      }
    }

    package func read(_ key: ObjectKey, in range: Range<UInt64>) async throws -> [UInt8]? {
      let field = ("range", "bytes=\(range.lowerBound)-\(range.upperBound - 1)")
      return try await perform(Request(method: .GET, key: key, headers: [field])) { response in
        var bytes: [UInt8] = []
        try await receive(response, key) { piece in
          guard response.status == .partialContent || range.lowerBound == 0,
            bytes.count + piece.readableBytes <= range.count
          else {
            throw PermanentFailure(
              error: DeliveryError(
                .badResponse, "the storage sent another range than requested", at: "\(location)/\(key)"))
          }
          bytes.append(contentsOf: piece.readableBytesView)
        }
        return bytes
      } otherwise: { _ in
        nil
      }
    }

    package func write(
      _ body: ObjectBody, to key: ObjectKey, _ condition: WriteCondition, latest: Int64?
    ) async throws -> WriteOutcome {
      guard body.byteCount <= Self.objectByteLimit else {
        var error = DeliveryError(
          .denied, "longer than 5 GB, the limit of one object", at: "\(key)")
        error.specificRemedy = "publish to a folder, and copy it to the bucket"
        throw error
      }
      var headers = [
        ("content-type", "application/octet-stream"), ("cache-control", Self.cacheRule(key)),
        ("x-amz-checksum-sha256", Data(body.digest.bytes).base64EncodedString()),
        ("x-amz-sdk-checksum-algorithm", "SHA256"),
      ]
      switch condition {
      case .always: break
      case .absent: headers.append(("if-none-match", "*"))
      case .matching(let tag): headers.append(("if-match", tag.text))
      }
      return try await perform(Request(method: .PUT, key: key, headers: headers, body: body, latest: latest)) {
        response in
        try await Self.drain(response)
        return .written(try Self.tag(response, at: location))
      } otherwise: { answer in
        if case .missing = answer, !condition.needsObject { throw PermanentFailure(error: noPlace(key)) }
        return .refused
      }
    }

    /// For a new object, "not found" means that the bucket does not exist.
    private func noPlace(_ key: ObjectKey) -> DeliveryError {
      var error = DeliveryError(.badResponse, "not a place for objects (404)", at: "\(location): \(key)")
      error.specificRemedy = "check the bucket, --endpoint and --virtual-host"
      return error
    }

    package func delete(_ key: ObjectKey, latest: Int64) async throws -> Bool {
      var allAnswered = true
      do {
        try await perform(Request(method: .DELETE, key: key, latest: latest), unanswered: { allAnswered = false }) {
          response in
          try await Self.drain(response)
        } otherwise: { _ in
        }
      } catch let error as DeliveryError where error.code == .unreachable { allAnswered = false } catch is LeaseOver {
        allAnswered = false
      }
      return allAnswered
    }

    /// The number of bytes of one page of a list.
    private static let listByteLimit = 16 << 20

    package func list() async throws -> [String: UInt64]? {
      guard let place = places[.shared] else { preconditionFailure("each space has its place") }
      let prefix = place.prefix.isEmpty ? "" : place.prefix + "/"
      var objects: [String: UInt64] = [:], next: String?
      repeat {
        var query = [("list-type", "2"), ("encoding-type", "url"), ("prefix", prefix)]
        if let next { query.append(("continuation-token", next)) }
        guard let page = try await listPage(query), page.next == nil || page.next != next else { return nil }
        for (key, byteCount) in page.objects where key.hasPrefix(prefix) {
          objects[String(key.dropFirst(prefix.count))] = byteCount
        }
        next = page.next
      } while next != nil
      return objects
    }

    /// - Returns: `nil` if the storage does not allow listing, or sends something else.
    private func listPage(_ query: [(name: String, value: String)]) async throws -> S3ListPage? {
      let key = ObjectKey(space: .shared, path: "")
      do {
        return try await perform(Request(method: .GET, key: key, query: query)) { response in
          var bytes: [UInt8] = []
          try await receive(response, key) { piece in
            guard bytes.count + piece.readableBytes <= Self.listByteLimit else {
              throw PermanentFailure(error: DeliveryError(.badResponse, "a list is too long", at: location))
            }
            bytes.append(contentsOf: piece.readableBytesView)
          }
          return S3ListPage(bytes)
        } otherwise: { _ in
          nil
        }
      } catch let error as DeliveryError where [.denied, .badResponse].contains(error.code) { return nil }
    }

    /// Sends an upload once that differs from its checksum and signature; returns the status of the answer.
    func sendDamaged(to key: ObjectKey) async throws -> UInt {
      guard let place = places[key.space] else { preconditionFailure("each space has its place") }
      let (url, host, path) = try endpoint.url(of: place.key(key.path), in: place.bucket)
      let said = ObjectBody.bytes(Array("said\n".utf8))
      let checksum = ("x-amz-checksum-sha256", Data(said.digest.bytes).base64EncodedString())
      let signed = signer.sign(
        .init(method: "PUT", path: path, headers: [("host", host), checksum], payload: said.digest.hex), at: clock.now)
      do {
        let response = try await clients.send(
          .PUT, url, HTTPHeaders(signed.headers), body: .bytes(Array("sent\n".utf8)), mayBePrivate: true,
          within: ReceivingRate.answerLimit(afterSending: 5, idleLimit: options.idleLimit))
        try await Self.drain(response)
        return response.status.code
      } catch let error where !(error is CancellationError) {
        return 400  // some servers close the connection during such an upload
      }
    }

    /// Reads the rest of an answer without content, so that its connection can be reused. After a longer answer, the connection is
    /// closed.
    private static func drain(_ response: HTTPClientResponse) async throws {
      var byteCount = 0
      for try await piece in response.body {
        byteCount = byteCount.addingClamped(piece.readableBytes)
        if byteCount > errorByteLimit { return }
      }
    }

    /// Returns the cache lifetime of an object.
    private static func cacheRule(_ key: ObjectKey) -> String {
      guard key.space == .shared else { return "private, no-store" }
      return SitePath(key.path)?.isRoot ?? true ? "public, max-age=60" : "public, max-age=31536000, immutable"
    }
  }

  /// The bytes of a file, in pieces, as the connection accepts them.
  private struct FileBody: AsyncSequence, Sendable {
    let file: InputFile
    let byteCount: UInt64
    let clients: HTTPClients

    struct AsyncIterator: AsyncIteratorProtocol {
      let body: FileBody
      var offset: UInt64 = 0
      var file: InputFile { body.file }
      var byteCount: UInt64 { body.byteCount }

      mutating func next() async throws -> ByteBuffer? {
        guard offset < byteCount else { return nil }
        // The network library accepts pieces as fast as they arrive, until its thread applies back-pressure: without this pause,
        // whole segments would be in memory.
        if offset > 0 { await body.clients.catchUp() }
        let count = Int(Swift.min(byteCount - offset, UInt64(S3Storage.pieceByteCount)))
        let bytes = try file.bytes(at: offset, upTo: count)
        guard bytes.count == count else {
          throw PackStoreError(.sourceChanged, "truncated while it was read", file: file.place.text)
        }
        offset += UInt64(count)
        return ByteBuffer(bytes: bytes)
      }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(body: self) }
  }

  /// The server for requests.
  struct S3Endpoint: Sendable {
    static let standardRegion = "us-east-1"
    let base: SiteURL
    private let usesVirtualHost: Bool

    /// - Throws: `invalidLocation`.
    init(_ url: String?, region: String, usesVirtualHost: Bool?) throws {
      guard region.wholeMatch(of: /[A-Za-z0-9-]{1,64}/) != nil else {
        throw DeliveryError(.invalidLocation, "'\(region)' is not a region")
      }
      let domain = region.hasPrefix("cn-") ? "amazonaws.com.cn" : "amazonaws.com"
      base = try SiteURL(url ?? "https://s3.\(region).\(domain)")
      self.usesVirtualHost = usesVirtualHost ?? (url == nil)
      guard base.target.isEmpty || base.target == "/" else {
        throw DeliveryError(.invalidLocation, "the endpoint has a path; use only the server", at: base.text)
      }
    }

    /// Returns a URL without its query, with its host and path as signed.
    static func parts(of url: SiteURL) -> (url: SiteURL, host: String, path: String) {
      (url, url.authority, url.target.isEmpty ? "/" : String(url.target))
    }

    /// Whether a URL has the same server, or another host of the same domain, such as `amazonaws.com`.
    func isOfSameStorage(_ url: SiteURL) -> Bool {
      guard url.scheme == base.scheme else { return false }
      if url.authority == base.authority { return true }
      func domain(_ authority: String) -> ArraySlice<Substring>? {
        let labels = authority.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.count > 2, !authority.contains(":"), labels.last?.allSatisfy(\.isLetter) == true else {
          return nil
        }
        return labels.suffix(2)
      }
      guard let own = domain(base.authority), let other = domain(url.authority) else { return false }
      return own == other
    }

    /// Returns the URL of an object, with its host and path as signed.
    func url(of key: String, in bucket: String) throws -> (url: SiteURL, host: String, path: String) {
      // A dot in the bucket's name would be part of the host's name, which no certificate covers.
      let inHost = usesVirtualHost && bucket.wholeMatch(of: /[a-z0-9-]+/) != nil
      let host = inHost ? "\(bucket).\(base.authority)" : base.authority
      let path = RequestSigner.path("/" + (inHost ? key : "\(bucket)/\(key)"))
      return (try SiteURL("\(base.scheme)://\(host)\(path)"), host, path)
    }
  }
#endif
