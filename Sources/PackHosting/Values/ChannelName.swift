#if Hosting
  import PackFormats

  /// Names of the channels that only testers know.
  enum ChannelName {
    /// Returns a name that ends in 128 random bits.
    static func generate(_ prefix: String, _ random: any RandomSource) -> String { "\(prefix)-\(random.hex(16))" }
  }
#endif
