public import PackStore

extension Store {
  /// The progress of a pull. For each pack, the numbers of bytes and chunks never decrease, unless the pull starts again because
  /// the site or the pack changed.
  public struct PullProgress: Store.Progress, Hashable {
    public var phase: Phase

    /// The pack being fetched or created.
    public var pack: PackID?

    /// Bytes of the pack's new frames (compressed) or of the delta that are present, including those of an interrupted pull. While
    /// a delta is applied: bytes of assets.
    public var byteCount = 0

    /// 0 while unknown.
    public var totalByteCount = 0

    /// New chunks that are present.
    public var chunkCount = 0

    /// 0 while unknown.
    public var totalChunkCount = 0

    /// The rate over the last few seconds; `nil` while unknown.
    public var bytesPerSecond: Double?

    /// The key that this pull has pinned to the site at first contact. It stays pinned even if the pull fails. The caller does not
    /// vouch for it; see ``Store/PullResult/isFirstContact``.
    public var pinnedKey: SitePublicKey?

    /// The fraction of ``byteCount``, for the pack and the phase.
    public var fraction: Double { PackStore.fraction(byteCount, of: totalByteCount) }

    /// The remaining time at this rate; `nil` while unknown.
    public var timeLeft: Duration? {
      guard let bytesPerSecond, bytesPerSecond >= 1, totalByteCount >= byteCount else { return nil }
      return .seconds(Double(totalByteCount - byteCount) / bytesPerSecond)
    }

    public enum Phase: Int, Comparable, Sendable {
      /// Reading the site's root.
      case connect
      /// Another process is pulling the same version.
      case wait
      /// Determining the new data.
      case plan
      /// Fetching the new data.
      case fetch
      /// Applying a fetched delta.
      case apply
      /// Syncing and committing.
      case commit

      public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    public init(phase: Phase) { self.phase = phase }
  }
}

/// Measures bytes per second over about three seconds.
struct RateMeter {
  private var start: (time: Duration, bytes: Int)?
  private(set) var bytesPerSecond: Double?

  mutating func record(_ bytes: Int, at time: Duration) {
    guard let start else {
      self.start = (time, bytes)
      return
    }
    let seconds = (time - start.time) / .seconds(1)
    guard seconds >= 0.25, bytes >= start.bytes else { return }
    let current = Double(bytes - start.bytes) / seconds
    bytesPerSecond = bytesPerSecond.map { $0 + (current - $0) * min(seconds / 3, 1) } ?? current
    self.start = (time, bytes)
  }
}
