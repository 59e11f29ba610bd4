public import PackFormats
public import PackStore

extension Site {
  /// Replaces all offers of a channel by one change of its root: each listed version is offered to all devices, and all other packs
  /// are withdrawn. Versions stay on the site. Nothing is written if the channel offers exactly this.
  ///
  /// - Parameters:
  ///   - offers: versions that the site keeps, by pack.
  ///   - channel: created if it is missing.
  ///   - key: a key that may sign the channel.
  ///   - options: expiry, grace period, `takesBack`, and whether to wait.
  /// - Throws: `notFound` if the site does not keep a version; `invalidArgument` for a lower version without `takesBack`; `untrusted`
  ///   if the key may not sign the channel; `busy`; `noSpace`, `ioError`, `outOfMemory`, `corrupt`. The channel is then unchanged.
  @discardableResult
  public func replaceOffers(
    of channel: SiteChannel, by offers: [PackID: UInt64], signedBy key: SiteKey, options: PublishOptions = .init(),
    isDryRun: Bool = false
  ) async throws -> ChannelResult {
    try await BlockingExecutor.run {
      try ChannelEdit(of: channel, of: self, signedBy: key, options: options, isDryRun: isDryRun).replaceOffers(by: offers)
    }
  }
}

// MARK: - Roots that a caller records

extension Site {
  /// Opens a site for a caller that records each root before it is written, so that it can write the same bytes after a crash.
  ///
  /// - Parameter announcing: called with each signed root before its first byte is written, on a thread that may block. All files
  ///   that the root names are durable. If it throws, the root is not written.
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
    where error.code == .notFound { return nil }
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
