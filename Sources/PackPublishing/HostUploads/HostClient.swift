#if Delivery
  import AsyncHTTPClient
  import Foundation
  import NIOCore
  import NIOHTTP1
  import PackDelivery
  import PackStore

  /// A client of `packstore-host`: requests with a token, and their answers.
  package final class HostClient: Sendable {
    private let base: String
    private let token: String
    private let clients: HTTPClients

    /// - Parameters:
    ///   - url: the public base URL of the host.
    ///   - token: a token for build jobs.
    ///   - environment: variables with the proxies and the certificates to trust.
    /// - Throws: `invalidLocation`; `ioError` if the certificates cannot be read.
    package init(_ url: String, token: String, environment: [String: String]) throws {
      var base = try SiteURL(url).text
      while base.hasSuffix("/") { base.removeLast() }
      self.base = base
      self.token = token
      var options = HTTPSource.Options()
      options.environment = environment
      clients = try HTTPClients(options)
    }

    /// Closes all connections.
    package func close() async { await clients.shutdown() }

    deinit {
      // For owners that failed: the network library traps if clients are dropped.
      Task { [clients] in await clients.shutdown() }
    }

    /// An answer with the status 2xx, or a refusal that the caller handles.
    struct Answer {
      let status: UInt
      let body: JSONValue?

      /// The code of the first error.
      var code: String? { body?["errors"]?.array?.first?["code"]?.string }
    }

    /// Sends a request to the API. A GET or a PATCH is sent again after a broken connection: a repeated commit changes nothing.
    ///
    /// - Parameters:
    ///   - path: path and query.
    ///   - body: a JSON:API document.
    ///   - accepting: the code of a refusal that is returned instead of thrown.
    /// - Throws: `badResponse` with the host's reason; errors of the connection.
    func send(
      _ method: HTTPMethod, _ path: String, _ body: [UInt8]? = nil, accepting: String? = nil
    ) async throws -> Answer {
      var headers = HTTPHeaders([("authorization", "Bearer \(token)"), ("user-agent", "packstore")])
      if body != nil { headers.add(name: "content-type", value: "application/json") }
      let (status, bytes) = try await exchange(
        method, try SiteURL(base + path), headers, { body.map { .bytes($0) } },
        repeats: method == .GET || method == .PATCH)
      let answer = Answer(status: status, body: JSONReader.read(bytes).root)
      guard (200...299).contains(status) || (accepting != nil && answer.code == accepting) else {
        let detail = answer.body?["errors"]?.array?.first?["detail"]?.string ?? "no reason given"
        throw DeliveryError(.badResponse, "the host answered with status \(status): \(detail.prefix(500))", at: base)
      }
      return answer
    }

    /// Sends a range of a file to a URL of the host. The URL is the authorization.
    ///
    /// - Returns: false if the upload is closed: it was committed, or it expired.
    /// - Throws: `badResponse` for another status than 200 and 410; errors of the connection and of reading.
    func put(_ file: InputFile, _ range: Range<UInt64>, to url: String) async throws -> Bool {
      let clients = clients
      let (status, _) = try await exchange(
        .PUT, try SiteURL(url), HTTPHeaders([("content-type", "application/octet-stream")]),
        {
          .stream(
            FileRange(file: file, range: range, clients: clients),
            length: .known(Int64(range.upperBound - range.lowerBound)))
        }, repeats: true)
      guard status == 200 || status == 410 else {
        throw DeliveryError(.badResponse, "the host answered with status \(status) to a part", at: url)
      }
      return status == 200
    }

    /// Errors of the caller, of the file and of URLs, which another attempt does not change.
    private static func isFinal(_ error: any Error) -> Bool {
      error is CancellationError || error is PackStoreError || error is DeliveryError
    }

    private static func broken(_ error: any Error, at location: String) -> DeliveryError {
      if let fault = error as? ProxyFault { return fault.error(at: location) }
      var failure = DeliveryError(
        .unreachable, "the connection to the host broke (\(ConnectionFault(error)))", at: location)
      failure.specificRemedy = "repeat the command: it continues the upload"
      return failure
    }

    private static let attemptLimit = 5
    private static let answerByteCount = 16 << 20

    /// Sends a request, and sends it again while the host is busy, and after a broken connection if it may be repeated.
    private func exchange(
      _ method: HTTPMethod, _ url: SiteURL, _ headers: HTTPHeaders, _ body: () -> HTTPClientRequest.Body?, repeats: Bool
    ) async throws -> (UInt, [UInt8]) {
      var attempt = 1
      while true {
        try Task.checkCancellation()
        var pause = Duration.seconds(1 << min(attempt, 5))
        do {
          // A request that must not be repeated cannot use a connection that the host may be closing.
          var headers = headers
          headers.add(name: "connection", value: "close")
          let response = try await clients.send(method, url, headers, body: body(), mayBePrivate: true)
          let status = response.status.code
          let bytes = try await response.body.collect(upTo: Self.answerByteCount)
          guard status == 429 || status == 503, attempt < Self.attemptLimit else {
            return (status, Array(bytes.readableBytesView))
          }
          if let seconds = response.headers.first(name: "retry-after").flatMap({ Int($0) }) {
            pause = .seconds(min(max(seconds, 1), 120))
          }
        } catch let error where Self.isFinal(error) {
          throw error
        } catch {
          guard repeats, attempt < Self.attemptLimit else { throw Self.broken(error, at: base) }
        }
        attempt += 1
        try await Task.sleep(for: pause)
      }
    }
  }

  /// A range of a file, in pieces, as the connection accepts them.
  private struct FileRange: AsyncSequence, Sendable {
    typealias Element = ByteBuffer

    let file: InputFile
    let range: Range<UInt64>
    let clients: HTTPClients

    static let pieceByteCount: UInt64 = 256 << 10

    struct AsyncIterator: AsyncIteratorProtocol {
      let body: FileRange
      var offset: UInt64

      mutating func next() async throws -> ByteBuffer? {
        guard offset < body.range.upperBound else { return nil }
        // Otherwise the whole range would be in memory before the network thread applies back-pressure.
        if offset > body.range.lowerBound { await body.clients.catchUp() }
        let count = Int(Swift.min(body.range.upperBound - offset, FileRange.pieceByteCount))
        let bytes = try body.file.bytes(at: offset, upTo: count)
        guard bytes.count == count else {
          throw PackStoreError(.sourceChanged, "truncated while it was read", file: body.file.place.text)
        }
        offset += UInt64(count)
        return ByteBuffer(bytes: bytes)
      }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(body: self, offset: range.lowerBound) }
  }

  extension JSONValue {
    /// A member of an object.
    subscript(name: String) -> JSONValue? { object?.first { $0.name == name }?.value }
  }
#endif
