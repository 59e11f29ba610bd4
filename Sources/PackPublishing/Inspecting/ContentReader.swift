import PackDelivery
import PackFormats
import PackStore

/// Reads files of a site as a whole and compares them with their rules, at a limited rate.
final class ContentReader {
  private let source: any SiteSource
  private let rules: [SitePath: ContentRule]
  private let byteRateLimit: Int?
  private let clock: TransferClock
  private let start: Duration

  private(set) var readByteCount: UInt64 = 0

  private static let pieceByteCount = 1 << 20

  init(_ source: any SiteSource, rules: [SitePath: ContentRule], byteRateLimit: Int?, clock: TransferClock) {
    self.source = source
    self.rules = rules
    self.byteRateLimit = byteRateLimit
    self.clock = clock
    start = clock.now()
  }

  /// Returns the fault of a file; `nil` if it is intact.
  func fault(of path: SitePath, _ rule: ContentRule) async throws -> SiteVerification.FaultKind? {
    do {
      guard let parts = try await parts(of: path, rule) else { return .content }
      var checker = ContentChecker(parts)
      try await read(path, rule.byteCount, upTo: rule.byteCount) { checker.feed($0) }
      return checker.isIntact ? nil : .content
    } catch SourceFault.siteChanged { return .missing }
  }

  /// Returns the parts with digests; `nil` if the file that records them is damaged.
  func parts(of path: SitePath, _ rule: ContentRule) async throws -> [ContentChecker.Part]? {
    switch rule.content {
    case .digest(let digest): return [.init(offset: 0, byteCount: rule.byteCount, digest: digest)]
    case .segment(let segment): return try await parts(of: segment)
    case .delta(let delta): return try await parts(of: path, delta)
    }
  }

  private func parts(of segment: VersionManifest.Segment) async throws -> [ContentChecker.Part]? {
    var table: [UInt8] = []
    let count = UInt64(segment.tableByteCount)
    do {
      try await read(.frames(segment.id), count, upTo: count) { table += $0 }
    } catch SourceFault.siteChanged { return nil }
    guard Digest256(hashing: table) == segment.table,
      let rows = try? FrameRows(table, of: segment, file: "\(SitePath.frames(segment.id))")
    else { return nil }
    return try await SegmentParts(rows, of: segment).parts { begin, count in
      var bytes: [UInt8] = []
      try await self.read(.segment(segment.id), segment.byteCount, from: begin, upTo: begin + count) { bytes += $0 }
      return bytes
    }
  }

  private func parts(of path: SitePath, _ delta: SiteRoot.Delta) async throws -> [ContentChecker.Part]? {
    var header: [UInt8] = []
    try await read(path, delta.byteCount, upTo: UInt64(delta.headerByteCount)) { header += $0 }
    guard Digest256(hashing: header) == delta.header else { return nil }
    guard let list = try? DeltaBlockList(header: header, file: "\(path)") else { return nil }
    // A signature may follow the last block.
    guard list.endOffset <= delta.byteCount else { return nil }
    return [.init(offset: 0, byteCount: UInt64(header.count), digest: delta.header)]
      + list.blocks.map { .init(offset: $0.offset, byteCount: UInt64($0.byteCount), digest: $0.digest) }
  }

  /// - Parameters:
  ///   - byteCount: the length of the file.
  ///   - begin: where to begin.
  ///   - end: where to end, at most `byteCount`.
  private func read(
    _ path: SitePath, _ byteCount: UInt64, from begin: UInt64 = 0, upTo end: UInt64,
    _ body: (UnsafeRawBufferPointer) -> Void
  ) async throws {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.pieceByteCount, alignment: 16)
    defer { memory.deallocate() }
    let file = SiteFile(path.description, byteCount: byteCount)
    var offset = begin
    while offset < end {
      try Task.checkCancellation()
      let count = Int(min(end - offset, UInt64(memory.count)))
      let buffer = TransferBuffer(UnsafeMutableRawBufferPointer(rebasing: memory[..<count]))
      do {
        try await source.read(file, at: offset, into: buffer, isFresh: false)
      } catch SourceFault.noRanges { throw DeliveryError.noRanges(of: source) }
      body(UnsafeRawBufferPointer(buffer.bytes))
      offset += UInt64(count)
      readByteCount = readByteCount.addingClamped(UInt64(count))
      try await pace()
    }
  }

  /// Waits until the bytes read so far are within the rate.
  private func pace() async throws {
    guard let byteRateLimit, byteRateLimit > 0 else { return }
    let due = Duration.seconds(Double(readByteCount) / Double(byteRateLimit))
    let elapsed = clock.now() - start
    if elapsed < due { try await clock.sleep(due - elapsed) }
  }
}
