public import PackFormats
public import PackStore

extension SiteKey {
  /// The terms of a delegation from a root key to a release key.
  public struct DelegationOptions: Hashable, Sendable {
    /// The product that the release key signs for; `nil` for its current product, or `Store.Product.standard`.
    public var product: Store.Product?

    /// The channels that the release key may sign; empty for all. `nil` for its current channels, or all.
    public var channels: [SiteChannel]?

    /// The time for which the release key may sign, from now on; `nil` for no limit.
    public var validity: Duration?

    /// Whether the root key revokes all its earlier delegations of the product, because a release key was stolen. Versions that
    /// clients accepted under them, and the numbers that the thief used, then no longer set a lower bound. Other products are
    /// unaffected.
    public var revokesEarlier: Bool

    /// The public half of a new release key whose secret half is elsewhere, such as in a key service; `nil` to create one.
    public var releaseKey: SitePublicKey?

    public init(
      product: Store.Product? = nil, channels: [SiteChannel]? = nil, validity: Duration? = standardValidity,
      revokesEarlier: Bool = false, releaseKey: SitePublicKey? = nil
    ) {
      self.product = product
      self.channels = channels
      self.validity = validity
      self.revokesEarlier = revokesEarlier
      self.releaseKey = releaseKey
    }

    /// 400 days: a year, with a margin.
    public static let standardValidity: Duration = .seconds(400 * 86_400)
  }

  /// A release key with its delegation.
  public struct DelegationResult: Hashable, Codable, Sendable {
    /// The root key that clients must trust.
    public let rootKey: SitePublicKey
    public let releaseKey: SitePublicKey

    /// Whether this call created the release key.
    public let isNew: Bool

    /// The serial number, which increases with each delegation. Clients refuse signatures under a lower serial than they have seen.
    public let serial: UInt64
    public let product: Store.Product

    /// The channels that the release key may sign; empty for all.
    public let channels: [SiteChannel]

    /// The end of the delegation; `nil` if it does not end.
    public let endsAt: Date?

    /// Whether the serial was recorded in the root key's file, so that the next serial is higher even if the clock is set back.
    /// False if that file is not writable, and after a dry run.
    public let isNoted: Bool
  }

  /// Delegates signing from the root key in one file to the release key in another file. The root key need not be available when
  /// the release key signs. The new delegation replaces an existing one. If the release key changes, clients refuse the previous
  /// key after the first root that the new key signed.
  ///
  /// Records the serial in the root key's file, unless that file is on read-only media.
  ///
  /// - Parameters:
  ///   - file: the release key's file, which is created if missing.
  ///   - root: the root key's file.
  ///   - options: product, channels, and validity.
  ///   - signer: returns the signer of a root key whose secret half is not in its file; `nil` for a key in the file.
  ///   - isDryRun: whether to report the result without writing. The public key of a new release key is then a placeholder.
  /// - Throws: `notFound` if the root key does not exist; `invalidArgument` if it is a release key, or the other file contains a
  ///   root key; the errors of reading and writing key files.
  public static func delegate(
    to file: FilePath, by root: FilePath, options: DelegationOptions = .init(), isDryRun: Bool = false,
    signer: (SitePublicKey) throws -> (any RootSigner)? = { _ in nil }
  ) throws -> DelegationResult {
    try delegate(to: file, by: root, options, isDryRun: isDryRun, signer: signer, now: nanosecondsSince1970())
  }

  /// Delegates at a given time, in nanoseconds since 1970.
  ///
  /// - Parameter isNew: whether the release key's file must not exist; `nil` if it may.
  /// - Throws: `exists`.
  static func delegate(
    to file: FilePath, by rootFile: FilePath, _ options: DelegationOptions, isDryRun: Bool = false,
    isNew: Bool? = nil, signer: (SitePublicKey) throws -> (any RootSigner)? = { _ in nil }, now clock: Int64
  ) throws -> DelegationResult {
    var root = try SiteKey(contentsOf: rootFile)
    if !isDryRun, let signer = try signer(root.publicKey) { root = try root.signed(by: signer) }
    let now = root.signingTime ?? clock
    let isNew = isNew ?? !pathExists(file)
    let earlier = isNew ? nil : try previousRelease(contentsOf: file)
    let key = isNew ? newRelease(options) : try earlier?.key ?? SiteKey(contentsOf: file)
    let before = key.delegation
    let isBegun = root.signingTime != nil && key.publicKey != root.publicKey
    guard isNew || before != nil || earlier != nil || isBegun else {
      var error = PackStoreError(.invalidArgument, "contains a root key", file: file.string)
      error.specificRemedy = "name a new file for the release key"
      throw error
    }
    let last = [before?.serial, earlier?.serial, root.highestSerial].compactMap { $0 }.max()
    let serial = SiteRoot.nextSequence(after: last, at: now)
    guard serial <= PackVersion.lastNumber else {
      throw PackStoreError(.invalidArgument, "the root key has used up its serial numbers", file: rootFile.string)
    }
    let product = options.product ?? before?.product ?? earlier?.product ?? .standard
    // The root key's file may be read-only: then the last delegation is the only record.
    let delegated = before.map { $0.product == product ? $0.revokedBelow : 0 } ?? 0
    let revoked = max(delegated, root.revocations.serial(for: product))
    guard root.delegation == nil else {
      throw PackStoreError(.invalidArgument, "a release key cannot delegate; use the root key \(root.rootKey)")
    }
    let terms = try DelegationTerms(
      serial: serial, revokedBelow: options.revokesEarlier ? serial : revoked, madeAt: now,
      endsAt: options.validity.map { now.addingClamped($0.nanoseconds) }, rootKey: root.publicKey,
      releaseKey: key.publicKey, product: product,
      channels: options.channels ?? before?.channels ?? earlier?.channels ?? [])
    let isNoted = try !isDryRun && write(terms, to: key, in: file, isNew: isNew, by: root, in: rootFile)
    return DelegationResult(
      rootKey: terms.rootKey, releaseKey: terms.releaseKey, isNew: isNew, serial: terms.serial,
      product: terms.product, channels: terms.channels,
      endsAt: terms.endsAt.map(Date.init(nanosecondsSince1970:)), isNoted: isNoted)
  }

