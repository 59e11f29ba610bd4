import CPackStore

extension Transaction {
  /// Stages the version that an unsigned delta leads to as the pack's current version, with its number and date.
  ///
  /// Assets of the old version are reused. The new version has exactly the content that the delta's header names; otherwise nothing
  /// is staged. After an error the transaction is as it was before the call, and nothing of the attempt is kept. The new version
  /// belongs to an unsigned publisher (`Store.Origin.unsigned`).
  ///
  /// - Parameters:
  ///   - delta: a delta that starts from a version kept here.
  ///   - options: priority, origin, and how new chunks are compressed.
  ///   - progress: called on this thread, at least every 16 MiB or 1,000 files.
  /// - Throws: `untrusted` if a signature follows the delta; `otherOrigin`; `downgrade`; `notFound` if the delta's old version is
  ///   not kept here; `exists` if other content has the new version's number; `held`; `CancellationError` if the surrounding task
  ///   is cancelled; `corrupt`, `purged`, `noSpace`, `ioError`, `outOfMemory`, `invalidArgument`.
  @discardableResult
  public mutating func apply(
    _ delta: DeltaFile, options: Store.ApplyOptions = .init(), progress: ((Store.InstallProgress) -> Void)? = nil
  ) throws -> Store.InstallResult {
    guard !delta.isFollowedBySignature else {
      var error = PackStoreError(
        .untrusted, "the delta has a signature, which was not checked", file: delta.path.string)
      error.specificRemedy = "open it as a VerifiedDelta of PackFormats"
      throw error
    }
    let provenance = Provenance(
      .unsigned(.standard), .delta, serial: 0, sequence: 0, adopts: options.adopts,
      allowsDowngrade: options.allowsDowngrade)
    return try apply(delta, by: provenance, signer: nil, options: options, progress: progress)
  }

  /// Stages the version that a delta leads to, as above.
  ///
  /// - Parameters:
  ///   - provenance: the publisher of the new version, as established by the caller.
  ///   - signer: the root key for the installation log; `nil` for an unsigned delta.
  package mutating func apply(
    _ delta: DeltaFile, by provenance: Provenance, signer: SitePublicKey?, options: Store.ApplyOptions,
    progress: ((Store.InstallProgress) -> Void)?
  ) throws -> Store.InstallResult {
    try Task.checkCancellation()
    var observer = InstallObserver(progress: progress)
    var result = pks_add_result()
    do {
      try check { error in
        withRequest(delta, provenance, options, &observer) { pks_txn_apply_delta(&result, pointer, $0, error) }
      }
      let version = PackVersion(result.version, of: delta.info.pack)
      try followPlacement(of: version.pack, attributes(of: version))
    } catch {
      throw explain(delta.explain(error), of: delta.info.pack)
    }
    hold.noteWhole(delta.info.pack)
    let applied = Store.InstallResult(result, of: delta.info.pack, notices: [])
    note(applied.version, from: .init(location: delta.path.string, key: signer))
    return applied
  }
}

/// Builds the core's request for the length of `body`. The core stops when the surrounding task is cancelled.
private func withRequest<Result>(
  _ delta: DeltaFile, _ provenance: Provenance, _ options: Store.ApplyOptions, _ observer: inout InstallObserver,
  _ body: (UnsafePointer<pks_apply_request>) -> Result
) -> Result {
  var request = pks_apply_request()
  request.provenance = provenance.core
  request.set_priority = options.priority != nil
  request.priority = options.priority ?? 0
  request.level = options.level ?? 0
  request.layout = options.layout.core
  request.progress = observeProgress
  let digest = delta.info.headerDigest.bytes
  return withContext(&observer) { context in
    request.context = context
    return digest.withUnsafeBufferPointer { digest in
      // The core refuses a file whose header another process replaced after it was checked here.
      request.header_digest = digest.baseAddress
      return delta.withSource { source in
        request.delta = source
        return body(&request)
      }
    }
  }
}
