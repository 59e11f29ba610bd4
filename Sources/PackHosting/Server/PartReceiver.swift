#if Hosting
  import NIOCore

  /// Receives one part. Only the task of its request uses it, so the writer is used by one thread at a time.
  struct PartReceiver: @unchecked Sendable {
    private let writer: PartWriter

    init(_ writer: PartWriter) { self.writer = writer }

    /// Streams the body to the part's file.
    ///
    /// - Returns: the value of `ETag`.
    func receive(_ body: inout BodyReader) async throws -> String {
      do {
        while let piece = try await body.next() {
          try piece.withUnsafeReadableBytes { try writer.write($0) }
        }
        return try await writer.finish()
      } catch {
        writer.abandon()
        throw error
      }
    }
  }
#endif
