public import PackStore

extension Site {
  /// Signs the site's root again, with a new date and number, and puts off the time at which it expires. Nothing else
  /// is written.
  ///
  /// - Parameters:
  ///   - key: the one that signed the site before.
  ///   - options: of these, expiry, product, and whether to wait.
  /// - Throws: `untrusted` when the site is signed by another key; `invalidArgument` when it is of another product;
  ///   `busy`; `noSpace`, `ioError`, `corrupt`.
  @discardableResult
  public func refresh(
    signedBy key: SiteKey, options: PublishOptions = .init()
  ) async throws -> PublishResult {
    try await refresh(signedBy: key, options: options, now: nanosecondsSince1970())
  }

  /// The same at a time of the caller's choice, in nanoseconds since 1970.
  @discardableResult
  func refresh(signedBy key: SiteKey, options: PublishOptions, now: Int64) async throws -> PublishResult {
    try await BlockingExecutor.run {
      let lock = try self.folder.lock(waits: options.waitsForOthers)
      defer { withExtendedLifetime(lock) {} }
      var change = try SiteChange(
        of: self.store, named: self.store.id, in: self.folder, signedBy: key, options: options,
        now: now, progress: nil)
      try change.renew()
      return PublishResult(
        change, isUnchanged: false, packs: [], droppedVersions: [], newByteCount: change.newByteCount)
    }
  }
}
