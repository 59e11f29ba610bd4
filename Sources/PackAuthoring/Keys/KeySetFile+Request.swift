public import PackFormats
public import PackStore

extension KeySetFile {
  /// A release key that a request delegates to.
  public struct ReleaseKey: Sendable {
    let key: SitePublicKey

    /// The delegation that the new one replaces.
    let before: KeyDelegation?

    /// A key on another machine.
    public init(_ key: SitePublicKey) {
      self.key = key
      before = nil
    }

    /// The key in a file, which keeps its product and channels unless the options name others.
    public init(_ key: SiteKey) {
      self.key = key.publicKey
      before = key.delegation
    }
  }

  /// Returns a request for the holders: a rotation, new delegations, or both. Its serials are recorded in this value; write it before
  /// the request is sent.
  ///
  /// - Parameters:
  ///   - next: the threshold and the keys of the set that replaces the present one; `nil` to keep it. Each release key then needs a new
  ///     delegation.
  ///   - releaseKeys: the release keys that get a new delegation.
  ///   - options: product, channels and validity of each delegation. If it revokes, all delegations of one product in the request revoke
  ///     every earlier one: name the release keys of all channels.
  /// - Throws: `invalidArgument` if nothing is requested, or the keys or release keys are invalid.
  public mutating func request(
    next: (threshold: Int, keys: [SitePublicKey])? = nil, for releaseKeys: [ReleaseKey] = [],
    options: SiteKey.DelegationOptions = .init()
  ) throws -> KeySetRequest {
    try request(next: next, for: releaseKeys, options, now: nanosecondsSince1970())
  }

  /// - Parameter now: the current time, in nanoseconds since 1970.
  mutating func request(
    next: (threshold: Int, keys: [SitePublicKey])?, for releaseKeys: [ReleaseKey], _ options: SiteKey.DelegationOptions,
    now: Int64
  ) throws -> KeySetRequest {
    let set = try next.map { try KeySet(number: number &+ 1, threshold: $0.threshold, keys: $0.keys) }
    guard Set(releaseKeys.map(\.key)).count == releaseKeys.count else {
      throw PackStoreError(.invalidArgument, "a release key is named twice")
    }
    var last = max(highestSerial, releaseKeys.compactMap { $0.before?.serial }.max() ?? 0)
    var revoked: [Store.Product: UInt64] = [:]
    let delegations = try releaseKeys.map { release in
      last = SiteRoot.nextSequence(after: last > 0 ? last : nil, at: now)
      let product = options.product ?? release.before?.product ?? .standard
      // The file may be older than the last delegation.
      let before = release.before.map { $0.product == product ? $0.revokedBelow : 0 } ?? 0
      if options.revokesEarlier, revoked[product] == nil { revoked[product] = last }
      return try DelegationTerms(
        serial: last, revokedBelow: revoked[product] ?? max(before, revocations.serial(for: product)), madeAt: now,
        endsAt: options.validity.map { now.addingClamped($0.nanoseconds) }, rootKey: (set ?? sets.last).id,
        releaseKey: release.key, product: product, channels: options.channels ?? release.before?.channels ?? [])
    }
    let request = try KeySetRequest(sets: sets, next: set, delegations: delegations, provesHolders: !isProved)
    note(last)
    return request
  }
}
