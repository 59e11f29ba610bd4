import PackStore
import CPackStore

/// The format of the files that a site has beside those of its store. It is not settled: no other draft of it is read.
package enum SiteFormat {
  /// Version in the low half, draft in the high half.
  package static let current = pks_draft_format()

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
