public import PackFormats
package import PackStore

extension Site {
  /// Returns the same site, whose changes are recorded with a note: in the private part of the history, which devices cannot read.
  ///
  ///     try await site.noting(ChangeNote(user: "robin", note: "fixes the intro")).refresh(signedBy: key)
  ///
  /// A copy of a served site records no notes, because all of its files are served.
  public func noting(_ note: ChangeNote?) -> Site {
    guard let note, !note.isEmpty else { return self }
    var folder = folder
    folder.changeNote = note
    return Site(store: store, folder: folder)
  }

  /// Returns the channels with a root of the site in a folder, without opening the site's store.
  ///
  /// - Throws: `ioError`.
  package static func channelNames(at path: FilePath) throws -> [SiteChannel] { try SiteFolder(path: path).channels() }

  /// Deletes the private parts of records of the history.
  ///
  /// - Returns: the number of deleted files.
  /// - Throws: `busy`; `ioError`.
  @discardableResult
  package func eraseNotes(of records: Set<Digest256>, waitsForOthers: Bool = true) throws -> Int {
    try folder.withLock(waits: waitsForOthers) { try folder.eraseNotes(of: records) }
  }

  /// Copies the private parts of a site's history to the folder of another publisher's copy, for its owner alone.
  ///
  /// - Returns: their size in bytes.
  /// - Throws: `noSpace`, `ioError`, `corrupt`.
  @discardableResult
  package static func copyNotes(from site: FilePath, to copy: FilePath, isDryRun: Bool = false) throws -> UInt64 {
    try SiteFolder(path: site).copyNotes(to: copy, isDryRun: isDryRun)
  }
}
