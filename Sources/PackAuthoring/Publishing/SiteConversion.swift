public import PackFormats
import PackStore

/// Converts a site of the previous draft of the format. The store, numbers, labels and channels stay. Roots, manifests, frame
/// tables and sheets are written again. Deltas and change lists of the previous draft are deleted.
struct SiteConversion {
  private let site: Site
  private let key: SiteKey
  private let options: Site.PublishOptions

  init(of site: Site, signedBy key: SiteKey, options: Site.PublishOptions) {
    self.site = site
    self.key = key
    self.options = options
  }

  func run() throws -> Site.RefreshResult {
    var folder = site.folder
    folder.isConverting = true
    let lock = try folder.lock(waits: options.waitsForOthers)
    defer { withExtendedLifetime(lock) {} }
    guard try folder.channels().contains(where: { try folder.maySign($0, key, isMeant: false) }) else {
      var error = PackStoreError(.untrusted, "the key may sign none of the channels", about: .site(site.path.string))
      error.specificRemedy = "use the keys that signed the roots, or keys authorized later"
      throw error
    }
    try folder.convertLists()
    var change = try SiteChange(
      of: site.store, named: site.store.id, channel: nil, in: folder, signedBy: key, options: options,
      now: nanosecondsSince1970(), progress: nil)
    change.raiseNumbers(to: try usedNumbers(folder))
    try change.settle()
    try change.renew()
    try change.finish()
    try change.collect()
    return Site.RefreshResult(
      channels: change.channelStates.filter(\.isOwn).compactMap { state in
        state.root.map { root in
          .init(
            channel: state.channel, sequence: root.sequence,
            expiresAt: root.expiresAt.map(Date.init(nanosecondsSince1970:)))
        }
      }, otherChannels: change.channelStates.filter { !$0.isOwn }.map(\.channel))
  }

  /// Returns the highest number of each pack that devices may have.
  private func usedNumbers(_ folder: SiteFolder) throws -> [PackID: UInt64] {
    let kept = try site.store.makeSnapshot().packs.map { ($0.id, $0.highestVersion) }
    return try folder.readNumbers().highestNumbers.merging(kept) { max($0, $1) }
  }
}

extension SiteFolder {
  /// Writes the title of the current draft into the publisher's lists. The lines are equal in both drafts.
  fileprivate func convertLists() throws {
    let lists = [
      (RetiredFiles.fileName, RetiredFiles.byteCountLimit),
      (PublishedNumbers.fileName, PublishedNumbers.byteCountLimit),
      (OfferHistory.fileName, OfferHistory.byteCountLimit),
    ]
    for (name, limit) in lists {
      let bytes: [UInt8]
      do { bytes = try InputFile(name, in: path).contents(limit: limit) } catch let error as PackStoreError
        where error.code == .notFound
      { continue }
      let title = Self.title(of: name, SiteFormat.previous)
      guard bytes.starts(with: title) else { continue }
      try replaceFile(
        name, in: path, by: Self.title(of: name, SiteFormat.current) + bytes.dropFirst(title.count),
        draft: name + ".new")
    }
  }

  private static func title(of name: String, _ format: UInt32) -> [UInt8] {
    Array("packstore \(name) \(format & 0xffff) \(format >> 16)\n".utf8)
  }
}

extension Site {
  /// Converts a site of the previous draft of the format. Clients with this version can then pull it, and keep their stores, keys
  /// and lower bounds of versions.
  ///
  /// All offers get a new epoch, so that a withdrawal before the conversion reaches devices that have not seen it. A converted
  /// channel is only signed again. Channels that the key may not sign are not changed: their own keys convert them.
  ///
  /// - Parameters:
  ///   - key: a key that may sign channels of the site.
  ///   - options: grace period, and whether to wait; other options are ignored.
  /// - Throws: `untrusted` if another key signed a root; `busy`; `noSpace`, `ioError`, `outOfMemory`, `corrupt`.
  @discardableResult
  public func convert(signedBy key: SiteKey, options: PublishOptions = .init()) async throws -> RefreshResult {
    try await BlockingExecutor.run { try SiteConversion(of: self, signedBy: key, options: options).run() }
  }
}
