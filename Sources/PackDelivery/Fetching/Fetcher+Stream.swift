import PackStore

/// Servers without ranges: each file is read once, sequentially, and unneeded bytes are skipped.
///
/// Requests for a data segment have rising offsets, so one pass is enough. Requests for a metadata segment come level by level, and
/// each depends on the one before; such a segment is small compared with the data, and is kept in a temporary file without a name.
extension Fetcher {
  func fetchStreams() async throws {
    var pass: Pass?
    var spools: [Int: Spool] = [:]
    while let want = try takeWant() {
      try Task.checkCancellation()
      let memory = OwnedMemory(want.byteCount)
      let buffer = TransferBuffer(memory.bytes)
      if want.isTable {
        try prepare(UInt64(want.byteCount), of: want)
        try await source.read(file(of: want), at: 0, into: buffer, isFresh: false)
        try await give(buffer, of: want) {
          try await self.source.read(self.file(of: want), at: 0, into: $0, isFresh: true)
        }
      } else if content(of: want) == .metadata {
        if spools[want.segment] == nil { spools[want.segment] = try await spool(want, buffer) }
        try spools[want.segment]!.read(at: want.offset, into: buffer)
        try await give(buffer, of: want) { buffer in
          spools[want.segment] = try await self.spool(want, buffer)
          try spools[want.segment]!.read(at: want.offset, into: buffer)
        }
      } else {
        if pass?.segment != want.segment || want.offset < pass!.position {
          pass = Pass(segment: want.segment, stream: try await source.stream(file(of: want)))
        }
        try await pass!.read(want, into: buffer)
        try await give(buffer, of: want) { buffer in
          pass = Pass(segment: want.segment, stream: try await self.source.stream(self.file(of: want)))
          try await pass!.read(want, into: buffer)
        }
      }
      withExtendedLifetime(memory) {}
    }
  }

  private func give(_ buffer: TransferBuffer, of want: Want, again: (TransferBuffer) async throws -> Void) async throws
  {
    try count(buffer, of: want)
    try await give(UnsafeRawBufferPointer(buffer.bytes), of: want, again: again)
  }

  /// One pass over a data segment.
  private struct Pass {
    let segment: Int
    let stream: any SiteStream
    var position: UInt64 = 0

    mutating func read(_ want: Want, into buffer: TransferBuffer) async throws {
      try await stream.read(at: want.offset, into: buffer)
      position = want.end
    }
  }

  /// Fetches a whole metadata segment. Adds its cost to `buffer`'s counts.
  private func spool(_ want: Want, _ buffer: TransferBuffer) async throws -> Spool {
    let file = file(of: want)
    try prepare(file.byteCount, of: want)
    let spool = try Spool(in: spoolFolder)
    let stream = try await source.stream(file)
    let memory = OwnedMemory(Int(min(file.byteCount, 1 << 18)))
    var offset: UInt64 = 0
    while offset < file.byteCount {
      let count = Int(min(UInt64(memory.bytes.count), file.byteCount - offset))
      let part = TransferBuffer(UnsafeMutableRawBufferPointer(rebasing: memory.bytes[..<count]))
      try await stream.read(at: offset, into: part)
      buffer.wireByteCount += part.wireByteCount
      buffer.requestCount += part.requestCount
      try spool.append(UnsafeRawBufferPointer(part.bytes))
      guard buffer.wireByteCount <= metadataByteLimit else { throw tooMuchMetadata(want) }
      offset += UInt64(count)
    }
    withExtendedLifetime(memory) {}
    return spool
  }
}
