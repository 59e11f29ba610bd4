/// Reads files of the installed packs.
struct NamespaceReader: Sendable {
  let store: Store
  let packs: LocalPacks

  /// Calls `body` with the pack to read a path from: the pack with the given id, or the pack that takes precedence. Packs in the
  /// language come first, then packs without a language, then packs in other languages.
  ///
  /// - Parameter language: if `nil`, the language of packs has no effect.
  func read<Result>(
    _ path: FilePath, inPack id: String?, language: LanguageTag?, _ body: (Snapshot, String, PackID?) throws -> Result
  ) throws -> Result {
    let name = try namespacePath(path)
    let scope = try id.map { id -> PackID in
      guard let local = try packs.current().packs[id] else {
        throw ManagedBackgroundAssetsError.assetPackNotFound(withID: id)
      }
      return local.pack.id
    }
    do {
      let snapshot = try store.makeSnapshot()
      return try body(snapshot, name, scope ?? localizedPack(of: name, language, in: snapshot))
    } catch let error as PackStoreError where error.code == .notFound {
      throw ManagedBackgroundAssetsError.fileNotFound(at: path)
    } catch let error as PackStoreError where error.code == .purged {
      packs.forgetPresence()
      throw error
    }
  }

  /// Returns the pack from which to read a path in a language; `nil` if languages do not decide.
  private func localizedPack(of path: String, _ language: LanguageTag?, in snapshot: Snapshot) throws -> PackID? {
    let contents = try packs.current()
    guard contents.hasLanguages, let language else { return nil }
    let candidates = try contents.order.filter { local in
      try local.language != nil && snapshot.pack(local.pack.id) != nil && snapshot.contains(path, pack: local.pack.id)
    }
    guard !candidates.isEmpty else { return nil }
    let match = LanguageMatcher(available: candidates.compactMap(\.language)).match(language)
    if let match { return candidates.first { $0.language == match }?.pack.id }
    // No pack matches the language: packs for every language precede packs in other languages.
    return try contents.order.first { local in
      try local.language == nil && snapshot.pack(local.pack.id) != nil && snapshot.contains(path, pack: local.pack.id)
    }?.pack.id
  }
}
