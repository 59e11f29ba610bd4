import PackStore

/// Where a store keeps each ``RememberedSite``: a file for each place of its ``TrustBook`` in the folder `sites`.
///
/// What is lost is read again from the site, so what cannot be understood counts as not there.
package struct RememberedSites: Sendable {
  private static let folder = "sites"
  private let store: FilePath

  package init(inStore store: FilePath) { self.store = store }

  private static func fileName(of place: TrustBook.PlaceKey) -> String {
    Digest256(hashing: Array("\(place.channel)\0\(place.location)".utf8)).hex
  }

  /// The file of a place, below the store.
  package static func path(of place: TrustBook.PlaceKey) -> String { "\(folder)/\(fileName(of: place))" }

  /// What is remembered of a place.
  ///
  /// - Throws: `wrongKind` when the file is none; `ioError`.
  package func read(_ place: TrustBook.PlaceKey) throws -> RememberedSite? {
    let path = Self.path(of: place)
    do {
      let bytes = try InputFile(path, in: store).contents(limit: RememberedSite.byteCountLimit)
      return try RememberedSite(decoding: bytes, file: store.appending(path).string)
    } catch let error as PackStoreError
      where [.notFound, .corrupt, .newerFormat, .otherDraft].contains(error.code)
    {
      return nil
    }
  }

  /// Remembers a site in place of what was remembered of the place, unless the place was forgotten meanwhile. After a
  /// crash it is the old or the new one.
  ///
  /// - Parameter waits: whether to wait for another process, or to fail with `busy`.
  package func write(_ site: RememberedSite, of place: TrustBook.PlaceKey, waits: Bool) throws {
    try TrustFile(inStore: store).withLock(waits: waits) { book in
      guard book.places[place] != nil else { return }
      try makeFolder(store.appending(Self.folder))
      try replaceFile(Self.path(of: place), in: store, by: site.encode(), draft: "tmp/site")
      try syncFolder(FilePlace(Self.folder, in: store))
      try removeForgotten(of: book)
    }
  }

  /// Removes what is remembered of places that the book does not have. To be called by who holds the book's lock.
  func removeForgotten(of book: TrustBook) throws {
    let kept = Set(book.places.keys.map(Self.fileName))
    for name in try namesInFolder(FilePlace(Self.folder, in: store)) where !kept.contains(name) {
      guard Digest256(hex: name) != nil else { continue }
      try removeFile(FilePlace("\(Self.folder)/\(name)", in: store))
    }
  }
}
