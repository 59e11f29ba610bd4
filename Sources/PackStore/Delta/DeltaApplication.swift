import CPackStore

extension Transaction {
  /// Stages the new version of an unsigned delta as the pack's current version, with the number and the date in the delta.
  ///
  /// Assets of the old version are reused. The new version has exactly the content that the delta's header specifies; otherwise
  /// nothing is staged. After an error the transaction is unchanged, and no data of the attempt is kept. The new version belongs to
  /// an unsigned publisher (`Store.Origin.unsigned`).
  ///
  /// - Parameters:
  ///   - delta: a delta whose old version is kept in the store.
  ///   - options: the priority, the handling of another origin, and the compression of new chunks.
  ///   - progress: called on this thread, at least every 16 MiB or 1,000 files.
  /// - Throws: `untrusted` if a signature follows the delta; `otherOrigin`; `downgrade`; `notFound` if the delta's old version is
  ///   not kept in the store; `exists` if other content has the new version's number; `held`; `CancellationError` if the
  ///   surrounding task is cancelled; `corrupt`, `purged`, `noSpace`, `ioError`, `outOfMemory`, `invalidArgument`.
  @discardableResult
  public mutating func apply(
    _ delta: DeltaFile, options: Store.ApplyOptions = .init(), progress: ((Store.InstallProgress) -> Void)? = nil
  ) throws -> Store.InstallResult {
    guard !delta.isFollowedBySignature else {
      var error = PackStoreError(.untrusted, "the signature was not verified", about: .delta(delta.path.string))
      error.specificRemedy = "open it as a VerifiedDelta of PackFormats"
      throw error
    }
    let provenance = Provenance(
      .unsigned(.standard), .delta, serial: 0, sequence: 0, adopts: options.adopts,
      allowsDowngrade: options.allowsDowngrade)
    return try apply(delta, by: provenance, signer: nil, options: options, progress: progress)
  }

  /// Stages the new version of a delta like ``apply(_:options:progress:)``.
  ///
  /// - Parameters:
  ///   - provenance: the origin of the new version, which the caller has verified.
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

/// Calls `body` with the core's request, which is valid only during the call. The core stops if the surrounding task is cancelled.
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
  request.max_rows = coreRowLimit(options.rowLimit)
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
