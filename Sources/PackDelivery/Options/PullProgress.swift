public import PackStore

extension Store {
  /// How far a pull is. Of each pack, the numbers of bytes and chunks never fall, unless it begins again because the
  /// site or the pack changed meanwhile.
  public struct PullProgress: Store.Progress, Hashable {
    public var phase: Phase

    /// The pack that is being fetched, or made.
    public var pack: PackID?

    /// Bytes of the pack's new frames that are there, compressed, or of the delta: also those of an interrupted pull.
    /// While a delta is applied, bytes of assets.
    public var byteCount = 0

    /// 0 as long as it is not known.
    public var totalByteCount = 0

    /// New chunks that are there.
    public var chunkCount = 0

    /// 0 as long as it is not known.
    public var totalChunkCount = 0

    /// Over the last few seconds; nil as long as that cannot be said.
    public var bytesPerSecond: Double?

    /// The key that this pull has pinned to the site, at first contact: it stays so, whatever comes of the pull. The
    /// caller does not vouch for it; see ``Store/PullResult/isFirstContact``.
    public var pinnedKey: SitePublicKey?

    /// Of ``byteCount``, for the pack and the phase.
    public var fraction: Double { PackStore.fraction(byteCount, of: totalByteCount) }

    /// At this rate; nil as long as that cannot be said.
    public var timeLeft: Duration? {
      guard let bytesPerSecond, bytesPerSecond >= 1, totalByteCount >= byteCount else { return nil }
      return .seconds(Double(totalByteCount - byteCount) / bytesPerSecond)
    }

    public enum Phase: Int, Comparable, Sendable {
      /// Reading the site's root.
      case connect
      /// Another process is at the same version.
      case wait
      /// Finding out what is new.
      case plan
      /// Fetching it.
      case fetch
      /// Making a version of a delta that was fetched.
      case apply
      /// Making it durable.
      case commit

      public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    public init(phase: Phase) { self.phase = phase }
  }
}

/// Bytes per second, with a memory of about three seconds.
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
