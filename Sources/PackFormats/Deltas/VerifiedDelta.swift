import PackStore

/// A delta in a file, with a verified signature or without one.
public struct VerifiedDelta: Sendable {
  package let file: DeltaFile
  private let signature: DeltaSignature?

  public var info: DeltaFile.Info { file.info }

  /// The root key that signed the delta or delegated signing it; `nil` if the delta is unsigned.
  public var signer: SitePublicKey? { authority?.rootKey }

  /// The keys that authorize the signature; `nil` if the delta is unsigned.
  package var authority: SigningAuthority? { signature?.authority }

  /// The publisher of the delta's new version.
  public var origin: Store.Origin { authority?.origin ?? .unsigned(.standard) }

  /// Opens a delta and checks its header and its signature.
  ///
  /// - Throws: `untrusted` if the bytes after the delta are not a valid signature of it; the errors of `DeltaFile.init`.
  public init(_ path: FilePath) throws {
    file = try DeltaFile(path)
    guard file.isFollowedBySignature else {
      signature = nil
      return
    }
    let trailer = try file.trailer(upTo: DeltaSignature.byteCountLimit + 1)
    guard let signature = DeltaSignature(trailer, of: file.info.headerDigest) else {
      throw Self.untrusted("invalid signature", file, "download it again from its publisher")
    }
    self.signature = signature
  }

  /// The publisher whose deltas are accepted.
  ///
  /// In every case the new version has exactly the content that the delta's header specifies; otherwise nothing is staged. A
  /// signature identifies the publisher of that content.
  public enum Trust: Hashable, Sendable {
    /// The publisher of the pack, as recorded in the store. If the pack is new to the store, any signed delta is accepted.
    case packOrigin

    /// The owner of this root key.
    case key(SitePublicKey)

    /// Any publisher, and unsigned deltas: the caller is responsible for trusting the file.
    case anyone
  }

  /// - Throws: `untrusted` if the delta is not from a trusted publisher, or if the signing key has expired.
  fileprivate func check(_ trust: Trust) throws {
    if let end = authority?.delegation.endsAt, Double(end) <= Date().timeIntervalSince1970 * 1e9 {
      throw Self.untrusted("signed by an expired key", file, "download it again from its publisher")
    }
    switch trust {
    case .anyone: return
    case .packOrigin where signer != nil: return
    case .key(let key) where authority?.rootKeys.contains(key) ?? false: return
    default: break
    }
    guard let signer else {
      throw Self.untrusted("not signed", file, "get a signed delta from its publisher")
    }
    throw Self.untrusted(
      "the delta is signed by another key, \(signer)", file, "ask the publisher whether the key belongs to them")
  }

  private static func untrusted(_ reason: String, _ file: DeltaFile, _ remedy: String) -> PackStoreError {
    var error = PackStoreError(.untrusted, reason, file: file.path.string)
    error.specificRemedy = remedy
    return error
  }

  fileprivate func provenance(_ options: Store.ApplyOptions) -> Provenance {
    // A delta never voids floors; only the root of a followed channel does.
    Provenance(
      origin, .delta, serial: authority?.delegation.serial ?? 0, sequence: signature?.sequence ?? 0,
      adopts: options.adopts, allowsDowngrade: options.allowsDowngrade)
  }
}

// MARK: - Applying

extension Transaction {
  /// Stages the new version of a delta like `Transaction.apply(_:options:progress:)`, with the delta's publisher as its origin.
  ///
  /// - Parameters:
  ///   - delta: a delta whose old version is kept in the store.
  ///   - trust: the publisher whose delta is accepted.
  ///   - options: the priority, the handling of another origin, and the compression of new chunks.
  ///   - progress: called on this thread, at least every 16 MiB or 1,000 files.
  /// - Throws: `untrusted`, and the errors of `Transaction.apply(_:options:progress:)`.
  @discardableResult
  public mutating func apply(
    _ delta: VerifiedDelta, trusting trust: VerifiedDelta.Trust, options: Store.ApplyOptions = .init(),
    progress: ((Store.InstallProgress) -> Void)? = nil
  ) throws -> Store.InstallResult {
    try delta.check(trust)
    return try apply(
      delta.file, by: delta.provenance(options), signer: delta.signer, options: options, progress: progress)
  }
}

extension Store {
  /// Applies a delta: its new version becomes the pack's current version.
  ///
  /// - Parameters:
  ///   - file: the file that contains the delta.
  ///   - trust: the publisher whose delta is accepted.
  ///   - options: the priority, the handling of another origin, and the compression of new chunks.
  ///   - durability: whether the commit survives a loss of power.
  ///   - progress: called on a thread of the store, at least every 16 MiB or 1,000 files.
  /// - Throws: the errors of ``VerifiedDelta/init(_:)`` and of `Transaction.apply(_:trusting:options:progress:)`.
  @discardableResult
  public func apply(
    delta file: FilePath, trusting trust: VerifiedDelta.Trust, options: ApplyOptions = .init(),
    durability: Durability = .durable, progress: (@Sendable (InstallProgress) -> Void)? = nil
  ) async throws -> InstallResult {
    try await change(options: .init(durability: durability)) {
      try $0.apply(VerifiedDelta(file), trusting: trust, options: options, progress: progress)
    }
  }
}
