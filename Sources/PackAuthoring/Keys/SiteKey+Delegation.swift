public import PackFormats
public import PackStore

extension SiteKey {
  /// What a root key says of a release key.
  public struct DelegationOptions: Hashable, Sendable {
    /// For which product the release key signs. Nil: the one that it signs for, or `Store.Product.standard`.
    public var product: Store.Product?

    /// Which channels it may sign; empty: all. Nil: those that it may sign, or all.
    public var channels: [SiteChannel]?

    /// For how long it may sign from now on; nil: without end.
    public var validity: Duration?

    /// Whether the root key revokes all its earlier delegations of the product, because a release key was stolen: then versions that
    /// clients accepted under earlier delegations, and the numbers that the thief used, bind no client. Other products are unaffected.
    public var revokesEarlier: Bool

    public init(
      product: Store.Product? = nil, channels: [SiteChannel]? = nil, validity: Duration? = standardValidity,
      revokesEarlier: Bool = false
    ) {
      self.product = product
      self.channels = channels
      self.validity = validity
      self.revokesEarlier = revokesEarlier
    }

    /// 400 days: a year, and time to remember.
    public static let standardValidity: Duration = .seconds(400 * 86_400)
  }

  /// A release key, as its root key speaks of it.
  public struct DelegationResult: Hashable, Codable, Sendable {
    /// What clients are told to trust.
    public let rootKey: SitePublicKey
    public let releaseKey: SitePublicKey

    /// The release key was made now.
    public let isNew: Bool

    /// Rises with each delegation: clients refuse what is signed under a lower one than they have seen.
    public let serial: UInt64
    public let product: Store.Product

    /// Empty: all.
    public let channels: [SiteChannel]

    /// Nil: never.
    public let endsAt: Date?

    /// The serial was noted in the root key's file, so that the next one is higher even if the clock is set back. False
    /// where that file cannot be written, and after a dry run.
    public let isNoted: Bool
  }

  /// Lets the key in one file sign by the word of the root key in another, which need not be there when it signs. A release
  /// key that may sign already gets a new word, which takes the place of the old one; and where it is another key than before,
  /// clients refuse the one before from the first root on that the new one signed.
  ///
  /// The root key's file gets a note of the serial, unless it lies where nothing can be written.
  ///
  /// - Parameters:
  ///   - file: the release key's file, which is made where there is none.
  ///   - root: the root key's file.
  ///   - options: product, channels, and until when.
  ///   - isDryRun: writes nothing, and says what would be. Of a release key that would be made, the public half is another one.
  /// - Throws: `notFound` when there is no root key; `invalidArgument` when it is a release key, or the other file holds a
  ///   root key; what reading and writing key files throw.
  public static func delegate(
    to file: FilePath, by root: FilePath, options: DelegationOptions = .init(), isDryRun: Bool = false
  ) throws -> DelegationResult {
    try delegate(to: file, by: root, options, isDryRun: isDryRun, now: nanosecondsSince1970())
  }

  /// The same at a time of the caller's choice, in nanoseconds since 1970.
  static func delegate(
    to file: FilePath, by rootFile: FilePath, _ options: DelegationOptions, isDryRun: Bool = false, now: Int64
  ) throws -> DelegationResult {
    let root = try SiteKey(contentsOf: rootFile)
    let isNew = !pathExists(file)
    let earlier = isNew ? nil : try previousRelease(contentsOf: file)
    let key = isNew ? SiteKey() : try earlier?.key ?? SiteKey(contentsOf: file)
    let before = key.delegation
    guard isNew || before != nil || earlier != nil else {
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
    let next = try key.delegated(
      by: root, serial: serial, revokedBelow: options.revokesEarlier ? serial : revoked, madeAt: now,
      endsAt: options.validity.map { now.addingClamped($0.nanoseconds) },
      product: product, channels: options.channels ?? before?.channels ?? earlier?.channels ?? [])
    guard let delegation = next.delegation else { preconditionFailure("the key was delegated to") }
    var isNoted = false
    if !isDryRun {
      isNoted = try note(delegation, of: root, in: rootFile)
      // A file that came meanwhile is another's.
      try isNew ? next.write(to: file) : next.replace(file)
    }
    return DelegationResult(
      rootKey: delegation.rootKey, releaseKey: delegation.releaseKey, isNew: isNew, serial: delegation.serial,
      product: delegation.product, channels: delegation.channels,
      endsAt: delegation.endsAt.map(Date.init(nanosecondsSince1970:)), isNoted: isNoted)
  }

  /// Records a delegation's serials before anything is signed under it. A recorded serial that is not used does no harm.
  ///
  /// - Returns: false where the file cannot be written, such as on read-only media.
  private static func note(_ delegation: KeyDelegation, of root: SiteKey, in file: FilePath) throws -> Bool {
    try note(
      delegation.serial, revokedBelow: delegation.revokedBelow, of: delegation.product, by: root, in: file)
  }

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

  /// Reads a key file. Where there is none, makes a release key, and beside it the root key by whose word it signs, unless that
  /// is there: so the root key is apart from the first day on, and can be moved to where nothing publishes.
  ///
  /// - Returns: the key, and what was made.
  /// - Throws: what reading and writing key files throw; `invalidArgument` when the file beside it holds a release key.
  public static func readOrMakeRelease(
    _ file: FilePath, options: DelegationOptions = .init()
  ) throws -> (key: SiteKey, made: DelegationResult?) {
    do { return (try SiteKey(contentsOf: file), nil) } catch let error as PackStoreError where error.code == .notFound {
    }
    let root = rootFile(beside: file)
    _ = try readOrMake(root)
    do {
      let made = try delegate(to: file, by: root, options, now: nanosecondsSince1970())
      return (try SiteKey(contentsOf: file), made)
    } catch let error as PackStoreError where error.code == .exists {
      return (try SiteKey(contentsOf: file), nil)  // another process was faster
    }
  }

  /// Where the root key of a release key lies that was made with it: `site-root.key` for `site.key`.
  public static func rootFile(beside file: FilePath) -> FilePath {
    let suffix = file.extension.map { ".\($0)" } ?? ""
    return file.removingLastComponent().appending("\(file.stem ?? "")-root\(suffix)")
  }

  /// Makes a root key that follows another: both sign that it does. Clients that know the old one take what the new one
  /// delegates; release keys are delegated to again, by the new one.
  ///
  /// The new root key may have followed the old one in the previous draft of the format: then both sign it again, and its file is
  /// replaced.
  ///
  /// - Parameters:
  ///   - old: the file of the root key until now, which stays as it is.
  ///   - file: a new file for the new root key, or its file of the previous draft.
  ///   - isDryRun: makes no key, and finds out whether one could be made.
  /// - Returns: the new root key; nil after a dry run.
  /// - Throws: `exists` when there is such a file; `invalidArgument` when the old one is a release key, or root keys followed
  ///   each other too often; what reading and writing key files throw.
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