  /// Signs a delegation, records its serial, and writes the release key's file.
  ///
  /// - Returns: whether the serial was recorded.
  private static func write(
    _ terms: DelegationTerms, to key: SiteKey, in file: FilePath, isNew: Bool, by root: SiteKey, in rootFile: FilePath
  ) throws -> Bool {
    // A request for a signature ends this run: the next one needs the same new key.
    let isWritten = isNew && root.signingTime != nil
    if isWritten { try key.write(to: file) }
    let next = try key.delegated(
      by: root, serial: terms.serial, revokedBelow: terms.revokedBelow, madeAt: terms.madeAt, endsAt: terms.endsAt,
      product: terms.product, channels: terms.channels)
    let isNoted = try note(
      terms.serial, revokedBelow: terms.revokedBelow, of: terms.product, by: root, in: rootFile)
    // A file created by another process since then is not overwritten.
    try isNew && !isWritten ? next.write(to: file) : next.replace(file)
    return isNoted
  }

  private static func newRelease(_ options: DelegationOptions) -> SiteKey {
    options.releaseKey.map { SiteKey(publicKey: $0) } ?? SiteKey()
  }

  /// Records a delegation's serial before the release key's file is written. An unused recorded serial is harmless.
  ///
  /// - Returns: false if the file is not writable, such as on read-only media.
  @discardableResult
  static func note(
    _ serial: UInt64, revokedBelow: UInt64, of product: Store.Product, by root: SiteKey, in file: FilePath
  ) throws -> Bool {
    do {
      try root.noting(serial, revokedBelow: revokedBelow, of: product).replace(file)
      return true
    } catch let error as PackStoreError {
      guard let cause = error.systemError,
        [.readOnlyFileSystem, .permissionDenied, .notPermitted].contains(cause)
      else { throw error }
      return false
    }
  }

  /// Reads a key file. If it is missing, creates a release key and, unless it exists, its root key in a file in the same folder.
  /// The root key is thus separate from the beginning, and can be moved to a machine that does not publish.
  ///
  /// - Returns: the key, and the created delegation.
  /// - Throws: the errors of reading and writing key files; `invalidArgument` if the root key's file contains a release key.
  public static func readOrMakeRelease(
    _ file: FilePath, options: DelegationOptions = .init()
  ) throws -> (key: SiteKey, made: DelegationResult?) {
    do { return (try SiteKey(contentsOf: file), nil) } catch let error as PackStoreError where error.code == .notFound {
    }
    let root = rootFile(beside: file)
    _ = try readOrMake(root)
    do {
      let made = try delegate(to: file, by: root, options, isNew: true, now: nanosecondsSince1970())
      return (try SiteKey(contentsOf: file), made)
    } catch let error as PackStoreError where error.code == .exists {
      return (try SiteKey(contentsOf: file), nil)  // another process was first
    }
  }

  /// Returns the path of the root key that is created with a release key: `site-root.key` for `site.key`.
  public static func rootFile(beside file: FilePath) -> FilePath {
    let suffix = file.extension.map { ".\($0)" } ?? ""
    return file.removingLastComponent().appending("\(file.stem ?? "")-root\(suffix)")
  }

  /// Creates a root key that succeeds another root key: both sign the succession. Clients that trust the old key accept delegations
  /// by the new key. Release keys need new delegations by the new key.
  ///
  /// The new key may already have succeeded the old key in the previous draft of the format. Both then sign the succession again,
  /// and the new key's file is replaced.
  ///
  /// - Parameters:
  ///   - old: the file of the current root key, which is not changed.
  ///   - file: a new file for the new root key, or its file in the previous draft's format.
  ///   - isDryRun: whether to check that a key could be created, without creating it.
  /// - Returns: the new root key; `nil` after a dry run.
  /// - Throws: `exists` if the file exists; `invalidArgument` if the old key is a release key, or the succession is too long; the
  ///   errors of reading and writing key files.
  @discardableResult
  public static func rotate(_ old: FilePath, to file: FilePath, isDryRun: Bool = false) throws -> SitePublicKey? {
    let root = try SiteKey(contentsOf: old)
    if pathExists(file), let previous = try previousRoot(contentsOf: file),
      previous.rotations.last?.old == root.publicKey
    {
      let noted = previous.highestSerial.map { previous.key.noting($0) } ?? previous.key
      let next = try noted.following(root)
      if !isDryRun { try next.replace(file) }
      return isDryRun ? nil : next.rootKey
    }
    let next = try SiteKey().following(root)
    guard !isDryRun else {
      guard !pathExists(file) else { throw fileExists(file) }
      return nil
    }
    try next.write(to: file)
    return next.rootKey
  }
}
