import CPackStore

extension Snapshot {
  /// A path in which two pack versions differ.
  public struct Difference: Hashable, Codable, Sendable {
    public let change: Change
    public let kind: Asset.Kind

    /// The path in the newer version; for a removed asset, in the older version.
    public let path: String

    /// The previous path of a moved asset.
    public let oldPath: String?

    public let oldByteCount: Int
    public let newByteCount: Int

    /// For a file: bytes of its chunks that are in neither the older version nor an earlier difference. The sum over all
    /// differences is ``DifferenceTotals/newByteCount``.
    public let newChunkByteCount: Int

    public enum Change: String, CaseIterable, Codable, Sendable {
      case added
      case removed
      case changed
      /// The same content at another path.
      case moved
    }

    init(_ difference: pks_difference) {
      change = Change(difference.change)
      kind = Asset.Kind(difference.kind)
      path = String(copying: difference.path, count: difference.path_length)
      oldPath = change == .moved ? String(copying: difference.old_path, count: difference.old_path_length) : nil
      oldByteCount = Int(clamping: difference.old_size)
      newByteCount = Int(clamping: difference.new_size)
      newChunkByteCount = Int(clamping: difference.new_bytes)
    }
  }
}

extension Snapshot.Difference.Change {
  fileprivate init(_ change: pks_change) {
    switch change {
    case PKS_ADDED: self = .added
    case PKS_REMOVED: self = .removed
    case PKS_MOVED: self = .moved
    default: self = .changed
    }
  }
}

extension Snapshot {
  /// The amount by which two pack versions differ.
  public struct DifferenceTotals: Hashable, Codable, Sendable {
    public let addedCount: Int
    public let removedCount: Int
    public let changedCount: Int
    public let movedCount: Int
    public let unchangedCount: Int

    /// Distinct chunks of the newer version.
    public let chunkCount: Int

    /// Of these, chunks that the older version does not have.
    public let newChunkCount: Int

    /// The bytes of the new chunks, before compression.
    public let newByteCount: Int

    init(_ totals: pks_diff_totals) {
      addedCount = Int(clamping: totals.added)
      removedCount = Int(clamping: totals.removed)
      changedCount = Int(clamping: totals.changed)
      movedCount = Int(clamping: totals.moved)
      unchangedCount = Int(clamping: totals.unchanged)
      chunkCount = Int(clamping: totals.chunk_count)
      newChunkCount = Int(clamping: totals.new_chunk_count)
      newByteCount = Int(clamping: totals.new_bytes)
    }
  }
}

extension Snapshot {
  /// Compares two kept versions, of one pack or of two, also of two stores. Calls `visit` once per difference, in bytewise order of
  /// paths, moves last.
  ///
  ///     let versions = snapshot.versions(of: "Tutorial")
  ///     let totals = try snapshot.compare(versions[1], with: versions[0]) { print($0.change, $0.path) }
  ///
  /// - Parameters:
  ///   - old: the older version, of this snapshot.
  ///   - new: the newer version.
  ///   - other: the snapshot that has `new`; `nil`: this one.
  ///   - visit: called on this thread.
  /// - Throws: the errors of `visit`; `notFound` if a version is not kept; `CancellationError` if the surrounding task is
  ///   cancelled; `corrupt`, `ioError`, `outOfMemory`.
  @discardableResult
  public func compare(
    _ old: PackVersion, with new: PackVersion, of other: Snapshot? = nil, _ visit: (Difference) throws -> Void
  ) throws -> DifferenceTotals {
    let newSnapshot = other ?? self
    let (oldPack, newPack) = (try scope(old.pack), try newSnapshot.scope(new.pack))
    var totals = pks_diff_totals()
    try withoutActuallyEscaping(visit) { visit in
      var visitor = DifferenceVisitor(visit: visit)
      do {
        try check { error in
          withContext(&visitor) {
            pks_snapshot_diff(
              pointer, oldPack, old.number, newSnapshot.pointer, newPack, new.number, DifferenceVisitor.callback, $0,
              &totals, error)
          }
        }
      } catch {
        throw visitor.failure ?? error
      }
    }
    return DifferenceTotals(totals)
  }
}

/// The `context` of the core's comparison.
private struct DifferenceVisitor {
  let visit: (Snapshot.Difference) throws -> Void
  var failure: (any Error)?

  static let callback: @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<pks_difference>) -> Bool = {
    context, difference in
    let visitor = context!.assumingMemoryBound(to: DifferenceVisitor.self)
    do {
      try visitor.pointee.visit(Snapshot.Difference(difference.pointee))
      return !Task.isCancelled
    } catch {
      visitor.pointee.failure = error
      return false
    }
  }
}
