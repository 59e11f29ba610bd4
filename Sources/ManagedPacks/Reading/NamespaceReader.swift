/// Reads files of the packs that are here.
struct NamespaceReader: Sendable {
  let store: Store
  let packs: LocalPacks

  /// Lends what is at a path: of the pack that is named, else of the one that wins, where packs in the language come before
  /// those in another.
  ///
  /// - Parameter language: nil: packs in languages are as any others.
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

  /// The pack in which to look for a path on behalf of a language; nil: whichever wins.
  private func localizedPack(of path: String, _ language: LanguageTag?, in snapshot: Snapshot) throws -> PackID? {
    let contents = try packs.current()
    guard contents.hasLanguages, let language else { return nil }
    let candidates = try contents.order.filter { local in
      try local.language != nil && snapshot.pack(local.pack.id) != nil && snapshot.contains(path, pack: local.pack.id)
    }
    guard !candidates.isEmpty else { return nil }
    let match = LanguageMatcher(available: candidates.compactMap(\.language)).match(language)
    if let match { return candidates.first { $0.language == match }?.pack.id }
    // None is in the language: what is for every language comes before what is for other people.
    return try contents.order.first { local in
      try local.language == nil && snapshot.pack(local.pack.id) != nil && snapshot.contains(path, pack: local.pack.id)
    }?.pack.id
  }
}
