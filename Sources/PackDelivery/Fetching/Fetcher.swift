import PackStore

/// Fetches all that a version wants, and gives it in the order in which it is wanted.
///
///     wants, in order --merged--> requests --several in flight--> buffers --in order--> given
///
/// Where the server has no ranges, one file after the other is read from front to back instead: `Fetcher+Stream`.
package final class Fetcher {
  let source: any SiteSource
  let incoming: any Incoming
  /// The files of a segment, by its number: they are not kept, because a version may have very many.
  private let filesOfSegment: (Int) -> SegmentFiles
  let limits: FetchLimits
  /// A folder for files that have no name: buffers, and of servers without ranges the metadata meanwhile.
  let spoolFolder: String
  /// How many bytes of metadata may be asked for, and come.
  let metadataByteLimit: Int
  let didGive: () throws -> Void

  package private(set) var tally = FetchTally()
  private var ring: TransferRing
  private var requests: [Request] = []
  /// Wants that were taken and are in no request yet, oldest first.
  private var lookAhead: [Want] = []
  private var nextNumber = 0
  private var askedMetadataByteCount = 0

  /// - Parameters:
  ///   - files: the files of each segment, by segment number.
  ///   - didGive: called after each want that was given.
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

  /// Runs until nothing is wanted any more. Blocks where it gives.
  ///
  /// - Throws: ``SourceFault/siteChanged(_:)``; what the source and who takes the bytes throw; `corrupt`.
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

  /// The next want, without taking it.
  private func peek() throws -> Want? {
    if let want = lookAhead.first { return want }
    guard case .want(let want) = try incoming.next() else { return nil }
    lookAhead.append(want)
    return want
  }

  /// Takes the next want. Nil: there is none, now or ever.
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

  /// Counts what is about to be asked for.
  ///
  /// - Throws: `badResponse` when that is too much metadata: no site needs so much, nor does a server that keeps to
  ///   HTTP.
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

  /// Counts what came over the wire.
  func count(_ buffer: TransferBuffer, of want: Want) throws {
    tally.take(buffer, content(of: want))
    guard tally.metadataByteCount <= metadataByteLimit else { throw tooMuchMetadata(want) }
  }

  /// Counts the requests that were under way when another one failed. Their tasks have ended.
  private func countAbandoned() {
    for request in requests {
      if let want = request.wants.first { tally.take(request.buffer, content(of: want)) }
    }
  }

  // MARK: - Ranges

  /// Consecutive wants of one file, close to each other.
  private struct Request {
    let number: Int
    var wants: [Want]
    let buffer: TransferBuffer
    /// What keeps a buffer that is not of the ring.
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

  /// The next request, if there is something to ask for and room for its answer.
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

  /// The wants that the next request is for. They stay in `lookAhead`.
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

  /// Makes wants of requests that came to nothing again what is wanted next.
  private func takeBack() {
    lookAhead = requests.flatMap(\.wants) + lookAhead
    for request in requests where request.memory == nil { ring.returnOldest() }
    requests = []
  }

  // MARK: - Giving

  /// Gives the bytes of a want. If they are wrong they are fetched once more, by `again`.
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

/// Memory of its own.
final class OwnedMemory {
  let bytes: UnsafeMutableRawBufferPointer
  init(_ byteCount: Int) { bytes = .allocate(byteCount: byteCount, alignment: 16) }
  deinit { bytes.deallocate() }
}
