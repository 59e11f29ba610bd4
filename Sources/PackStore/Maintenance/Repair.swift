import CPackStore

extension Store {
  /// How far a repair has come.
  public struct RepairProgress: Hashable, Sendable {
    public enum Phase: Hashable, Sendable {
      /// Looking for faults.
      case check
      /// Looking for what is whole.
      case survey
      /// Putting versions together again.
      case restore
    }

    public let phase: Phase

    /// Bytes of the phase.
    public let byteCount: Int
    public let totalByteCount: Int
  }
}

extension Store {
  /// What a repair found and did.
  public struct RepairResult: Hashable, Codable, Sendable {
    /// Something that is lost.
    public struct Loss: Hashable, Codable, Sendable {
      public let pack: PackID

      /// The number that the version had; `nil` when all of the pack is lost.
      public let version: UInt64?

      /// The path of the asset; `nil` when it is the version, or when it is unknown.
      public let asset: String?

      /// How many assets of the version are lost whose paths are unknown.
      public let unnamedAssetCount: Int

      /// The version is there, but without its attributes.
      public let isOfAttributes: Bool
    }

    /// An asset of which bytes were damaged, and were found elsewhere.
    public struct Healing: Hashable, Codable, Sendable {
      public let pack: PackID
      public let version: UInt64
      public let asset: String

      /// Where the bytes were: a part of the damaged store, in a few English words, or the path of another store.
      public let origin: String
    }

    /// There was nothing to do, and nothing was written.
    public let wasWhole: Bool

    /// Damaged copies of slots of the control file that were written again, or would be. Where nothing else was
    /// damaged, that is all that was to do, and no generation was made.
    public let mendedCopyCount: Int

    /// Whether nothing is lost.
    public let isWhole: Bool

    /// No index could be read, or not the newest: priorities, dates, pins, and which versions are current, had to be
    /// guessed.
    public let isRebuilt: Bool

    /// The new generation; `nil` when none was made.
    public let generation: Generation?

    /// What was damaged, at most the first 1,000; empty when the store could not even be opened.
    public let faults: [Fault]
    public let faultCount: Int

    public let segmentCount: Int
    public let damagedSegmentCount: Int

    /// Packs and versions that are kept.
    public let packCount: Int
    public let versionCount: Int

    /// What is lost, at most the first 1,000.
    public let losses: [Loss]
    /// Assets of current versions.
    public let lostAssetCount: Int
    /// Older versions, which were dropped because something of them is nowhere.
    public let lostVersionCount: Int
    public let lostPackCount: Int

    /// Assets that were damaged and are whole again, at most the first 1,000. Those that lay whole in a damaged file, and
    /// were stored again for that, are not among them.
    public let healings: [Healing]
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
  /// Makes the damaged store in the directory `path` whole again, as far as its bytes are anywhere: in segments that
  /// are whole, in intact parts of others, by way of the old index, or in `donors`, other stores that may have the same
  /// content.
  ///
  /// What can be salvaged becomes a new generation by one durable commit; nothing of the old one is touched. Readers go
  /// on; other writers wait. A current version with losses becomes a new version of the assets that are left; older
  /// versions with losses are dropped. A store without faults is left alone.
  ///
  /// The store need not open. On a thread that may block; a cancelled task ends it soon, with `CancellationError`, and
  /// leaves the store as it was.
  ///
  /// - Parameters:
  ///   - path: the store's folder.
  ///   - donors: folders of other stores.
  ///   - isDryRun: find out what would be done, and leave the store as it is.
  ///   - waitsForWriters: whether to wait for a process that is committing now, or to fail with `busy`.
  ///   - progress: called on a thread of the store's.
  /// - Throws: `notAStore`, also for a donor; `isSite` when the store is a site's, which a publisher repairs;
  ///   `newerFormat`, `readOnly`, `busy`, `CancellationError`, `noSpace`, `ioError`, `outOfMemory`; `corrupt` when a
  ///   donor cannot be opened. The store is as it was then. What is lost is not thrown: it is the result.
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

  /// The same on this thread, which may block.
  ///
  /// - Parameter isPublication: the store is a site's, and the caller describes it in the root.
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
  var healings: [Store.RepairResult.Healing] = []

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
  /// Of the phase.
  public var fraction: Double { PackStore.fraction(byteCount, of: totalByteCount) }
}
