private import CPackStore

extension Store {
  /// Compression levels of zstd. From 1 to 22, higher levels give smaller data and are slower to install. From -1 to -7, lower
  /// levels take more space and less time to read, because bytes without repetitions are not encoded. Levels above 0 differ little
  /// in reading speed. A level determines a chunk's stored size when it is first stored; identity and content do not depend on it.
  public enum CompressionLevel {
    /// The fastest to read, -7.
    public static let lowest = Int32(PKS_LEVEL_MIN)
    /// The smallest, 22.
    public static let highest = Int32(PKS_LEVEL_MAX)

    /// Whether the level exists. 0 does not: elsewhere it selects a default.
    public static func exists(_ level: Int32) -> Bool { level != 0 && lowest...highest ~= level }

    /// The valid levels, for messages.
    package static let range = "from 1 to \(highest), or from -1 to \(lowest)"
  }
}
