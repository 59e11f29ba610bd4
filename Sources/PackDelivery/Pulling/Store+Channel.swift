package import PackStore

extension Store {
  /// Whether a pull with these options would follow another channel than the one that installed packs came from. Such a pull must
  /// not name packs: see ``PullOptions/unnamedPacks``.
  ///
  /// - Throws: `invalidLocation`; the errors of reading the book of trusted places.
  package func changesChannel(at site: String, options: PullOptions) async throws -> Bool {
    guard let channel = options.channel else { return false }
    let source = try makeSource(site, options)
    let former = source.location
    await source.close()
    let book = try TrustFile(inStore: path).read()
    // A pull goes to the place to which the site moved, and records the channel there.
    let location = book.moves[former]?.url ?? former
    // The book has no entries for unsigned sites, but records the channel followed there.
    let isUnsigned = options.allowsUnsigned && !book.knows(location)
    guard isUnsigned else { return book.changes(to: channel, at: location) }
    let hasUnsigned = try makeSnapshot().origins.contains { if case .unsigned = $0 { true } else { false } }
    return hasUnsigned && book.channel(at: location) != channel
  }
}
