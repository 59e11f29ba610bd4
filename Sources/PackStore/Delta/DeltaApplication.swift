import CPackStore

extension Transaction {
  /// Stages the version that a delta leads to as the pack's current version, with its number and its date.
  ///
  /// Of the version that is there nothing is stored again. What comes out is what the delta's header names, or nothing
  /// is staged. When it fails, the transaction is as it was before the call; nothing is kept of a try that was
  /// interrupted.
  ///
  /// - Parameters:
  ///   - delta: a delta that begins with a version that is kept here.
  ///   - trust: whose delta is taken.
  ///   - options: priority, origin, and how new chunks are compressed.
  ///   - progress: called on this thread, at least every 16 MiB or 1,000 files.
  /// - Throws: `untrusted`; `otherOrigin`; `downgrade`; `notFound` when the version that it begins with is not kept
  ///   here; `exists` when another content has its number; `held`; `CancellationError` when the surrounding task is;
  ///   `corrupt`, `purged`, `noSpace`, `ioError`, `outOfMemory`, `invalidArgument`.
  @discardableResult
  public mutating func apply(
    _ delta: DeltaFile, trusting trust: DeltaFile.Trust, options: Store.ApplyOptions = .init(),
    progress: ((Store.InstallProgress) -> Void)? = nil
  ) throws -> Store.InstallResult {
    try delta.check(trust)
    try Task.checkCancellation()
    var observer = InstallObserver(progress: progress)
    var result = pks_add_result()
    do {
      try check { error in
        withRequest(delta, options, &observer) { pks_txn_apply_delta(&result, pointer, $0, error) }
      }
      let version = PackVersion(result.version, of: delta.info.pack)
      try followPlacement(of: version.pack, attributes(of: version))
    } catch {
      throw explain(delta.explain(error), of: delta.info.pack)
    }
    hold.noteWhole(delta.info.pack)
    let applied = Store.InstallResult(result, of: delta.info.pack, notices: [])
    note(applied.version, from: .init(location: delta.path.string, key: delta.signer))
    return applied
  }
}

/// Lends the core's form of what to apply. Stops when the surrounding task is cancelled.
private func withRequest<Result>(
  _ delta: DeltaFile, _ options: Store.ApplyOptions, _ observer: inout InstallObserver,
  _ body: (UnsafePointer<pks_apply_request>) -> Result
) -> Result {
  var request = pks_apply_request()
  request.provenance = delta.provenance(options).core
  request.set_priority = options.priority != nil
  request.priority = options.priority ?? 0
  request.level = options.level ?? 0
  request.layout = options.layout.core
  request.progress = observeProgress
  let digest = delta.info.headerDigest.bytes
  return withContext(&observer) { context in
    request.context = context
    return digest.withUnsafeBufferPointer { digest in
      // What was signed is what is applied, though another process may write to the file meanwhile.
      request.header_digest = digest.baseAddress
      return delta.withSource { source in
        request.delta = source
        return body(&request)
      }
    }
  }
}
