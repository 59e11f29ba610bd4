#if Delivery
  import AsyncHTTPClient
  import NIOCore
  import NIOHTTP1

  /// The first part of an answer of the type `multipart/byteranges`.
  ///
  /// RFC 9110, 15.3.7.2: a server may not answer a request for one range so, and some do. The part's head has the `Content-Range`, and
  /// the number of bytes follows from it. Other parts are not read.
  struct MultipartAnswer {
    /// The most bytes before the bytes of the part: the preamble and the part's head.
    static let headByteLimit = 8 << 10

    private let delimiter: [UInt8]
    private var received: [UInt8] = []

    /// - Returns: `nil` if the answer has another type, or no boundary.
    init?(_ headers: HTTPHeaders) {
      guard let type = headers.first(name: "Content-Type"),
        let match = type.firstMatch(
          of: /^[ \t]*multipart\/byteranges[ \t]*;.*?boundary=(?:"(?<quoted>[^"]+)"|(?<plain>[^; \t"]+))/.ignoresCase()),
        let boundary = match.quoted ?? match.plain, (1...70).contains(boundary.utf8.count)
      else { return nil }
      delimiter = Array("--\(boundary)".utf8)
    }

    /// Takes more bytes of the body.
    ///
    /// - Returns: the head of the first part and the bytes after it; `nil` until the head is complete.
    /// - Throws: ``Malformed``.
    mutating func take(_ bytes: some Sequence<UInt8>) throws -> (range: ContentRange, rest: [UInt8])? {
      received += bytes
      guard let end = endOfHead() else {
        guard received.count <= Self.headByteLimit else { throw Malformed() }
        return nil
      }
      guard end.text <= Self.headByteLimit else { throw Malformed() }
      let lines = String(decoding: received[..<end.text], as: UTF8.self).split(whereSeparator: \.isNewline)
      for line in lines {
        guard let colon = line.firstIndex(of: ":"), line[..<colon].lowercased() == "content-range" else { continue }
        let value = line[line.index(after: colon)...].trimmingPrefix(while: { $0 == " " || $0 == "\t" })
        guard let range = ContentRange(String(value)) else { throw Malformed() }
        return (range, Array(received[end.head...]))
      }
      throw Malformed()
    }

    /// Where the head of the first part ends, and where the bytes of the part begin.
    private func endOfHead() -> (text: Int, head: Int)? {
      guard let begin = Self.firstIndex(of: delimiter, in: received[...]) else { return nil }
      let head = received[(begin + delimiter.count)...]
      if let end = Self.firstIndex(of: Array("\r\n\r\n".utf8), in: head) { return (end, end + 4) }
      return Self.firstIndex(of: Array("\n\n".utf8), in: head).map { ($0, $0 + 2) }
    }

    private static func firstIndex(of pattern: [UInt8], in bytes: ArraySlice<UInt8>) -> Int? {
      guard bytes.count >= pattern.count else { return nil }
      return (bytes.startIndex...bytes.endIndex - pattern.count).first { bytes[$0...].starts(with: pattern) }
    }

    struct Malformed: Error {}
  }

  extension MultipartAnswer {
    /// The answer as if the server had sent the range of the first part alone; other answers as they are.
    ///
    /// - Throws: ``Malformed``; errors of the connection.
    static func firstPart(of response: HTTPClientResponse) async throws -> HTTPClientResponse {
      // An answer with a range of its own has one part, also if its type is multipart.
      guard response.status == .partialContent, response.headers.first(name: "Content-Range") == nil,
        var answer = MultipartAnswer(response.headers)
      else { return response }
      let pieces = Pieces(response.body)
      while let piece = try await pieces.next() {
        guard let (range, rest) = try answer.take(piece.readableBytesView) else { continue }
        var headers = response.headers
        headers.remove(name: "Content-Length")
        headers.remove(name: "Content-Type")
        headers.replaceOrAdd(name: "Content-Range", value: range.text)
        let body = PartBody(pieces: pieces, first: ByteBuffer(bytes: rest), byteCount: range.range.count)
        return HTTPClientResponse(
          version: response.version, status: response.status, headers: headers, body: .stream(body))
      }
      throw Malformed()
    }

    /// The rest of a body. One task at a time uses it.
    private final class Pieces: @unchecked Sendable {
      private var iterator: HTTPClientResponse.Body.AsyncIterator

      init(_ body: HTTPClientResponse.Body) { iterator = body.makeAsyncIterator() }

      func next() async throws -> ByteBuffer? { try await iterator.next() }
    }

    /// The bytes of the part.
    private struct PartBody: AsyncSequence, Sendable {
      let pieces: Pieces
      let first: ByteBuffer
      let byteCount: Int

      struct AsyncIterator: AsyncIteratorProtocol {
        let pieces: Pieces
        var first: ByteBuffer?
        var rest: Int

        mutating func next() async throws -> ByteBuffer? {
          guard rest > 0 else { return nil }
          while true {
            let next: ByteBuffer? = if let first { first } else { try await pieces.next() }
            first = nil
            guard var piece = next else { return nil }
            guard piece.readableBytes > 0 else { continue }
            let part = piece.readSlice(length: Swift.min(rest, piece.readableBytes))
            rest -= part?.readableBytes ?? 0
            return part
          }
        }
      }

      func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pieces: pieces, first: first, rest: byteCount) }
    }
  }
#endif
