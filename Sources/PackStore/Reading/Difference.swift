import CPackStore

extension Snapshot {
  /// One path in which two pack versions differ.
  public struct Difference: Hashable, Codable, Sendable {
    public let change: Change
    public let kind: Asset.Kind

    /// The path in the newer version; of what was removed, in the older one.
    public let path: String

    /// Where a moved asset was.
    public let oldPath: String?

    public let oldByteCount: Int
    public let newByteCount: Int

    /// Of a file, the bytes of its chunks that neither the older version has, nor a difference that came before this one. Over all
    /// differences the sum is ``DifferenceTotals/newByteCount``.
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
  /// How much two pack versions differ.
  public struct DifferenceTotals: Hashable, Codable, Sendable {
    public let addedCount: Int
    public let removedCount: Int
    public let changedCount: Int
    public let movedCount: Int
    public let unchangedCount: Int

    /// Distinct chunks of the newer version.
    public let chunkCount: Int

    /// Of them, those that the older version does not have.
    public let newChunkCount: Int

    /// The bytes of those, before compression.
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
  /// Compares two kept versions, of one pack or of two, perhaps of two stores. Calls `visit` once per difference, in bytewise order of paths,
  /// moves last.
  ///
  ///     let versions = snapshot.versions(of: "Tutorial")
  ///     let totals = try snapshot.compare(versions[1], with: versions[0]) { print($0.change, $0.path) }
  ///
  /// - Parameters:
  ///   - old: the older version, of this snapshot.
  ///   - new: the newer version.
  ///   - other: the snapshot that has `new`; nil: this one.
  ///   - visit: called on this thread.
  /// - Throws: what `visit` throws; `notFound` when a version is not kept; `CancellationError` when the surrounding
  ///   task is; `corrupt`, `ioError`, `outOfMemory`.
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
