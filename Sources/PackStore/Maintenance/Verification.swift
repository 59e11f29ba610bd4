import CPackStore

extension Store {
  /// The progress of a verification.
  public struct VerifyProgress: Hashable, Sendable {
    /// Stored bytes read.
    public let byteCount: Int
    public let totalByteCount: Int

    /// From 0 to 1.
    public var fraction: Double { totalByteCount == 0 ? 1 : Double(byteCount) / Double(totalByteCount) }
  }
}

extension Store {
  /// The result of a verification.
  public struct VerifyResult: Hashable, Codable, Sendable {
    /// Files of the store.
    public let fileCount: Int
    public let frameCount: Int

    /// Chunks whose SHA-256 was compared: none unless deep.
    public let chunkCount: Int

    /// Stored bytes read.
    public let byteCount: Int

    /// Faults, each counted once.
    public let faultCount: Int

    /// The faults that are data of purgeable packs that is gone: ``Store/Fault/isPurgedData``.
    public let purgedFaultCount: Int

    /// Assets of kept versions with damage or purged data, each counted once for each version.
    public let hurtAssetCount: Int

    /// The faults, with location and damaged asset: one element for each damaged asset, at most the first 1,000.
    public let faults: [Fault]

    /// Faults that are damaged copies of a slot of the control file. While only one copy of a slot is damaged, no data depends on
    /// it, and the next commit rewrites it.
    public let damagedCopyCount: Int

    /// Whether the control file may refer to a newer commit that cannot be found: see ``Store/checkControl()``.
    public let mayHideCommit: Bool

    public var isSound: Bool { faultCount == 0 }

    init(_ totals: pks_verify_totals, faults: [Fault], purgedFaultCount: Int) {
      fileCount = Int(clamping: totals.files_checked)
      frameCount = Int(clamping: totals.frames_checked)
      chunkCount = Int(clamping: totals.chunks_checked)
      byteCount = Int(clamping: totals.bytes_checked)
      self.purgedFaultCount = purgedFaultCount
      faultCount = Int(clamping: totals.fault_count)
      hurtAssetCount = Int(clamping: totals.asset_count)
      damagedCopyCount = Int(clamping: totals.damaged_copy_count)
      mayHideCommit = totals.may_hide_commit
      self.faults = faults
    }
  }
}

extension Snapshot {
  /// Checks every file of the generation: structure and checksums.
  ///
  /// - Parameters:
  ///   - deep: whether to decode every frame, hash every chunk, and compare the catalogs of all kept versions with the data that
  ///     the index or their layouts refer to.
  ///   - progress: called on this thread; may be `nil`.
  /// - Throws: `CancellationError` if the surrounding task is cancelled; `invalidArgument`, `ioError`, `outOfMemory`. Faults are
  ///   not thrown: they are part of the result.
  /// - Complexity: O(*n*) in stored bytes; blocks this thread.
  public func verify(
    deep: Bool = false, progress: ((Store.VerifyProgress) -> Void)? = nil
  ) throws -> Store.VerifyResult {
    var observer = VerifyObserver(progress: progress)
    var totals = pks_verify_totals()
    try check { error in
      withContext(&observer) {
        pks_snapshot_verify(pointer, deep, VerifyObserver.onFault, VerifyObserver.onProgress, $0, &totals, error)
      }
    }
    return Store.VerifyResult(totals, faults: observer.faults, purgedFaultCount: observer.purgedFaultCount)
  }
}

/// The `context` of the core's verification.
private struct VerifyObserver {
  private static let faultLimit = 1_000

  let progress: ((Store.VerifyProgress) -> Void)?
  var faults: [Store.Fault] = []
  var purgedFaultCount = 0
  var lastNumber: Int?

  /// A fault is reported once for each asset that it hurts.
  private mutating func take(_ fault: Store.Fault) {
    if faults.count < Self.faultLimit { faults.append(fault) }
    if fault.isPurgedData, fault.number != lastNumber { purgedFaultCount += 1 }
    lastNumber = fault.number
  }

  static let onFault: @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<pks_fault>) -> Void = { context, fault in
    context!.assumingMemoryBound(to: VerifyObserver.self).pointee.take(Store.Fault(fault.pointee))
  }

  static let onProgress: @convention(c) (UnsafeMutableRawPointer?, UInt64, UInt64) -> Bool = { context, done, total in
    let observer = context!.assumingMemoryBound(to: VerifyObserver.self)
    observer.pointee.progress?(
      Store.VerifyProgress(byteCount: Int(clamping: done), totalByteCount: Int(clamping: total)))
    return !Task.isCancelled
  }
}

extension Store.VerifyProgress: Store.Progress {}
