public import PackFormats
public import PackStore

extension Site {
  /// A version that a channel will offer, and the share of devices that get it.
  public struct PlannedOffer: Hashable, Sendable {
    public var version: UInt64
    public var share: DeviceShare

    /// The release that the offer is a member of; `nil` if none. All members of a release have one share.
    public var release: PackRelease?

    public init(_ version: UInt64, share: DeviceShare = .all, release: PackRelease? = nil) {
      self.version = version
      self.share = share
      self.release = release
    }
  }

  /// Replaces all offers of a channel in one change of its root, and withdraws all packs that are not listed. Versions stay on the
  /// site. Nothing is written if the channel already offers exactly these versions.
  ///
  /// - Parameters:
  ///   - offers: versions that the site keeps, by pack, in the order in which devices try them: an offer for all devices comes
  ///     last.
  ///   - channel: the channel, which is created if it is missing.
  ///   - key: a key that may sign the channel.
  ///   - options: expiry, grace period, `takesBack`, and whether to wait.
  ///   - isDryRun: whether to report the result without changing anything.
  /// - Throws: `notFound` if the site does not keep a version; `invalidArgument` for a lower version without `takesBack`, and for a
  ///   pack with an offer after an offer for all devices; `untrusted` if the key may not sign the channel; `busy`; `noSpace`,
  ///   `ioError`, `outOfMemory`, `corrupt`. The channel is then unchanged.
  @discardableResult
  public func replaceOffers(
    of channel: SiteChannel, by offers: [PackID: [PlannedOffer]], signedBy key: SiteKey,
    options: PublishOptions = .init(),
    isDryRun: Bool = false
  ) async throws -> ChannelResult {
    try await BlockingExecutor.run {
      try ChannelEdit(of: channel, of: self, signedBy: key, options: options, isDryRun: isDryRun).replaceOffers(
        by: offers)
    }
  }

  /// Replaces all offers of a channel by versions for all devices.
  @discardableResult
  public func replaceOffers(
    of channel: SiteChannel, by versions: [PackID: UInt64], signedBy key: SiteKey, options: PublishOptions = .init(),
    isDryRun: Bool = false
  ) async throws -> ChannelResult {
    try await replaceOffers(
      of: channel, by: versions.mapValues { [PlannedOffer($0)] }, signedBy: key, options: options, isDryRun: isDryRun)
  }
}

// MARK: - Roots that a caller records

extension Site {
  /// Opens a site for a caller that records each root before it is written, so that it can write the same bytes after a crash.
  ///
  /// - Parameter announcing: called with each signed root before its first byte is written, on a thread that may block. All files
  ///   that the root refers to are durable. If it throws, the root is not written.
  package convenience init(
    at path: FilePath, announcing: @escaping @Sendable (SiteChannel, [UInt8]) throws -> Void
  ) throws {
    var folder = SiteFolder(path: path)
    folder.announcing = announcing
    try self.init(folder)
  }

  /// Returns the bytes of a channel's root; `nil` if the channel has no root.
  ///
  /// - Throws: `ioError`; `corrupt` for a file that is too large.
  package func rootBytes(of channel: SiteChannel) throws -> [UInt8]? {
    do { return try folder.read(.root(channel), limit: SiteRoot.byteCountLimit) } catch let error as PackStoreError
      where error.code == .notFound
    { return nil }
  }

  /// Writes a root again that was announced before a crash.
  ///
  /// - Throws: `corrupt`, `untrusted` if the bytes are not a signed root of the channel; `noSpace`, `ioError`.
  package func writeAnnouncedRoot(_ bytes: [UInt8], of channel: SiteChannel) throws {
    try folder.withLock(waits: true) {
      let signed = try SignedSiteRoot(decoding: bytes, file: SitePath.root(channel).description)
      guard signed.root.channel == channel else {
        throw PackStoreError(.corrupt, "the root belongs to another channel", about: .channel(channel))
      }
      try folder.writeRoot(bytes, of: channel)
    }
  }
}
