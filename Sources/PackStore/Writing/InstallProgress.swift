import CPackStore

extension Store {
  /// The progress of an installation. Each phase begins with a report; ``Phase/store`` also ends with a report, when everything is
  /// done. Between them, a report comes at least every 16 MiB or 1,000 files. Numbers never decrease, unless the installation
  /// starts again because another writer changed the same pack.
  public struct InstallProgress: Hashable, Sendable {
    public let phase: Phase

    public let fileCount: Int

    /// 0 while scanning.
    public let totalFileCount: Int

    /// Bytes of the folder processed so far.
    public let byteCount: Int

    /// 0 while scanning.
    public let totalByteCount: Int

    /// Bytes written to the store: new data, compressed.
    public let storedByteCount: Int

    /// From 0 to 1, by bytes; 0 while scanning.
    public var fraction: Double {
      guard phase != .scan else { return 0 }
      return totalByteCount == 0 ? 1 : Double(byteCount) / Double(totalByteCount)
    }

    public enum Phase: Int, Comparable, Sendable {
      /// Listing the folder.
      case scan
      /// Chunking, hashing, compressing, writing.
      case store
      /// Writing layout and index, syncing, and the commit: the last report.
      case commit

      public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    init(_ progress: pks_progress) {
      phase = Phase(progress.phase)
      fileCount = Int(clamping: progress.files_done)
      totalFileCount = Int(clamping: progress.files_total)
      byteCount = Int(clamping: progress.bytes_done)
      totalByteCount = Int(clamping: progress.bytes_total)
      storedByteCount = Int(clamping: progress.bytes_stored)
    }
  }
}

extension Store.InstallProgress.Phase {
  fileprivate init(_ phase: pks_phase) {
    switch phase {
    case PKS_PHASE_SCAN: self = .scan
    case PKS_PHASE_COMMIT: self = .commit
    default: self = .store
    }
  }
}

extension Store.InstallProgress: Store.Progress {}
