private import CPackStore

extension Store {
  /// Levels of compression, which are zstd's: 1 to 22, where higher is smaller and slower to install; and -1 to -7, whose content
  /// takes more space the lower they are, and less time to read, as bytes that repeat nothing are not coded. Levels above 0 differ
  /// little in reading. They decide what a chunk takes when it is stored first; identity and content do not depend on them.
  public enum CompressionLevel {
    /// The fastest to read, -7.
    public static let lowest = Int32(PKS_LEVEL_MIN)
    /// The smallest, 22.
    public static let highest = Int32(PKS_LEVEL_MAX)

    /// Whether there is such a level. 0 is none: elsewhere it stands for a program's own choice.
    public static func exists(_ level: Int32) -> Bool { level != 0 && lowest...highest ~= level }

    /// Which there are, for messages.
    package static let range = "from 1 to \(highest), or from -1 to \(lowest)"
  }
}
