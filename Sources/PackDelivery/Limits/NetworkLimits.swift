public import PackStore

extension Store.PullOptions {
  /// What a server, or a network in between, may cost before it is given up. Folders and archives have no such limits.
  ///
  /// Time counts while the pull waits for the network, not while it is paused or keeps to a rate of its own.
  public struct NetworkLimits: Hashable, Sendable {
    /// A request whose answer has not begun within this time is tried again.
    public var answerLimit: Duration = .seconds(30)

    /// How many bytes a second must come at least, over any ``slowLimit``. The first time they do not, what is being
    /// fetched is asked for again by new connections; the second time in a row is the end. 0: any rate will do.
    public var minimumByteRate = 1024

    /// Over how long ``minimumByteRate`` is measured.
    public var slowLimit: Duration = .seconds(60)

    /// In what time the site's root must be complete, with all attempts and the delays between them.
    public var rootLimit: Duration = .seconds(120)

    /// How many bytes of metadata a version may take, beside ``metadataShare`` of its size: frame tables,
    /// and pages of catalog and layout, before any asset's bytes come. The site's root, attribute sheets and manifests may take as
    /// much again, in all of a pull.
    public var metadataByteLimit = 64 << 20

    /// The part of a version's size that its metadata may take beside ``metadataByteLimit``, up to 1 GiB: the size is what
    /// the manifest says, before any of it has come.
    public var metadataShare = 0.05

    /// How many redirections are followed for one request.
    public var redirectLimit = 5

    /// Lets public servers redirect to addresses of private networks and of this machine, and a public server's name
    /// change to such an address. What the user named may always be private, and redirect to private addresses.
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
  /// The most that the share may come to, however large a version says that it is.
  package static let metadataShareLimit = 1 << 30

  /// How many bytes of metadata a version may take that says to be of this size.
  package func metadataByteLimit(versionByteCount: UInt64) -> Int {
    let share = metadataShare > 0 ? Double(versionByteCount) * min(metadataShare, 1) : 0  // and 0 for what is no number
    return max(metadataByteLimit, 0).addingClamped(Int(min(share, Double(Self.metadataShareLimit))))
  }
}
