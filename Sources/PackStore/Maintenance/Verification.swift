import CPackStore

extension Store {
  /// How far a verification has come.
  public struct VerifyProgress: Hashable, Sendable {
    /// Stored bytes read.
    public let byteCount: Int
    public let totalByteCount: Int

    /// From 0 to 1.
    public var fraction: Double { totalByteCount == 0 ? 1 : Double(byteCount) / Double(totalByteCount) }
  }
}

extension Store {
  /// What a verification found.
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

    /// Assets of kept versions that faults hurt: those that ``faults`` names, each counted once for each version.
    public let hurtAssetCount: Int

    /// What is wrong, where, and what it hurts: one element for each asset that a fault hurts, at most the first 1,000.
    public let faults: [Fault]

    /// Of the faults, those that are damaged copies of a slot of the control file. While only one copy of a slot is
    /// damaged, nothing depends on it, and the next commit writes it again.
    public let damagedCopyCount: Int

    /// The control file may name a newer commit that cannot be found: see ``Store/checkControl()``.
    public let mayHideCommit: Bool

    public var isSound: Bool { faultCount == 0 }

    init(_ totals: pks_verify_totals, faults: [Fault]) {
      fileCount = Int(clamping: totals.files_checked)
      frameCount = Int(clamping: totals.frames_checked)
      chunkCount = Int(clamping: totals.chunks_checked)
      byteCount = Int(clamping: totals.bytes_checked)
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
  ///   - deep: also decodes every frame, hashes every chunk, and compares the catalogs of all kept versions with what the
  ///     index or their layouts lead to.
  ///   - progress: called on this thread; may be nil.
  /// - Throws: `CancellationError` when the surrounding task is; `invalidArgument`, `ioError`, `outOfMemory`. Faults
  ///   are not thrown: they are the result.
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
    return Store.VerifyResult(totals, faults: observer.faults)
  }
}

/// The `context` of the core's verification.
private struct VerifyObserver {
  private static let faultLimit = 1_000

  let progress: ((Store.VerifyProgress) -> Void)?
  var faults: [Store.Fault] = []

  static let onFault: @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<pks_fault>) -> Void = { context, fault in
    let observer = context!.assumingMemoryBound(to: VerifyObserver.self)
    if observer.pointee.faults.count < faultLimit { observer.pointee.faults.append(Store.Fault(fault.pointee)) }
  }

  static let onProgress: @convention(c) (UnsafeMutableRawPointer?, UInt64, UInt64) -> Bool = { context, done, total in
    let observer = context!.assumingMemoryBound(to: VerifyObserver.self)
    observer.pointee.progress?(
      Store.VerifyProgress(byteCount: Int(clamping: done), totalByteCount: Int(clamping: total)))
    return !Task.isCancelled
  }
}

extension Store.VerifyProgress: Store.Progress {}
