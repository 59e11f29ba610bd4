package import PackFormats
import PackStore

/// The files that every change of a site replaces, by their digests: two equal states have the same versions and roots.
package struct SiteState: Hashable, Sendable {
  private let digests: [String: Digest256]

  private static let controlByteCountLimit = 1 << 20

  /// - Throws: `notFound`, `corrupt`, `ioError`.
  package init(ofSiteAt path: FilePath) throws {
    let folder = SiteFolder(path: path)
    var digests = ["CONTROL": try InputFile("CONTROL", in: path).contents(limit: Self.controlByteCountLimit)]
    for channel in try folder.channels() {
      digests["\(SitePath.root(channel))"] = try folder.read(.root(channel), limit: SiteRoot.byteCountLimit)
    }
    self.digests = digests.mapValues { Digest256(hashing: $0) }
  }
}

extension Site {
  /// Signs the roots of all channels again, with the statement that the site moved. After that, the site can only be refreshed. The
  /// files stay, for clients that cannot reach the new place.
  ///
  /// - Parameters:
  ///   - move: the statement, signed by the site's root key.
  ///   - key: the key that signed all channels.
  ///   - state: the state that the new place has; `nil`: any.
  ///   - now: the time of the roots, in nanoseconds since 1970. The roots of the new place must not be earlier.
  /// - Throws: `conflict` if the site is not in the expected state; `untrusted` if the key may not sign one of the channels, or
  ///   another root key signed the statement; `refused` if the site moved elsewhere; `busy`; `noSpace`, `ioError`, `corrupt`.
  package func leave(
    for move: SiteMove, signedBy key: SiteKey, ifIn state: SiteState?, options: PublishOptions = .init(), now: Int64
  ) async throws {
    try await BlockingExecutor.run {
      let lock = try self.folder.lock(waits: options.waitsForOthers)
      defer { withExtendedLifetime(lock) {} }
      guard try self.target(of: self.folder.channels()) != move.url else { return }
      if let state, try SiteState(ofSiteAt: self.path) != state {
        throw PackStoreError(.conflict, "changed since it was copied", about: .site(self.path.string))
      }
      var change = try SiteChange(
        of: self.store, named: self.store.id, channel: nil, in: self.folder, signedBy: key, options: options, now: now,
        acceptsMove: true, progress: nil)
      try change.requireEveryChannel()
      // A move to the same URL may have been interrupted between two roots.
      try self.folder.requirePresent(
        change.roots.values.filter { try self.folder.readRoot(of: $0.channel)?.move?.url != move.url })
      guard move.rootKey == key.rootKey else {
        var error = PackStoreError(
          .untrusted, "the statement of the move is signed by another root key", about: .site(self.path.string))
        error.specificRemedy = "use the root key \(key.rootKey)"
        throw error
      }
      try change.renew(.stating(move))
    }
  }

  /// The URL to which all channels of the site moved; `nil` if one of them did not.
  ///
  /// - Throws: `corrupt`, `ioError`.
  package var movedTo: String? { get throws { try target(of: folder.channels()) } }

  private func target(of channels: [SiteChannel]) throws -> String? {
    let targets = Set(try channels.map { try folder.readRoot(of: $0)?.move?.url })
    return targets.count == 1 ? targets.first ?? nil : nil
  }
}

extension SiteChange {
  /// - Throws: `untrusted` if the key may not sign one of the channels: its clients would not learn of the move.
  func requireEveryChannel() throws {
    guard let other = channelStates.first(where: { !$0.isOwn }) else { return }
    var error = PackStoreError(.untrusted, "the key may not sign it", about: .channel(other.channel))
    error.specificRemedy = "use a key that may sign all channels of the site, because all of them move"
    throw error
  }
}

extension Site {
  /// Opens the new folder of a site that is being moved and does not accept publications yet.
  package convenience init(arrivingAt path: FilePath) throws {
    var folder = SiteFolder(path: path)
    folder.isArriving = true
    try self.init(folder)
  }

  /// Signs the roots of all channels again at the new place, without the statement of a move: they are not older than the roots that
  /// state it.
  ///
  /// - Throws: `untrusted` if the key may not sign one of the channels; `busy`; `noSpace`, `ioError`, `corrupt`.
  package func arrive(signedBy key: SiteKey, options: PublishOptions = .init()) async throws {
    try await BlockingExecutor.run {
      let lock = try self.folder.lock(waits: options.waitsForOthers)
      defer { withExtendedLifetime(lock) {} }
      var change = try SiteChange(
        of: self.store, named: self.store.id, channel: nil, in: self.folder, signedBy: key, options: options,
        now: nanosecondsSince1970(), acceptsMove: true, progress: nil)
      try change.requireEveryChannel()
      try change.renew(.removingMove)
    }
  }
}
