import PackStore

/// Builds the deltas that a site lacks, and lists them in its roots.
///
/// Building takes long, so it happens without the publisher's lock, and a demotion need not wait. The lock is held during planning
/// and while the results are listed; the site may change in between. Only one process builds at a time.
struct DeltaWork {
  private let store: Store
  private let folder: SiteFolder
  private let deltaCount: Int
  private let level: Int32
  private let progress: (@Sendable (Site.PublishProgress) -> Void)?

  /// Versions, each with the versions of the same pack that clients may have. The most common version is first; other versions that
  /// the site keeps are last.
  typealias Wanted = [(version: PackVersion, sources: [PackVersion])]
  typealias Pair = (from: PackVersion, to: PackVersion)

  /// The result of the work.
  struct Outcome {
    var made: [DeltaFile.Info] = []
    var missing: [Site.PublishResult.MissingDelta] = []

    /// The channels whose roots list the new deltas. Changes by other publishers during the build are not included.
    var changedChannels: [SiteChannel] = []
  }

  /// - Parameters:
  ///   - store: the site's store.
  ///   - deltaCount: the number of earlier versions from which deltas to each version are built.
  init(
    _ store: Store, folder: SiteFolder, deltaCount: Int, level: Int32,
    progress: (@Sendable (Site.PublishProgress) -> Void)?
  ) {
    self.store = store
    self.folder = folder
    self.deltaCount = deltaCount
    self.level = level
    self.progress = progress
  }

  /// Builds the missing deltas, and lists them in the roots. The caller must not hold the publisher's lock.
  ///
  /// - Parameters:
  ///   - wanted: returns the versions that need deltas in the current state of the site.
  ///   - change: the change. It is read again, because other publishers may have changed the site.
  /// - Throws: `busy` if another process builds deltas, and the options do not allow waiting; `CancellationError` after listing the
  ///   finished deltas.
  func run(
    in change: inout SiteChange, _ wanted: (Snapshot, SiteChange) throws -> Wanted
  ) throws -> Outcome {
    let builder = try folder.lockDeltas(waits: change.options.waitsForOthers)
    defer { withExtendedLifetime(builder) {} }
    let (snapshot, pairs) = try folder.withLock(waits: true) {
      try change.reread()
      let snapshot = try store.makeSnapshot()
      let halted = change.channelStates.haltedVersions(in: snapshot)
      return (snapshot, self.pairs(try wanted(snapshot, change), change.deltas, in: snapshot, without: halted))
    }
    let (made, missing, isCancelled) = try build(pairs, in: snapshot)
    var outcome = Outcome(made: made, missing: missing)
    if !made.isEmpty {
      // Waits for other publishers in any case, so that the finished deltas are listed.
      outcome.changedChannels = try folder.withLock(waits: true) {
        try change.reread()
        let before = change.roots
        try change.name(made)
        return change.roots.keys.filter { change.roots[$0] != before[$0] }
      }
    }
    // The site then offers the published versions without the unfinished delta.
    if isCancelled { throw CancellationError() }
    return outcome
  }

  private func build(
    _ pairs: [Pair], in snapshot: Snapshot
  ) throws -> (made: [DeltaFile.Info], missing: [Site.PublishResult.MissingDelta], isCancelled: Bool) {
    var made: [DeltaFile.Info] = [], missing: [Site.PublishResult.MissingDelta] = []
    var extent = Extent(doneByteCount: 0, totalByteCount: pairs.map { UInt64(clamping: $0.to.byteCount) }.clampedSum())
    for (from, to) in pairs {
      defer { extent.doneByteCount = extent.doneByteCount.addingClamped(UInt64(clamping: to.byteCount)) }
      do {
        made.append(try make(from: from, to: to, in: snapshot, extent))
      } catch {
        folder.discardDelta()
        if error is CancellationError { return (made, missing, true) }
        missing.append(.init(version: to, from: from.number, reason: try reason(error)))
      }
    }
    return (made, missing, false)
  }

  private func reason(_ error: any Error) throws -> String {
    guard let error = error as? PackStoreError else { return "\(error)" }
    guard try error.code != .purged || !folder.isWithoutFrames else { return "this copy of the site lacks the data" }
    return error.finding
  }

  /// Returns the pairs of versions without a delta: first each wanted version with its most common source, then each with its next
  /// source. Versions that the site no longer keeps are omitted, and updates for which devices fetch no data.
  ///
  /// - Parameter halted: versions from which no deltas are built.
  func pairs(
    _ wanted: Wanted, _ known: DeltaIndex, in snapshot: Snapshot, without halted: Set<PackVersion>
  ) -> [Pair] {
    let wanted = wanted.filter { wanted in
      snapshot.version(wanted.version.number, of: wanted.version.pack)?.catalog == wanted.version.catalog
    }
    let sources = wanted.map { self.sources(of: $0.version, $0.sources, in: snapshot, without: halted) }
    var pairs: [Pair] = []
    for rank in 0..<(sources.map(\.count).max() ?? 0) {
      for (sources, wanted) in zip(sources, wanted) where rank < sources.count {
        guard !known.lead(from: sources[rank].catalog, to: wanted.version),
          (try? snapshot.updateByteCount(from: sources[rank], to: wanted.version)) != 0
        else { continue }
        pairs.append((sources[rank], wanted.version))
      }
    }
    return pairs
  }

  /// Returns the kept versions to build deltas from, without duplicate contents.
  private func sources(
    of version: PackVersion, _ first: [PackVersion], in snapshot: Snapshot, without halted: Set<PackVersion>
  ) -> ArraySlice<PackVersion> {
    let kept = snapshot.versions(of: version.pack)
    var sources: [PackVersion] = []
    for candidate in first + kept where candidate.catalog != version.catalog && !halted.contains(candidate) {
      let isKept = kept.contains { $0.number == candidate.number && $0.catalog == candidate.catalog }
      if isKept, !sources.contains(where: { $0.catalog == candidate.catalog }) { sources.append(candidate) }
    }
    return sources.prefix(deltaCount)
  }

  /// The progress of all deltas, measured by the bytes of their target versions, because the length of a delta is known only late.
  private struct Extent {
    var doneByteCount: UInt64
    let totalByteCount: UInt64

    /// Returns the progress during one delta.
    func progress(_ version: PackVersion, _ done: Int, of total: Int) -> Site.PublishProgress {
      let part = Double(version.byteCount) * min(Double(done) / Double(max(total, 1)), 1)
      return .delta(
        version.pack, byteCount: Int(clamping: doneByteCount.addingClamped(UInt64(max(part, 0)))),
        totalByteCount: Int(clamping: totalByteCount))
    }
  }

  private func make(
    from: PackVersion, to: PackVersion, in snapshot: Snapshot, _ extent: Extent
  ) throws -> DeltaFile.Info {
    let file = try folder.openDelta()
    let delta = try snapshot.buildDelta(
      of: to.pack, from: from.number, to: to.number, level: level,
      write: { offset, bytes in try file.write(bytes, at: offset) },
      progress: { [progress] in progress?(extent.progress(to, $0, of: $1)) })
    try folder.finish(file, delta)
    return delta
  }
}
