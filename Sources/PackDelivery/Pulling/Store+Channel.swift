package import PackStore

extension Store {
  /// Whether a pull with these options would follow another channel of the site than the one that packs here came from. Such a
  /// pull names no packs: see ``PullOptions/unnamedPacks``.
  ///
  /// - Throws: `invalidLocation`; what reading the book of trusted places throws.
  package func changesChannel(at site: String, options: PullOptions) async throws -> Bool {
    guard let channel = options.channel else { return false }
    let source = try makeSource(site, options)
    let location = source.location
    await source.close()
    let book = try TrustFile(inStore: path).read()
    // The book has no places of sites that are not signed, but knows which channel is followed there.
    let isUnsigned = options.allowsUnsigned && !book.knows(location)
    guard isUnsigned else { return book.changes(to: channel, at: location) }
    let hasUnsigned = try makeSnapshot().origins.contains { if case .unsigned = $0 { true } else { false } }
    return hasUnsigned && book.channel(at: location) != channel
  }
}
