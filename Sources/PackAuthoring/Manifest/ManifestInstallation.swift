public import PackStore

extension Manifest {
  /// The options for installing the pack, with the manifest's attributes and compression.
  public var installOptions: Store.InstallOptions {
    var options = Store.InstallOptions(attributes: attributes, note: note, level: level)
    if let layout { options.layout = layout }
    return options
  }
}

extension Store.InstallOptions {
  /// Sets the note for a version that others receive. A note that is not published is omitted.
  mutating func setNote(_ note: VersionNote?, isPublished: Bool) {
    self.note = isPublished ? note : nil
    publishesNote = isPublished
  }
}

extension ManifestEvaluation {
  /// Returns the manifest and the selection to install.
  ///
  /// - Throws: `refused` if the manifest has errors.
  func requireSelection() throws -> (Manifest, Store.Selection) {
    guard let manifest, !hasErrors else {
      var error = PackStoreError(
        .refused, problems.first { $0.severity == .error }?.description ?? "the manifest has errors",
        file: sourceRoot.string)
      error.specificRemedy = "correct the manifest"
      throw error
    }
    let folder = sourceRoot.isEmpty ? "." : sourceRoot
    return (manifest, Store.Selection(from: folder, entries.map { .init(path: $0.path, source: $0.source) }))
  }
}

extension Transaction {
  /// Stages the files that a manifest selects as the next version of its pack.
  ///
  /// - Parameters:
  ///   - evaluation: the evaluated manifest.
  ///   - options: by default ``Manifest/installOptions``.
  ///   - progress: called on this thread, at least every 16 MiB or 1,000 files.
  /// - Throws: `refused` if the manifest has errors; `sourceChanged` or `refused` if the disk has changed since the evaluation; the
  ///   errors of installing a selection.
  @discardableResult
  public mutating func install(
    _ evaluation: ManifestEvaluation, options: Store.InstallOptions? = nil,
    progress: ((Store.InstallProgress) -> Void)? = nil
  ) throws -> Store.InstallResult {
    let (manifest, selection) = try evaluation.requireSelection()
    return try install(
      selection, as: manifest.assetPackID, options: options ?? manifest.installOptions, progress: progress)
  }
}

extension Store {
  /// Installs the files that a manifest selects as the next version of its pack, in one commit: `Transaction.install`.
  @discardableResult
  public func install(
    _ evaluation: ManifestEvaluation, options: InstallOptions? = nil, durability: Durability = .durable,
    progress: (@Sendable (InstallProgress) -> Void)? = nil
  ) async throws -> InstallResult {
    try await change(options: .init(durability: durability)) {
      try $0.install(evaluation, options: options, progress: progress)
    }
  }
}
