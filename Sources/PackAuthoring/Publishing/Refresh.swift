public import PackFormats
public import PackStore

extension Site {
  /// The result of signing a site again.
  public struct RefreshResult: Hashable, Codable, Sendable {
    /// The channels, in order of their names.
    public let channels: [Channel]

    /// The unchanged channels: channels that the key may not sign, or for which a later key replaced it.
    public let otherChannels: [SiteChannel]

    public struct Channel: Hashable, Codable, Sendable {
      public let channel: SiteChannel

      /// The number of the root.
      public let sequence: UInt64

      /// The time after which clients refuse the root; `nil` if it does not expire.
      public let expiresAt: Date?

      private enum CodingKeys: String, CodingKey {
        case channel, sequence
        case expiresAt = "expires"
      }
    }
  }

  /// Signs again the roots of all channels that the key may sign, with new dates and numbers, and postpones their expiry. Writes
  /// nothing else. A site that moved can still be refreshed, so that later clients learn of the move.
  ///
  /// - Parameters:
  ///   - key: the key that signed the site before.
  ///   - options: expiry, product, and whether to wait; other options are ignored.
  ///   - isDryRun: whether to report the result without signing.
  /// - Throws: `untrusted` if the site is signed by another key, or the key may sign none of its channels; `refused` if the site moved
  ///   and another root key stated it; `invalidArgument` if the site belongs to another product; `busy`; `noSpace`, `ioError`, `corrupt`.
  @discardableResult
  public func refresh(
    signedBy key: SiteKey, options: PublishOptions = .init(), isDryRun: Bool = false
  ) async throws -> RefreshResult {
    try await refresh(signedBy: key, options: options, isDryRun: isDryRun, now: nanosecondsSince1970())
  }

  /// Signs a site again at a given time, in nanoseconds since 1970.
  @discardableResult
  func refresh(
    signedBy key: SiteKey, options: PublishOptions, isDryRun: Bool = false, now: Int64
  ) async throws -> RefreshResult {
    try await BlockingExecutor.run {
      let lock = try isDryRun ? nil : self.folder.lock(waits: options.waitsForOthers)
      defer { withExtendedLifetime(lock) {} }
      guard try !self.folder.channels().isEmpty else {
        throw PackStoreError(.notFound, "does not have a root yet", about: .site(self.path.string))
      }
      var change = try SiteChange(
        of: self.store, named: self.store.id, channel: nil, in: self.folder, signedBy: key, options: options, now: now,
        acceptsMove: true, progress: nil)
      try change.requireOwnChannel()
      try self.requireValidMove(after: key)
      let others = change.channelStates.filter { !$0.isOwn }.map(\.channel)
      let renewed = try change.renewedRoots()
      if !isDryRun { try change.renew() }
      return RefreshResult(
        channels: renewed.map {
          .init(
            channel: $0.channel, sequence: $0.sequence, expiresAt: $0.expiresAt.map(Date.init(nanosecondsSince1970:)))
        }, otherChannels: others)
    }
  }

  /// Clients ignore the statement of a move unless the root key of the root signed it.
  ///
  /// - Throws: `refused` if a present statement would become invalid, because the root key was replaced since.
  private func requireValidMove(after key: SiteKey) throws {
    for channel in try folder.channels() {
      guard let move = try folder.readRoot(of: channel)?.move, move.rootKey != key.rootKey else { continue }
      throw PackStoreError(
        .refused,
        "moved to \(move.url) by a statement of the root key \(move.rootKey), which this key does not continue",
        about: .site(path.string), remedy: "refresh with a key that the root key \(move.rootKey) authorized")
    }
  }
}

extension SiteChange {
  /// - Throws: `untrusted` if the key may not sign any channel.
  func requireOwnChannel() throws {
    guard !channelStates.contains(where: \.isOwn) else { return }
    var error = PackStoreError(
      .untrusted, "the key may not sign any channel of the site, or a later key replaced it",
      about: .site(folder.path.string))
    error.specificRemedy = "use the key that signed the site last, or delegate to this one again"
    throw error
  }
}
