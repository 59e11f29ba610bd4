#if Delivery
  import AsyncHTTPClient
  import NIOCore
  import NIOHTTP1
  import PackStore
  import Synchronization

  /// Small files whose length is not known before.
  extension HTTPSource {
    package var confirmedAt: Int64? { knowledge.withLock(\.confirmedAt) }

    /// Requests the range of all bytes, which shows whether the server has ranges before any is needed.
    package func readWhole(
      _ path: String, upTo limit: Int, unless known: FileValidators?, counting tally: WireTally
    ) async throws -> WholeFile? {
      do {
        return try await readWholeAgain(path, upTo: limit, unless: known, counting: tally)
      } catch let error as DeliveryError {
        throw await explained(error)
      }
    }

    private func readWholeAgain(
      _ path: String, upTo limit: Int, unless known: FileValidators?, counting tally: WireTally
    ) async throws -> WholeFile? {
      var policy = options.retry
      // No server seems to be there: fail soon.
      if knowledge.withLock({ $0.hasRanges == nil }) { policy.attemptLimit = min(policy.attemptLimit, 3) }
      var retry = Retry(policy, options.clock)
      let budget = TimeBudget(options.limits.rootLimit)
      while true {
        do {
          return try await watch.run(budget) { [self] pulse in
            var visit = WholeFileVisit(self, path, limit: limit, unless: known, tally, pulse)
            return try await visit.read()
          }
        } catch {
          let fault = try transient(error, path)
          try await pause(before: &retry, after: fault, path, budget)
        }
      }
    }
  }

  /// One attempt at a small file: one request, and more if its answers bring the file in parts, or refuse ranges.
  private struct WholeFileVisit {
    private let source: HTTPSource
    private let path: String
    private let limit: Int
    private let known: FileValidators?
    private let tally: WireTally
    private let pulse: Pulse
    private var bytes: [UInt8] = []
    /// The length of the file, as soon as an answer specifies it.
    private var total: UInt64?
    /// The state of the file that `bytes` belong to.
    private var validator: Validator?

    init(
      _ source: HTTPSource, _ path: String, limit: Int, unless known: FileValidators?, _ tally: WireTally,
      _ pulse: Pulse
    ) {
      self.source = source
      self.path = path
      self.limit = limit
      self.known = known
      self.tally = tally
      self.pulse = pulse
    }

    mutating func read() async throws -> WholeFile? {
      var response = try await firstResponse()
      let answeredAt = httpNanoseconds(response.headers.first(name: "Date"))
      if response.status == .notModified, known != nil {
        // The answer is read to its end, so that the connection can be used again.
        for try await _ in response.body {}
        source.knowledge.withLock { $0.confirmedAt = answeredAt }
        return nil
      }
      try await receive(response)
      // A server may send less than the range. Each answer brings a byte at least.
      while let total, UInt64(bytes.count) < total {
        response = try await get([("Range", "bytes=\((UInt64(bytes.count)..<total).httpText)")] + condition)
        try await receive(response)
      }
      let isFromCache = response.headers.contains(name: "Age")
      return WholeFile(
        bytes: bytes, validators: FileValidators(response.headers),
        date: isFromCache ? nil : response.headers.first(name: "Date"), answeredAt: answeredAt)
    }

    private var condition: [(String, String)] { validator.map { [("If-Range", $0.value)] } ?? [] }

    private func get(_ fields: [(String, String)]) async throws -> HTTPClientResponse {
      tally.beginRequest()
      return try await source.get(path, fields: fields + [("Cache-Control", "no-cache")], pulse)
    }

    /// The answer to the request for all bytes; without a range if the server refuses it.
    private func firstResponse() async throws -> HTTPClientResponse {
      let fields = known?.requestFields ?? []
      guard !source.knowledge.withLock({ $0.refusesRanges }) else { return try await get(fields) }
      let response = try await get([("Range", "bytes=0-\(max(limit, 1) - 1)")] + fields)
      guard response.status.mayRefuseRange else { return response }
      guard ContentRange.lengthOfUnsatisfied(response.header("Content-Range")) != 0 else { throw isEmpty }
      let whole = try await get(fields)
      if response.status == .rangeNotSatisfiable, whole.headers.contentLength == 0 { throw isEmpty }
      if [.ok, .notModified].contains(whole.status) { source.knowledge.withLock { $0.didRefuseRanges() } }
      return whole
    }

    private var isEmpty: DeliveryError {
      DeliveryError(.noSite, "not a site (the file '\(path)' is empty)", at: source.location)
    }

    // MARK: - Receiving

    private mutating func receive(_ response: HTTPClientResponse) async throws {
      switch response.status {
      case .ok:
        bytes = []
        total = nil
        // A server may have ranges and none for a range that is all.
        let mayHaveRanges = response.header("Accept-Ranges").lowercased() == "bytes"
        source.knowledge.withLock { if !$0.refusesRanges { $0.hasRanges = mayHaveRanges ? nil : false } }
        try await receive(response, skipping: 0, expecting: response.headers.contentLength)
      case .partialContent:
        let answer = try rangeAnswer(response)
        total = answer.total
        source.knowledge.withLock { if !$0.refusesRanges { $0.hasRanges = true } }
        try await receive(response, skipping: answer.skippedCount, expecting: UInt64(answer.given.count))
      case .notFound, .gone:
        throw noRoot(response)
      case .rangeNotSatisfiable where !bytes.isEmpty:
        throw source.bad(path, "shorter than the server reported before")
      default: throw source.refusal(response, path)
      }
    }

    /// The development server has its sites below its root, where users look first.
    private func noRoot(_ response: HTTPClientResponse) -> DeliveryError {
      var error = DeliveryError(noRoot: path, at: source.location)
      if response.header("Server") == "packstore", let url = try? SiteURL(source.location), url.target.isEmpty {
        error.specificRemedy = "the server is 'packstore serve': use '\(withoutSecrets(source.location))/site'"
      }
      return error
    }

    private mutating func rangeAnswer(_ response: HTTPClientResponse) throws -> RangeAnswer {
      guard let given = ContentRange(response.header("Content-Range")) else {
        throw source.bad(path, "the answer does not name its range")
      }
      let begin = UInt64(bytes.count)
      let requested = begin..<max(total ?? UInt64(limit), begin + 1)
      guard let answer = RangeAnswer(given, to: requested) else {
        throw source.bad(path, "requested bytes \(requested.httpText), got \(given.range.httpText)")
      }
      let isSame = validator.map { !$0.isTag || $0 == Validator(response.headers) } ?? true
      guard bytes.isEmpty || (answer.total == total && isSame) else {
        throw source.bad(path, "changed while it was read")
      }
      guard max(answer.total ?? 0, given.range.upperBound) <= UInt64(limit) else { throw tooLong }
      validator = Validator(response.headers)
      return answer
    }

    private mutating func receive(
      _ response: HTTPClientResponse, skipping skippedCount: Int, expecting expected: UInt64?
    ) async throws {
      if let expected, expected > UInt64(limit) { throw tooLong }
      var received = 0, skipped = skippedCount
      for try await buffer in response.body {
        pulse.beat(buffer.readableBytes)
        tally.receive(buffer.readableBytes)
        received += buffer.readableBytes
        bytes += buffer.readableBytesView.dropFirst(skipped)
        skipped -= min(skipped, buffer.readableBytes)
        guard bytes.count <= limit, received <= limit else { throw tooLong }
        try await pulse.hold { [pace = source.options.pace] in try await pace.pay(buffer.readableBytes) }
      }
      try Task.checkCancellation()
      if let expected, UInt64(received) != expected { throw source.bad(path, "the connection ended early") }
    }

    private var tooLong: DeliveryError {
      DeliveryError(.badResponse, "longer than \(formatBytes(limit))", at: source.place(of: path))
    }
  }
#endif
