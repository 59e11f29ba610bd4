import CPackStore

extension Store {
  /// The progress of a repair.
  public struct RepairProgress: Hashable, Sendable {
    public enum Phase: Hashable, Sendable {
      /// Finding faults.
      case check
      /// Finding undamaged data.
      case survey
      /// Restoring versions.
      case restore
    }

    public let phase: Phase

    /// Bytes processed in the phase.
    public let byteCount: Int
    public let totalByteCount: Int
  }
}

extension Store {
  /// The result of a repair.
  public struct RepairResult: Hashable, Codable, Sendable {
    /// A lost pack, version or asset.
    public struct Loss: Hashable, Codable, Sendable {
      public let pack: PackID

      /// The number that the version had; `nil` if the whole pack is lost.
      public let version: UInt64?

      /// The path of the asset; `nil` if the version is lost, or if the path is unknown.
      public let asset: String?

      /// The number of lost assets of the version whose paths are unknown.
      public let unnamedAssetCount: Int

      /// Whether only the attributes of the version are lost.
      public let isOfAttributes: Bool
    }

    /// A damaged asset whose bytes were found in another place.
    public struct PurgedDataRecovery: Hashable, Codable, Sendable {
      public let pack: PackID
      public let version: UInt64
      public let asset: String

      /// The source of the bytes: a part of the damaged store, in a few English words, or the path of another store.
      public let origin: String
    }

    /// Whether the store was undamaged, so that nothing was written.
    public let wasWhole: Bool

    /// Damaged copies of slots of the control file that were rewritten, or would be. If nothing else was damaged, no generation was
    /// created.
    public let mendedCopyCount: Int

    /// Whether nothing was lost.
    public let isWhole: Bool

    /// Whether the newest index could not be read: priorities, dates, pins and current versions are guesses.
    public let isRebuilt: Bool

    /// The new generation; `nil` if none was created.
    public let generation: Generation?

    /// The faults, at most the first 1,000; empty if the store could not be opened.
    public let faults: [Fault]
    public let faultCount: Int

    public let segmentCount: Int
    public let damagedSegmentCount: Int

    /// Packs and versions after the repair.
    public let packCount: Int
    public let versionCount: Int

    /// The losses, at most the first 1,000.
    public let losses: [Loss]
    /// Lost assets of current versions.
    public let lostAssetCount: Int
    /// Older versions that were dropped, because part of their data was not found.
    public let lostVersionCount: Int
    public let lostPackCount: Int

    /// Damaged assets that were restored, at most the first 1,000. Undamaged assets that were stored again, because their file is
    /// damaged, are not included.
    public let healings: [PurgedDataRecovery]
    public let healedAssetCount: Int

    /// Bytes written to new segments.
    public let storedByteCount: Int

    fileprivate init(_ totals: pks_repair_totals, _ observer: RepairObserver) {
      wasWhole = totals.was_whole
      mendedCopyCount = Int(clamping: totals.mended_copy_count)
      isWhole = !totals.has_lost
      isRebuilt = totals.is_rebuilt
      generation = totals.generation == 0 ? nil : Generation(rawValue: totals.generation)
      faults = observer.faults
      faultCount = Int(clamping: totals.fault_count)
      segmentCount = Int(clamping: totals.segment_count)
      damagedSegmentCount = Int(clamping: totals.damaged_segment_count)
      packCount = Int(clamping: totals.pack_count)
      versionCount = Int(clamping: totals.version_count)
      losses = observer.losses
      lostAssetCount = Int(clamping: totals.lost_asset_count)
      lostVersionCount = Int(clamping: totals.lost_version_count)
      lostPackCount = Int(clamping: totals.lost_pack_count)
      healings = observer.healings
      healedAssetCount = Int(clamping: totals.healed_asset_count)
      storedByteCount = Int(clamping: totals.stored_bytes)
    }
  }
}

extension Store.RepairResult.Loss: CustomStringConvertible {
  /// `Tutorial@3 Videos/intro.m4v`, `Tutorial@2`, `Tutorial`.
  public var description: String {
    guard let version else { return pack.name }
    if let asset { return "\(pack)@\(version) \(asset)" }
    if isOfAttributes { return "\(pack)@\(version): its attributes" }
    let count = unnamedAssetCount
    return count == 0 ? "\(pack)@\(version)" : "\(pack)@\(version): \(count) \(count == 1 ? "asset" : "assets")"
  }
}

