import PackStore

/// Makes the deltas that a site lacks, and names them in its roots.
struct DeltaWork {
  private let snapshot: Snapshot
  private let folder: SiteFolder
  private let deltaCount: Int
  private let level: Int32
  private let progress: (@Sendable (Site.PublishProgress) -> Void)?

  /// - Parameters:
  ///   - snapshot: what the site's store keeps.
  ///   - deltaCount: from how many versions there is to be a delta to each.
  init(
    _ snapshot: Snapshot, folder: SiteFolder, deltaCount: Int, level: Int32,
    progress: (@Sendable (Site.PublishProgress) -> Void)?
  ) {
    self.snapshot = snapshot
    self.folder = folder
    self.deltaCount = deltaCount
    self.level = level
    self.progress = progress
  }

  /// Makes what is missing, and names it in the roots: also what was done when the task was cancelled.
  ///
  /// - Parameter wanted: versions, and those that clients may have of the same packs, most of them the first. Others that the
  ///   site keeps come after these.
  /// - Throws: `CancellationError`: the site shows what it showed before, and the deltas that were done.
  func run(
    _ wanted: [(version: PackVersion, sources: [PackVersion])], in change: inout SiteChange
  ) throws -> ([DeltaFile.Info], [Site.PublishResult.MissingDelta]) {
    var made: [DeltaFile.Info] = [], missing: [Site.PublishResult.MissingDelta] = []
    var isCancelled = false
    let pairs = pairs(wanted, change.deltas)
    var extent = Extent(doneByteCount: 0, totalByteCount: pairs.map { UInt64(clamping: $0.to.byteCount) }.clampedSum())
    for (from, to) in pairs where !isCancelled {
      defer { extent.doneByteCount = extent.doneByteCount.addingClamped(UInt64(clamping: to.byteCount)) }
      do {
        made.append(try make(from: from, to: to, extent))
      } catch {
        folder.discardDelta()
        isCancelled = error is CancellationError
        if !isCancelled {
          missing.append(.init(version: to, from: from.number, reason: try reason(error)))
        }
      }
    }
    try change.name(made)
    // The site shows what was published, without the delta that was being made.
    if isCancelled { throw CancellationError() }
    return (made, missing)
  }

  private func reason(_ error: any Error) throws -> String {
    guard let error = error as? PackStoreError else { return "\(error)" }
    guard try error.code != .purged || !folder.isWithoutFrames else { return "this copy of the site has not its data" }
    return error.finding
  }

  /// The pairs of versions between which a delta is missing: of each wanted version the one that most clients have, then the
  /// next one of each.
  func pairs(
    _ wanted: [(version: PackVersion, sources: [PackVersion])], _ known: KnownDeltas
  ) -> [(from: PackVersion, to: PackVersion)] {
    let sources = wanted.map { self.sources(of: $0.version, $0.sources) }
    var pairs: [(from: PackVersion, to: PackVersion)] = []
    for rank in 0..<(sources.map(\.count).max() ?? 0) {
      for (sources, wanted) in zip(sources, wanted) where rank < sources.count {
        guard !known.lead(from: sources[rank].catalog, to: wanted.version) else { continue }
        pairs.append((sources[rank], wanted.version))
      }
    }
    return pairs
  }

  /// Versions that are kept, each content once.
  private func sources(of version: PackVersion, _ first: [PackVersion]) -> ArraySlice<PackVersion> {
    let kept = snapshot.versions(of: version.pack)
    var sources: [PackVersion] = []
    for candidate in first + kept where candidate.catalog != version.catalog {
      let isKept = kept.contains { $0.number == candidate.number && $0.catalog == candidate.catalog }
      if isKept, !sources.contains(where: { $0.catalog == candidate.catalog }) { sources.append(candidate) }
    }
    return sources.prefix(deltaCount)
  }

  /// How far the work on all deltas is: by the bytes of the versions to which they lead, for how long a delta will be shows late.
  private struct Extent {
    var doneByteCount: UInt64
    let totalByteCount: UInt64

    /// In the middle of one.
    func progress(_ version: PackVersion, _ done: Int, of total: Int) -> Site.PublishProgress {
      let part = Double(version.byteCount) * min(Double(done) / Double(max(total, 1)), 1)
      return .delta(
        version.pack, byteCount: Int(clamping: doneByteCount.addingClamped(UInt64(max(part, 0)))),
        totalByteCount: Int(clamping: totalByteCount))
    }
  }

  private func make(from: PackVersion, to: PackVersion, _ extent: Extent) throws -> DeltaFile.Info {
    let file = try folder.openDelta()
    let delta = try snapshot.buildDelta(
      of: to.pack, from: from.number, to: to.number, level: level,
      write: { offset, bytes in try file.write(bytes, at: offset) },
      progress: { [progress] in progress?(extent.progress(to, $0, of: $1)) })
    try folder.finish(file, delta)
    return delta
  }
}
