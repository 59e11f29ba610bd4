import PackStore

/// Fetches all bytes that a version requests, and passes them on in the order of the requests.
///
///     wants, in order --merged--> requests --several in flight--> buffers --in order--> given
///
/// If the server does not support ranges, files are read one after the other, sequentially: `Fetcher+Stream`.
package final class Fetcher {
  let source: any SiteSource
  let incoming: any Incoming
  /// Returns the files of a segment by its number. They are not kept, because a version may have very many.
  private let filesOfSegment: (Int) -> SegmentFiles
  let limits: FetchLimits
  /// A folder for files without a name: buffers, and metadata of servers without ranges.
  let spoolFolder: String
  /// The maximum number of bytes of metadata, requested and received.
  let metadataByteLimit: Int
  let didGive: () throws -> Void

  package private(set) var tally = FetchTally()
  private var ring: TransferRing
  private var requests: [Request] = []
  /// Wants that are not in a request yet, oldest first.
  private var lookAhead: [Want] = []
  private var nextNumber = 0
  private var askedMetadataByteCount = 0

  /// - Parameters:
  ///   - files: the files of each segment, by segment number.
  ///   - didGive: called after each want whose bytes were passed on.
  package init(
    source: any SiteSource, incoming: any Incoming, files: some RandomAccessCollection<SegmentFiles>,
    limits: FetchLimits = .init(),
    spoolFolder: String, metadataByteLimit: Int = .max, didGive: @escaping () throws -> Void = {}
  ) {
    self.source = source
    self.incoming = incoming
    filesOfSegment = { files[files.index(files.startIndex, offsetBy: $0)] }
    self.limits = limits
    self.spoolFolder = spoolFolder
    self.metadataByteLimit = metadataByteLimit
    self.didGive = didGive
    ring = TransferRing(byteCount: limits.outstandingByteCount, in: FilePath(spoolFolder))
  }

  /// Runs until no more bytes are requested. Blocks while it passes bytes on.
  ///
  /// - Throws: ``SourceFault/siteChanged(_:)``; the errors of the source and of the receiver; `corrupt`.
  package func run() async throws {
    if source.hasRanges {
      do {
        return try await fetchRanges()
      } catch SourceFault.noRanges {
        countAbandoned()
        takeBack()
      } catch {
        countAbandoned()
        throw error
      }
    }
    try await fetchStreams()
  }

  // MARK: - What is wanted

  /// Returns the next want without removing it.
  private func peek() throws -> Want? {
    if let want = lookAhead.first { return want }
    guard case .want(let want) = try incoming.next() else { return nil }
    lookAhead.append(want)
    return want
  }

  /// Removes and returns the next want; `nil` if there are no more.
  func takeWant() throws -> Want? {
    defer { if !lookAhead.isEmpty { lookAhead.removeFirst() } }
    return try peek()
  }

  func file(of want: Want) -> SiteFile {
    let files = filesOfSegment(want.segment)
    return want.isTable ? files.table : files.segment
  }

  func content(of want: Want) -> SegmentFiles.Content {
    want.isTable ? .metadata : filesOfSegment(want.segment).content
  }

  /// Counts bytes about to be requested.
  ///
  /// - Throws: `badResponse` for too much metadata, which no valid site or server needs.
  func prepare(_ byteCount: UInt64, of want: Want) throws {
    guard content(of: want) == .metadata else { return }
    let (asked, isTooLarge) = askedMetadataByteCount.addingReportingOverflow(Int(clamping: byteCount))
    guard !isTooLarge, asked <= metadataByteLimit else { throw tooMuchMetadata(want) }
    askedMetadataByteCount = asked
  }

  func tooMuchMetadata(_ want: Want) -> DeliveryError {
    DeliveryError(
      .badResponse, "the version needs more than \(formatBytes(metadataByteLimit)) of metadata",
      at: source.place(of: file(of: want).path), limit: .metadata)
  }

  /// Counts bytes received from the network.
  func count(_ buffer: TransferBuffer, of want: Want) throws {
    tally.take(buffer, content(of: want))
    guard tally.metadataByteCount <= metadataByteLimit else { throw tooMuchMetadata(want) }
  }

  /// Counts the cancelled requests that were in flight when another one failed. Their tasks have ended.
  private func countAbandoned() {
    for request in requests {
      if let want = request.wants.first { tally.take(request.buffer, content(of: want)) }
    }
  }

  // MARK: - Ranges

  /// Consecutive wants in one file, with small gaps.
  private struct Request {
    let number: Int
    var wants: [Want]
    let buffer: TransferBuffer
    /// Owns the memory of a buffer outside the ring.
    let memory: OwnedMemory?
    var isComplete = false
  }

  private func fetchRanges() async throws {
    try await withThrowingTaskGroup(of: Int.self) { group in
      while true {
        try Task.checkCancellation()
        while let request = try makeRequest() {
          requests.append(request)
          let file = file(of: request.wants[0]), offset = request.wants[0].offset
          group.addTask { [source, buffer = request.buffer, number = request.number] in
            try await source.read(file, at: offset, into: buffer, isFresh: false)
            return number
          }
        }
        guard let oldest = requests.first else { return }
        if !oldest.isComplete {
          let number = try await group.next()!
          requests[requests.firstIndex { $0.number == number }!].isComplete = true
        } else {
          try await giveOldest()
        }
      }
    }
  }

  /// Returns the next request, if there are bytes to fetch and room for the answer.
  private func makeRequest() throws -> Request? {
    guard requests.count < limits.requestCount, let wants = try mergedWants() else { return nil }
    let byteCount = Int(wants.last!.end - wants[0].offset)
    var memory: OwnedMemory?
    var bytes = ring.take(byteCount)
    if bytes == nil, requests.isEmpty {
      memory = OwnedMemory(byteCount)
      bytes = memory!.bytes
    }
    guard let bytes else { return nil }
    try prepare(UInt64(byteCount), of: wants[0])
    lookAhead.removeFirst(wants.count)
    nextNumber += 1
    return Request(number: nextNumber, wants: wants, buffer: TransferBuffer(bytes), memory: memory)
  }

  /// Returns the wants for the next request. They stay in `lookAhead`.
  private func mergedWants() throws -> [Want]? {
    guard let first = try peek() else { return nil }
    var count = 1
    while let next = try want(at: count), isNear(next, to: lookAhead[count - 1], from: first) { count += 1 }
    return Array(lookAhead[..<count])
  }

  private func want(at index: Int) throws -> Want? {
    if index == lookAhead.count, case .want(let want) = try incoming.next() { lookAhead.append(want) }
    return index < lookAhead.count ? lookAhead[index] : nil
  }

  private func isNear(_ next: Want, to last: Want, from first: Want) -> Bool {
    next.segment == last.segment && !next.isTable && !last.isTable && next.offset >= last.end
      && next.offset - last.end <= UInt64(limits.gapByteCount)
      && next.end - first.offset <= UInt64(limits.requestByteCount)
  }

  private func giveOldest() async throws {
    let request = requests[0]
    try count(request.buffer, of: request.wants[0])
    for want in request.wants {
      let begin = Int(want.offset - request.wants[0].offset)
      let bytes = UnsafeRawBufferPointer(rebasing: request.buffer.bytes[begin..<begin + want.byteCount])
      try await give(bytes, of: want) { buffer in
        try await self.source.read(self.file(of: want), at: want.offset, into: buffer, isFresh: true)
      }
      requests[0].wants.removeFirst()
    }
    if request.memory == nil { ring.returnOldest() }
    requests.removeFirst()
  }

  /// Puts the wants of abandoned requests back at the front.
  private func takeBack() {
    lookAhead = requests.flatMap(\.wants) + lookAhead
    for request in requests where request.memory == nil { ring.returnOldest() }
    requests = []
  }

  // MARK: - Giving

  /// Passes on the bytes of a want. If they are wrong, fetches them once more by `again`.
  func give(_ bytes: UnsafeRawBufferPointer, of want: Want, again: (TransferBuffer) async throws -> Void) async throws {
    var outcome = try incoming.give(bytes)
    if case .mismatch(_, isFinal: false) = outcome {
      let memory = OwnedMemory(want.byteCount)
      let buffer = TransferBuffer(memory.bytes)
      try prepare(UInt64(want.byteCount), of: want)
      try await again(buffer)
      try count(buffer, of: want)
      outcome = try incoming.give(UnsafeRawBufferPointer(memory.bytes))
      withExtendedLifetime(memory) {}
    }
    if case .mismatch(let error, let isFinal) = outcome {
      throw DeliveryError(
        .corrupt,
        isFinal
          ? "the published data is inconsistent (\(error.finding))" : "received other bytes than were published, twice",
        at: source.place(of: file(of: want).path), offset: want.offset)
    }
    try didGive()
  }
}

/// Separately allocated memory.
final class OwnedMemory {
  let bytes: UnsafeMutableRawBufferPointer
  init(_ byteCount: Int) { bytes = .allocate(byteCount: byteCount, alignment: 16) }
  deinit { bytes.deallocate() }
}