extension Store {
  /// Repairs the damaged store in the directory `path` from every place where its bytes still exist: undamaged segments, intact
  /// parts of damaged ones, the old index, and `donors`, other stores that may contain the same data.
  ///
  /// The recovered data becomes a new generation in one durable commit; nothing of the old generation is changed. Readers are not
  /// blocked; other writers wait. A current version with losses becomes a new version of the remaining assets; older versions with
  /// losses are dropped. A store without faults is not changed.
  ///
  /// The store need not be readable. Runs on a thread that may block. Cancelling the task ends it soon, with `CancellationError`,
  /// and leaves the store unchanged.
  ///
  /// - Parameters:
  ///   - path: the store's folder.
  ///   - donors: folders of other stores.
  ///   - isDryRun: whether to report what would be done, without changing the store.
  ///   - waitsForWriters: whether to wait for a process that is committing, rather than fail with `busy`.
  ///   - progress: called on a thread of the store.
  /// - Throws: `notAStore`, also for a donor; `isSite` for a site's store, which its publisher repairs; `newerFormat`, `readOnly`,
  ///   `busy`, `CancellationError`, `noSpace`, `ioError`, `outOfMemory`; `corrupt` if a donor cannot be opened. The store is then
  ///   unchanged. Losses are not thrown: they are part of the result.
  /// - Complexity: O(*n*) in stored bytes.
  @discardableResult
  public static func repair(
    at path: FilePath, from donors: [FilePath] = [], isDryRun: Bool = false, waitsForWriters: Bool = true,
    progress: (@Sendable (RepairProgress) -> Void)? = nil
  ) async throws -> RepairResult {
    try await BlockingExecutor.run {
      try repairNow(
        path, donors, isDryRun: isDryRun, waitsForWriters: waitsForWriters, isPublication: false, progress)
    }
  }

  /// Repairs a store on this thread, which may block.
  ///
  /// - Parameter isPublication: whether the store belongs to a site, and the caller lists its versions in the root.
  package static func repairNow(
    _ path: FilePath, _ donors: [FilePath], isDryRun: Bool, waitsForWriters: Bool, isPublication: Bool,
    _ progress: ((RepairProgress) -> Void)?
  ) throws -> RepairResult {
    var observer = RepairObserver(progress: progress)
    var totals = pks_repair_totals()
    try naming(path) {
      try check { error in
        withContext(&observer) { context in
          withCStrings(donors.map(\.string)) { donors in
            var request = pks_repair_request()
            request.donors = donors.baseAddress
            request.donor_count = UInt32(donors.count)
            request.dry_run = isDryRun
            request.no_wait = !waitsForWriters
            request.publication = isPublication
            request.context = context
            request.fault = RepairObserver.onFault
            request.note = RepairObserver.onNote
            request.progress = RepairObserver.onProgress
            return path.withPlatformString { path in
              Options.existing.withCore { pks_store_repair(path, $0, &request, &totals, error) }
            }
          }
        }
      }
    }
    return RepairResult(totals, observer)
  }
}

/// The `context` of the core's repair.
private struct RepairObserver {
  private static let limit = 1_000

  let progress: ((Store.RepairProgress) -> Void)?
  var faults: [Store.Fault] = []
  var losses: [Store.RepairResult.Loss] = []
  var healings: [Store.RepairResult.PurgedDataRecovery] = []

  init(progress: ((Store.RepairProgress) -> Void)?) { self.progress = progress }

  private mutating func take(_ note: pks_repair_note) {
    let pack = PackID(trusted: note.pack)
    let asset = note.asset.map { String(copying: $0, count: note.asset_length) }
    if note.lost, losses.count < Self.limit {
      losses.append(
        .init(
          pack: pack, version: note.version == 0 ? nil : note.version, asset: asset,
          unnamedAssetCount: Int(clamping: note.unnamed_count), isOfAttributes: note.attributes))
    } else if !note.lost, !note.moved, healings.count < Self.limit {
      healings.append(
        .init(
          pack: pack, version: note.version, asset: asset ?? "", origin: note.origin.map { String(cString: $0) } ?? ""))
    }
  }

  static let onFault: @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<pks_fault>) -> Void = { context, fault in
    let observer = context!.assumingMemoryBound(to: RepairObserver.self)
    if observer.pointee.faults.count < limit { observer.pointee.faults.append(Store.Fault(fault.pointee)) }
  }

  static let onNote: @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<pks_repair_note>) -> Void = {
    context, note in
    context!.assumingMemoryBound(to: RepairObserver.self).pointee.take(note.pointee)
  }

  static let onProgress: @convention(c) (UnsafeMutableRawPointer?, pks_repair_phase, UInt64, UInt64) -> Bool = {
    context, phase, done, total in
    let observer = context!.assumingMemoryBound(to: RepairObserver.self)
    let phases: [Store.RepairProgress.Phase] = [.check, .survey, .restore]
    observer.pointee.progress?(
      Store.RepairProgress(
        phase: phases[Int(phase.rawValue)], byteCount: Int(clamping: done), totalByteCount: Int(clamping: total)))
    return !Task.isCancelled
  }
}

extension Store.RepairProgress: Store.Progress {
  /// The fraction of the current phase.
  public var fraction: Double { PackStore.fraction(byteCount, of: totalByteCount) }
}
