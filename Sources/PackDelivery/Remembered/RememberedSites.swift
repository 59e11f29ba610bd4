import PackStore

/// Stores a store's ``RememberedSite`` values: a file for each place of its ``TrustBook`` in the folder `sites`.
///
/// Lost data is read again from the site, so invalid files count as missing.
package struct RememberedSites: Sendable {
  private static let folder = "sites"
  private let store: FilePath

  package init(inStore store: FilePath) { self.store = store }

  private static func fileName(of place: TrustBook.PlaceKey) -> String {
    Digest256(hashing: Array("\(place.channel)\0\(place.location)".utf8)).hex
  }

  /// The path of a place's file, relative to the store.
  package static func path(of place: TrustBook.PlaceKey) -> String { "\(folder)/\(fileName(of: place))" }

  /// Returns the remembered site of a place.
  ///
  /// - Throws: `wrongKind` if the file is not a regular file; `ioError`.
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

  /// Replaces the remembered site of a place, unless the place was forgotten since. After a crash, the old or the new one remains.
  ///
  /// - Parameter waits: whether to wait for another process, rather than fail with `busy`.
  package func write(_ site: RememberedSite, of place: TrustBook.PlaceKey, waits: Bool) throws {
    try TrustFile(inStore: store).withLock(waits: waits) { book in
      guard book.places[place] != nil else { return }
      try makeFolder(store.appending(Self.folder))
      try replaceFile(Self.path(of: place), in: store, by: site.encode(), draft: "tmp/site")
      try syncFolder(FilePlace(Self.folder, in: store))
      try removeForgotten(of: book)
    }
  }

  /// Deletes the remembered sites of places that the book does not contain. The caller must hold the book's lock.
  func removeForgotten(of book: TrustBook) throws {
    let kept = Set(book.places.keys.map(Self.fileName))
    for name in try namesInFolder(FilePlace(Self.folder, in: store)) where !kept.contains(name) {
      guard Digest256(hex: name) != nil else { continue }
      try removeFile(FilePlace("\(Self.folder)/\(name)", in: store))
    }
  }
}
