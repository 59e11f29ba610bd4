#if Hosting
  import HummingbirdCore
  import NIOCore
  import PackServer

  /// The client or a limit closed the connection while the body was read.
  struct ConnectionLost: Error {}

  /// Reads the body of one request within its bounds.
  struct BodyReader {
    private let table: ConnectionTable
    private let transfer: UInt64
    private var iterator: RequestBody.AsyncIterator

    /// Whether the whole body was read.
    private(set) var isAtEnd: Bool

    init(_ request: Request, hasBody: Bool, _ table: ConnectionTable, _ transfer: UInt64) {
      (self.table, self.transfer) = (table, transfer)
      iterator = request.body.makeAsyncIterator()
      isAtEnd = !hasBody
    }

    /// Returns the next bytes; `nil` at the end.
    mutating func next() async throws -> ByteBuffer? {
      guard !isAtEnd else { return nil }
      let piece: ByteBuffer?
      do { piece = try await iterator.next() } catch { throw ConnectionLost() }
      guard let piece else {
        isAtEnd = true
        return nil
      }
      table.progress(transfer)
      return piece
    }

    /// Reads the whole body. Chunked bodies have no length, so bytes are counted.
    ///
    /// - Parameter share: the memory for the body, which grows with it.
    /// - Throws: `APIError` 413 for a longer one, 503 if the memory for bodies is used up.
    mutating func all(limit: Int, _ share: BodyMemory.Share) async throws -> [UInt8] {
      var bytes: [UInt8] = []
      while let piece = try await next() {
        guard piece.readableBytes <= limit - bytes.count else {
          throw APIError.malformed(413, "body: longer than \(limit) bytes; send less")
        }
        try share.grow(to: bytes.count + piece.readableBytes)
        bytes += piece.readableBytesView
      }
      return bytes
    }

    private struct BodyTooLong: Error {}

    /// Reads and discards the rest up to a limit: a client may read the answer only after it has sent its body.
    mutating func discardRest(limit: Int = 16 << 20) async throws {
      var byteCount = 0
      while let piece = try await next() {
        byteCount += piece.readableBytes
        guard byteCount <= limit else { throw BodyTooLong() }
      }
    }
  }
#endif
