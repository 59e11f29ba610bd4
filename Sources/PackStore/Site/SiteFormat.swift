import CPackStore

/// The format of the files that a site has beside those of its store: it is the core's, and changes with it.
package enum SiteFormat {
  /// Version in the low half, draft in the high half.
  package static let current = pks_format()

  /// - Throws: `newerFormat`, `otherDraft`.
  package static func check(_ format: UInt32, file: String?) throws {
    guard format != current else { return }
    guard format & 0xffff <= current & 0xffff else {
      throw PackStoreError(.newerFormat, "written by a later version of PackStore", file: file)
    }
    throw PackStoreError(
      .otherDraft, "written in another draft of the format, which this version does not read", file: file)
  }
}
