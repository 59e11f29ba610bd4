public import PackStore

extension Store.PullOptions {
  /// Limits for servers and networks, after which a pull fails. They do not apply to folders and archives.
  ///
  /// Time counts while the pull waits for the network, not while it is paused or limited by its own rate.
  public struct NetworkLimits: Hashable, Sendable {
    /// A request whose answer has not begun within this time is tried again.
    public var answerLimit: Duration = .seconds(30)

    /// The minimum rate in bytes per second, over any ``slowLimit``. After the first slow period, the current request is repeated
    /// on a new connection; after the second in a row, the pull fails. 0: no minimum.
    public var minimumByteRate = 1024

    /// The period over which ``minimumByteRate`` is measured.
    public var slowLimit: Duration = .seconds(60)

    /// The time limit for the site's root, including all attempts and delays.
    public var rootLimit: Duration = .seconds(120)

    /// The maximum size of a version's metadata, in addition to ``metadataShare`` of its size: frame tables and pages of catalog
    /// and layout, before any asset data. The site's root, attribute sheets and manifests together may have the same size, in one
    /// pull.
    public var metadataByteLimit = 64 << 20

    /// The share of a version's size, as stated in its manifest, that its metadata may have in addition to ``metadataByteLimit``,
    /// up to 1 GiB.
    public var metadataShare = 0.05

    /// The maximum number of redirects for one request.
    public var redirectLimit = 5

    /// Whether public servers may redirect to addresses of private networks and of this machine, and a public server's name may
    /// change to such an address. A site that the user gave may always be private, and redirect to private addresses.
    public var allowsPrivateRedirects = false

    public init(
      answerLimit: Duration = .seconds(30), minimumByteRate: Int = 1024, slowLimit: Duration = .seconds(60),
      rootLimit: Duration = .seconds(120), metadataByteLimit: Int = 64 << 20, metadataShare: Double = 0.05,
      redirectLimit: Int = 5, allowsPrivateRedirects: Bool = false
    ) {
      self.answerLimit = answerLimit
      self.minimumByteRate = minimumByteRate
      self.slowLimit = slowLimit
      self.rootLimit = rootLimit
      self.metadataByteLimit = metadataByteLimit
      self.metadataShare = metadataShare
      self.redirectLimit = redirectLimit
      self.allowsPrivateRedirects = allowsPrivateRedirects
    }
  }
}

extension Store.PullOptions.NetworkLimits {
  /// The maximum of that share in bytes, for versions of any stated size.
  package static let metadataShareLimit = 1 << 30

  /// Returns the maximum size of the metadata of a version with this stated size.
  package func metadataByteLimit(versionByteCount: UInt64) -> Int {
    let share = metadataShare > 0 ? Double(versionByteCount) * min(metadataShare, 1) : 0  // and 0 for NaN
    return max(metadataByteLimit, 0).addingClamped(Int(min(share, Double(Self.metadataShareLimit))))
  }
}
