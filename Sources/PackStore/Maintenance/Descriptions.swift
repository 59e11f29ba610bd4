// Descriptions of values and results: one line each, for logs.

extension Store.Pack: CustomStringConvertible {
  /// `Tutorial@3`.
  public var description: String { "\(version)" }
}

extension Store.Origin: CustomStringConvertible {
  /// ``id``.
  public var description: String { id }
}

extension Store.InstallResult: CustomStringConvertible {
  /// `Tutorial@3: 12 of 340 chunks new, 81920 bytes stored`.
  public var description: String {
    isUnchanged
      ? "\(version), unchanged"
      : "\(version): \(newChunkCount) of \(chunkCount) chunks new, \(newStoredByteCount) bytes stored"
  }
}

extension Store.ExtractResult: CustomStringConvertible {
  /// `12 files, 0 links, 3 folders: 4096 bytes; 1 damaged, 2 links refused`.
  public var description: String {
    let made = "\(fileCount) files, \(linkCount) links, \(folderCount) folders: \(byteCount) bytes"
    return damaged.isEmpty && refusedLinks.isEmpty
      ? made : made + "; \(damaged.count) damaged, \(refusedLinks.count) links refused"
  }
}

extension Store.VerifyResult: CustomStringConvertible {
  /// `no faults in 9 files, 4096 bytes`, or `2 faults in 9 files, 4096 bytes, which hurt 5 assets`.
  public var description: String {
    let place = "in \(fileCount) files, \(byteCount) bytes"
    return isSound ? "no faults \(place)" : "\(faultCount) faults \(place), which hurt \(hurtAssetCount) assets"
  }
}

extension Store.RepairResult: CustomStringConvertible {
  /// `nothing was damaged`, `repaired, nothing is lost`, or a list of losses.
  public var description: String {
    if wasWhole { return "nothing was damaged" }
    return isWhole
      ? "repaired, nothing is lost"
      : "lost: \(lostAssetCount) assets, \(lostVersionCount) older versions, \(lostPackCount) packs"
  }
}

extension Store.Statistics: CustomStringConvertible {
  /// ``Usage/description`` of all packs, and the sizes of segments and index.
  public var description: String { "\(all); segments \(segmentByteCount) bytes, index \(indexByteCount) bytes" }
}

extension Store.Statistics.Usage: CustomStringConvertible {
  /// `12 files of 4096 bytes, 3000 of them distinct, stored in 1000`.
  public var description: String {
    "\(fileCount) files of \(byteCount) bytes, \(uniqueByteCount) of them distinct, stored in \(storedByteCount)"
  }
}

extension Snapshot.Difference: CustomStringConvertible {
  /// `changed Videos/intro.m4v`, `moved a.txt to b.txt`.
  public var description: String { oldPath.map { "\(change) \($0) to \(path)" } ?? "\(change) \(path)" }
}

extension Snapshot.DifferenceTotals: CustomStringConvertible {
  /// `3 added, 1 removed, 2 changed, 0 moved, 12 unchanged: 4096 new bytes`.
  public var description: String {
    "\(addedCount) added, \(removedCount) removed, \(changedCount) changed, \(movedCount) moved, "
      + "\(unchangedCount) unchanged: \(newByteCount) new bytes"
  }
}

extension Snapshot.Entry: CustomStringConvertible {
  /// `file Videos/intro.m4v`.
  public var description: String { "\(kind) \(path)" }
}

extension Snapshot.Conflict: CustomStringConvertible {
  /// `One hides file a.txt of Two`.
  public var description: String { "\(winner) hides \(hidden)" + (hidden.pack.map { " of \($0)" } ?? "") }
}

extension Snapshot.HeldGeneration: CustomStringConvertible {
  /// `generation 4, held by 71, 93: 4096 bytes`.
  public var description: String {
    let holders = processes.isEmpty ? "" : ", held by " + processes.map(String.init).joined(separator: ", ")
    return "generation \(generation)\(holders): \(keptByteCount) bytes"
  }
}
