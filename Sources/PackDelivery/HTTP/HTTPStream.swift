#if Delivery
  import AsyncHTTPClient
  import NIOCore

  /// A file on a server without ranges, read sequentially. After a broken connection, it is read again from the beginning up to the
  /// current offset.
  final class HTTPStream: SiteStream, @unchecked Sendable {
    // Only one task reads at a time, so mutable state needs no lock.
    private let source: HTTPSource
    private let file: SiteFile
    private var body: HTTPClientResponse.Body.AsyncIterator?
    /// Received bytes that are not requested yet.
    private var pending = ByteBuffer()
    /// The offset of `pending` in the file.
    private var position: UInt64 = 0
    /// The largest offset reached in any attempt.
    private var furthest: UInt64 = 0
    private var retry: Retry

    init(_ source: HTTPSource, _ file: SiteFile) {
      self.source = source
      self.file = file
      retry = Retry(source.options.retry, source.options.clock)
    }

    func read(at offset: UInt64, into buffer: TransferBuffer) async throws {
      precondition(offset + UInt64(buffer.count) <= file.byteCount)
      buffer.clear()
      while !buffer.isFull {
        let before = furthest
        do {
          try await source.watch.run { [self] pulse in
            // After a break, the connection begins before the filled part.
            try await advance(to: offset + UInt64(buffer.filledCount), buffer, pulse)
            try await fill(buffer, pulse)
          }
        } catch {
          body = nil
          pending = ByteBuffer()
          let fault = try source.transient(error, file.path)
          retry.madeProgress(by: Int(clamping: furthest - before))
          try await source.pause(before: &retry, after: fault, file.path)
        }
      }
    }

    private func advance(to offset: UInt64, _ buffer: TransferBuffer, _ pulse: Pulse) async throws {
      if body == nil { try await open(buffer, pulse) }
      while position < offset {
        if pending.readableBytes == 0 { try await receive(buffer, pulse) }
        let skipped = min(UInt64(pending.readableBytes), offset - position)
        pending.moveReaderIndex(forwardBy: Int(skipped))
        position += skipped
      }
    }

    private func fill(_ buffer: TransferBuffer, _ pulse: Pulse) async throws {
      while !buffer.isFull {
        if pending.readableBytes == 0 { try await receive(buffer, pulse) }
        let count = min(pending.readableBytes, buffer.missingCount)
        pending.readWithUnsafeReadableBytes { bytes in
          buffer.append(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
          return count
        }
        position += UInt64(count)
      }
    }

    private func open(_ buffer: TransferBuffer, _ pulse: Pulse) async throws {
      buffer.requestCount += 1
      let response = try await source.get(file.path, fields: [], pulse)
      try source.checkWhole(response, file)
      body = response.body.makeAsyncIterator()
      position = 0
    }

    /// Receives more bytes, at least one.
    private func receive(_ buffer: TransferBuffer, _ pulse: Pulse) async throws {
      let bytes = try await body!.next()
      try Task.checkCancellation()
      guard let bytes else { throw source.bad(file.path, "the connection ended early") }
      pulse.beat(bytes.readableBytes)
      buffer.wireByteCount += bytes.readableBytes
      pending = bytes
      furthest = max(furthest, position + UInt64(bytes.readableBytes))
      try await pulse.hold { try await source.options.pace.pay(bytes.readableBytes) }
    }
  }

  extension HTTPSource {
    package func stream(_ file: SiteFile) async throws -> any SiteStream { HTTPStream(self, file) }
  }
#endif
