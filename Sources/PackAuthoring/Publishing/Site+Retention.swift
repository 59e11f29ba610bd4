public import PackFormats
import PackStore

extension Site {
  /// The result of a change of the site's policy.
  public struct PolicyResult: Hashable, Codable, Sendable {
    /// `nil`: the site has no policy, and `RetentionPolicy.standard` applies.
    public let policy: RetentionPolicy?

    /// The number of the root of `live`.
    public let sequence: UInt64

    /// Whether the site already had this policy, and nothing was written.
    public let isUnchanged: Bool
  }

  /// Returns the site's retention policy; `nil` if it has none.
  ///
  /// - Throws: `notFound` if the site has no root of `live`; `corrupt`, `untrusted` if the root is damaged; `ioError`.
  public func retentionPolicy() throws -> RetentionPolicy? {
    try folder.require(.live)
    return try folder.readRoot(of: .live, acceptsDamage: false)?.root.retentionPolicy()
  }

  /// Changes the site's retention policy, in one new root of `live`. Versions that it no longer keeps leave the site with the next
  /// publication of their packs, or with ``collect(signedBy:options:isDryRun:)``.
  ///
  /// - Parameters:
  ///   - key: a key that may sign `live`.
  ///   - options: expiry, and whether to wait; others are ignored.
  ///   - isDryRun: whether to report the result without changing anything.
  ///   - body: returns the new policy for the present one; `nil`: none.
  /// - Throws: `notFound` if the site has no root of `live`, or does not keep a version of a new pin; `untrusted` if the key may not sign
  ///   `live`; the errors of `body`; `busy`; `noSpace`, `ioError`, `outOfMemory`, `corrupt`.
  @discardableResult
  public func changeRetentionPolicy(
    signedBy key: SiteKey, options: PublishOptions = .init(), isDryRun: Bool = false,
    _ body: @escaping @Sendable (RetentionPolicy?) throws -> RetentionPolicy?
  ) async throws -> PolicyResult {
    try await changeRetentionPolicy(
      signedBy: key, options: options, isDryRun: isDryRun, now: nanosecondsSince1970(), body)
  }

  /// Changes the policy at a given time, in nanoseconds since 1970.
  func changeRetentionPolicy(
    signedBy key: SiteKey, options: PublishOptions = .init(), isDryRun: Bool = false, now: Int64,
    _ body: @escaping @Sendable (RetentionPolicy?) throws -> RetentionPolicy?
  ) async throws -> PolicyResult {
    try await BlockingExecutor.run {
      let lock = try isDryRun ? nil : self.folder.lock(waits: options.waitsForOthers)
      defer { withExtendedLifetime(lock) {} }
      try self.folder.require(.live)
      var change = try SiteChange(
        of: self.store, named: self.store.id, channel: .live, in: self.folder, signedBy: key, options: options,
        now: now, progress: nil)
      let before = change.policy, next = try body(before)
      let snapshot = try self.store.makeSnapshot()
      for pin in next?.pins ?? [] where before?.pins.contains(pin) != true {
        _ = try snapshot.require(pin.version, of: pin.pack)
      }
      if !isDryRun, next != before {
        try change.settle()
        change.setPolicy(next)
        try change.finish()
        try change.collect()
      }
      return PolicyResult(policy: next, sequence: change.root?.sequence ?? 0, isUnchanged: next == before)
    }
  }
}
