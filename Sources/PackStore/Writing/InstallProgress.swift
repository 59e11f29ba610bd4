import CPackStore

extension Store {
  /// How far an installation has come. Each phase begins with a report, ``Phase/store`` ends with one of everything
  /// done, and between them there is one at least every 16 MiB or 1,000 files. No number ever falls, unless the
  /// installation begins again because another writer changed the same pack meanwhile.
  public struct InstallProgress: Hashable, Sendable {
    public let phase: Phase

    public let fileCount: Int

    /// 0 while scanning.
    public let totalFileCount: Int

    /// Bytes of the folder that were taken in.
    public let byteCount: Int

    /// 0 while scanning.
    public let totalByteCount: Int

    /// Bytes written to the store: what is new, compressed.
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
      /// Writing layout and index, making everything durable, and the switch: the last report.
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
