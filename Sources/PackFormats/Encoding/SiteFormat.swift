import PackStore
import CPackStore

/// The format of a site's own files, in addition to the files of its store. Files of other drafts are refused.
package enum SiteFormat {
  /// The version in the low 16 bits, the draft in the high 16 bits.
  package static let current = pks_draft_format()

  /// The format of a root whose authority has key sets. Readers that know only single root keys report a later version of PackStore.
  package static let keySets: UInt32 = 11 << 16 | 1

  /// The previous draft, whose sites can be converted.
  package static let previous: UInt32 = 9 << 16

  /// Checks that a file has the current format.
  ///
  /// - Throws: `newerFormat`, `otherDraft`.
  package static func check(_ format: UInt32, file: String?) throws {
    guard format != current else { return }
    guard format & 0xffff <= current & 0xffff else {
      throw PackStoreError(.newerFormat, "written by a later version of PackStore", file: file)
    }
    throw PackStoreError(.otherDraft, "written in another draft of the format", file: file)
  }
}
